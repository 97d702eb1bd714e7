"""The contract of an embedding f(x): from features to one bounded score per label.

An embedding learns on folds, so that every training row is predicted by a model that has not seen
it, and is then finished for the outputs that are needed. :class:`FoldModels` is the usual base: one
model for each fold, averaged at prediction time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed

from splmll.arrays import take_rows
from splmll.constraints import CheckedParameters
from splmll.progress import Progress

Report = Callable[[int, int, Callable[[], Any]], bool]
"""(fold, largest number of epochs, the embedding as it stands) -> True to stop this fold."""


@dataclass(frozen=True)
class FitContext:
    """What a fit receives besides the data.

    Parameters
    ----------
    seed : int, default=0
        Everything random follows from it.
    n_jobs : int or None, default=None
        How many models may be fitted in parallel.
    report : callable or None, default=None
        Called after every epoch of a network; see ``Report``.
    previous : Embedding or None, default=None
        The previously fitted embedding, if a warm start continues it.
    on_progress : callable or None, default=None
        Called with what is being done and the share that is done; see ``splmll.progress``.
    worth : callable or None, default=None
        ``worth(F, Y)`` measures how useful probabilities of held-out rows are; larger is better. An
        embedding uses it to choose its own settings.
    sample_weight : ndarray of shape (n_rows,) or None, default=None
        Weights of the rows, none of them 0; given only to embeddings that use them.
    """

    seed: int = 0
    n_jobs: int | None = None
    report: Report | None = None
    previous: Any = None
    on_progress: Progress | None = None
    worth: Callable[[np.ndarray, np.ndarray], float] | None = None
    sample_weight: np.ndarray | None = None

    def weights_of(self, rows: Any) -> np.ndarray | None:
        """Return the weights of some rows; None where rows have none."""
        return None if self.sample_weight is None else self.sample_weight[rows]

    def tell(self, what: str, share: float) -> None:
        """Say how far the work is, where anyone listens."""
        if self.on_progress is not None:
            self.on_progress(what, share)


class Embedding(CheckedParameters):
    """Base of the embeddings.

    A subclass writes ``fit``, ``finish`` and ``predict``. Its parameters are checked by
    ``_parameter_constraints``, as scikit-learn checks those of its estimators.

    Attributes
    ----------
    out_of_fold_ : ndarray of shape (n_rows, n_outputs)
        Between ``fit`` and ``finish``: the prediction of every training row by a model that has not
        seen it.
    """

    #: Whether every label has a model of its own: then fewer candidates cost less.
    one_per_label: ClassVar[bool] = False

    #: Whether ``fit`` uses weights of rows, ``context.sample_weight``.
    uses_weights: ClassVar[bool] = False

    out_of_fold_: np.ndarray

    def fit(self, X: Any, Y: Any, fold: np.ndarray, context: FitContext | None = None) -> Any:
        """Learn on folds.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_rows, n_features)
            Features.
        Y : ndarray or CSR array of shape (n_rows, n_outputs)
            Labels 0 and 1; NaN where unknown.
        fold : ndarray of int
            Fold number of every row.
        context : FitContext, optional
            Seed, jobs, progress and warm start.

        Returns
        -------
        self : Embedding
        """
        raise NotImplementedError

    def finish(self, X: Any, Y: Any, outputs: np.ndarray) -> None:
        """Prepare to predict these outputs, in this order, and drop what only the fit needed.

        Parameters
        ----------
        X, Y : as for ``fit``
            For embeddings that learn from all rows at the end.
        outputs : ndarray of int
            The labels that are still needed.
        """
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """Return one score per row and output."""
        raise NotImplementedError

    def agreed_seed(self, seed: int) -> int:
        """Return the seed that all processes use that train this embedding together."""
        return seed

    def check(self) -> None:
        """Refuse parameters that cannot be, before a long fit."""
        self._validate_params()

    def check_weights(self) -> None:
        """Refuse weights of rows where they would be without effect."""
        if not self.uses_weights:
            raise ValueError(
                f"The embedding {type(self).__name__} cannot use sample_weight: use another one, "
                "such as Linear or OneVsRest, or leave out the weights."
            )


class FoldModels(Embedding):
    """One model for each fold; new rows get the mean of their predictions.

    A subclass writes ``_fit_one`` and ``_predict_one``.

    Attributes
    ----------
    models_ : list
        The fitted models.
    outputs_ : ndarray of int or None
        The outputs that ``predict`` returns; None for all.
    """

    models_: list[Any]
    outputs_: np.ndarray | None

    def fit(self, X: Any, Y: Any, fold: np.ndarray, context: FitContext | None = None) -> Any:
        """Learn one model for each fold."""
        self.check()
        context = FitContext() if context is None else context
        held = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]
        silent = replace(context, on_progress=None)  # who listens stays in this process
        jobs = Parallel(n_jobs=context.n_jobs, return_as="generator")(
            delayed(_fit_fold)(self, X, Y, np.flatnonzero(fold != k), rows, k, silent)
            for k, rows in enumerate(held)
        )
        fitted = []
        for model in jobs:
            fitted.append(model)
            context.tell(f"{type(self).__name__.lower()}, by folds", len(fitted) / len(held))
        self.models_, self.outputs_ = [model for model, _ in fitted], None
        self.out_of_fold_ = np.empty(Y.shape)
        for rows, (_, predicted) in zip(held, fitted, strict=True):
            self.out_of_fold_[rows] = predicted
        return self

    def finish(self, X: Any, Y: Any, outputs: np.ndarray) -> None:
        """Return only these outputs from now on."""
        self.outputs_ = np.asarray(outputs)
        del self.out_of_fold_

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean of the models' predictions."""
        total = self._predict_one(self.models_[0], X)
        for model in self.models_[1:]:
            total = total + self._predict_one(model, X)
        scores = total / len(self.models_)
        return scores if self.outputs_ is None else scores[:, self.outputs_]

    def _fit_one(
        self, X: Any, Y: Any, rows: np.ndarray, held: np.ndarray, k: int, context: FitContext
    ) -> Any:
        raise NotImplementedError

    def _predict_one(self, model: Any, X: Any) -> np.ndarray:
        raise NotImplementedError


def _fit_fold(
    embedding: FoldModels,
    X: Any,
    Y: Any,
    rows: np.ndarray,
    held: np.ndarray,
    k: int,
    context: FitContext,
) -> tuple[Any, np.ndarray]:
    model = embedding._fit_one(X, Y, rows, held, k, context)
    return model, embedding._predict_one(model, take_rows(X, held))
