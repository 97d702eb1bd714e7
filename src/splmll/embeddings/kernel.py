"""Kernel ridge regression with an RBF kernel, as a linear map of kernel features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import Nystroem

from splmll.constraints import COUNT, POSITIVE, Choice
from splmll.docstrings import with_paragraphs
from splmll.embeddings.base import Embedding, FitContext
from splmll.embeddings.linear import Linear
from splmll.feature_scaling import SCALE_CONSTRAINT, fitted_scaler, scaled


@with_paragraphs
class Kernel(Embedding):
    """RBF kernel ridge regression of all labels.

    The kernel features come from the Nystroem method. With as many components as rows they
    reproduce the kernel exactly; with fewer, they are a low-rank approximation. The basis is drawn
    from all rows, without looking at labels.

    Parameters
    ----------
    ridge : float or "auto", default="auto"
        Relative to the mean variance of a kernel feature; "auto" chooses the best out of fold.
    gamma : float or "auto", default="auto"
        RBF width; "auto" is one over the mean squared distance of two rows.
    n_components : int, default=2000
        Maximum number of kernel features.
    {scale}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings import Kernel
    >>> X = np.random.default_rng(0).normal(size=(90, 3))
    >>> Y = (X[:, :1] ** 2 > 0.5) * 1.0
    >>> f = Kernel().fit(X, Y, fold=np.arange(90) % 3)
    >>> bool(np.mean((f.out_of_fold_ > 0.5) == Y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "ridge": [POSITIVE, Choice("auto")],
        "gamma": [POSITIVE, Choice("auto")],
        "n_components": [COUNT],
        "scale": SCALE_CONSTRAINT,
    }

    uses_weights: ClassVar[bool] = True

    def __init__(
        self,
        ridge: float | str = "auto",
        gamma: float | str = "auto",
        n_components: int = 2000,
        scale: str | None = "auto",
    ) -> None:
        self.ridge = ridge
        self.gamma = gamma
        self.n_components = n_components
        self.scale = scale

    def fit(self, X: Any, Y: Any, fold: np.ndarray, context: FitContext | None = None) -> Kernel:
        """Learn from features, labels and fold numbers."""
        self.check()
        context = FitContext() if context is None else context
        weights = context.sample_weight
        self.scaler_ = fitted_scaler(X, self.scale, weights)
        rows = scaled(X, self.scaler_)
        self.features_ = Nystroem(
            kernel="rbf",
            gamma=_width(rows, weights) if self.gamma == "auto" else float(self.gamma),
            n_components=min(self.n_components, rows.shape[0]),
            random_state=context.seed,
        )
        Z = self.features_.fit_transform(rows)
        self.linear_ = Linear(ridge=self.ridge, scale=None).fit(Z, Y, fold, context)
        self.out_of_fold_ = self.linear_.out_of_fold_
        return self

    def finish(self, X: Any, Y: Any, outputs: np.ndarray) -> None:
        """Keep the columns of these outputs."""
        self.linear_.finish(X, Y, outputs)
        del self.out_of_fold_

    def predict(self, X: Any) -> np.ndarray:
        """Return one score per row and output."""
        return self.linear_.predict(self.features_.transform(scaled(X, self.scaler_)))


def _width(X: Any, weights: np.ndarray | None = None) -> float:
    """One over the mean squared distance of two rows."""
    if weights is not None:
        share = weights / weights.sum()
        squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
        square = float(share @ np.asarray(squares).ravel())
        centre = np.asarray(share @ X).ravel()
    elif sparse.issparse(X):
        square = float(X.multiply(X).sum(axis=1).mean())
        centre = np.asarray(X.mean(axis=0)).ravel()
    else:
        square = float(np.mean(np.einsum("ij,ij->i", X, X)))
        centre = X.mean(axis=0)
    distance = 2 * (square - float(centre @ centre))
    return 1.0 / distance if distance > 0 else 1.0
