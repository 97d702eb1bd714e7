"""Progress and monitoring of long fits through scikit-learn's callback API.

scikit-learn 1.9 lets users attach callbacks such as ``ProgressBar`` and ``ScoringMonitor`` to an
estimator with ``set_callbacks``. With an older scikit-learn estimators simply have no such method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def _with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


def with_callbacks(method: Method) -> Method:
    """Return a method of fitting that runs callbacks, where scikit-learn has them.

    Parameters
    ----------
    method : callable
        ``fit`` or the like.

    Returns
    -------
    method : callable
        The same signature.
    """
    return cast(Method, _with_callbacks(method))


class FitProgress:
    """Reports the folds and epochs of one fit to the callbacks of an estimator.

    Parameters
    ----------
    estimator : estimator
        The estimator being fitted.
    X, Y : array-like
        What it is fitted on.
    """

    def __init__(self, estimator: Any, X: Any, Y: Any) -> None:
        self.estimator, self.X, self.Y = estimator, X, Y
        self.active = bool(getattr(estimator, "_skl_callbacks", None))
        self.root: Any = None
        self.fold: Any = None
        self.fold_number = -1

    def __enter__(self) -> FitProgress:
        if hasattr(self.estimator, "_init_callback_context"):
            self.root = self.estimator._init_callback_context(max_subtasks=None)
            self._begin(self.root)
        return self

    def __exit__(self, error: Any, *details: Any) -> None:
        if self.root is not None and error is None:
            self._close_fold()
            self._end(self.root, dict(vars(self.estimator)))

    def epoch(self, fold: int, epochs: int, attributes: Callable[[], dict[str, Any]]) -> bool:
        """Report the end of one epoch; True asks for training to stop."""
        if self.root is None:
            return False
        if fold != self.fold_number:
            self._close_fold()
            self.fold_number = fold
            self.fold = self.root.subcontext(task_name=f"fold {fold}", max_subtasks=epochs)
            self._begin(self.fold)
        step = self.fold.subcontext(task_name="epoch")
        self._begin(step)
        return self._end(step, attributes)

    def _close_fold(self) -> None:
        if self.fold is not None:
            self._end(self.fold, None)
            self.fold = None

    def _begin(self, context: Any) -> None:
        context.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.Y)

    def _end(self, context: Any, attributes: Any) -> bool:
        return bool(
            context.call_on_fit_task_end(
                estimator=self.estimator,
                X=self.X,
                y=self.Y,
                reconstruction_attributes=attributes,
            )
        )
