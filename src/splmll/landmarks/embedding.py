"""f(x): from features to one score per label.

Every embedding here learns from (X, Y), predicts rows it has not seen for honest errors
(``out_of_fold``), and predicts new rows. The linear ones do so in closed form on sufficient
statistics; networks and other regressors keep one model per fold and average them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from joblib import Parallel, delayed
from scipy import linalg, optimize, sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.multioutput import MultiOutputRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from torch import nn

from splmll.landmarks.moments import Moments
from splmll.landmarks.statistics import (
    Statistics,
    fold_statistics,
    split_unknown,
    sum_of,
)
from splmll.landmarks.wide import (
    Predictor,
    choose_alpha,
    choose_alpha_iteratively,
    choose_solver,
    ridge_of,
)
from splmll.neural import (
    Logistic,
    Rows,
    Standardise,
    Training,
    cross_entropy,
    forward,
    multilayer_perceptron,
    squared_error,
    train,
)

# Ridge tried by alpha="auto", relative to the mean variance of a feature.
ALPHAS = (1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0, 10.0, 30.0)

ALPHA_UNMEASURED = 1e-2  # without rows to try them on

MIN_ROWS_TO_WATCH = 50  # fewer rows are all needed for training

Progress = Callable[[int, int, float, Any], bool]
"""(fold, epoch, loss, module) -> True to stop this fold."""


class Embedding:
    """Base of the embeddings.

    Attributes
    ----------
    out_of_fold : ndarray of shape (n_rows, n_labels) or None
        Predictions of rows by models that did not see them.
    moments : Moments
        Second moments of those predictions (or of the fit, where there are no folds).
    parts : list of Statistics
        Statistics of those predictions and the labels, fold by fold; none without folds.
    """

    out_of_fold: np.ndarray | None = None
    moments: Moments
    parts: Sequence[Statistics] = ()

    def fit(self, X: Any, Y: Any, folds: np.ndarray | None, center: bool) -> Embedding:
        """Learn; each line of ``folds`` holds the fold number of every row. None: no folds."""
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """Return one score per row and label."""
        raise NotImplementedError

    def keep(self, labels: np.ndarray) -> None:
        """Forget all outputs but these labels; ``predict`` then returns them in this order."""
        raise NotImplementedError

    def forget(self) -> None:
        """Forget what only the fit needed, which is larger than the model."""
        self.out_of_fold, self.parts = None, ()

    def measure(self, Y: Any, fold: np.ndarray, center: bool) -> None:
        """Take the statistics and moments of the out-of-fold predictions."""
        assert self.out_of_fold is not None
        self.parts = fold_statistics(self.out_of_fold, Y, fold, center_features=False)
        self.moments = Moments.of(self.out_of_fold, Y, center)


@dataclass
class LinearEmbedding(Embedding):
    """Ridge regression on sufficient statistics, one factorisation for all labels.

    Features are centred and scaled through the statistics, so the data is never copied and sparse
    features stay sparse. The map of a fold comes from the total less the fold.
    """

    alpha: float | str = "auto"
    scale: bool = True

    # The regression of all rows, where the map is only solved for once its labels are known.
    unsolved: Any = None

    def fit(self, X: Any, Y: Any, folds: np.ndarray | None, center: bool) -> LinearEmbedding:
        """Learn in one pass over the rows; of very wide rows, in several."""
        # A closed form does not get better by drawing folds again.
        fold = np.zeros(X.shape[0], dtype=np.intp) if folds is None else folds[0]
        solver = choose_solver(X.shape[0], X.shape[1], int(fold.max()) + 1)
        if solver != "features":
            return self._fit_wide(X, Y, None if folds is None else fold, center, solver)
        self.fit_statistics(fold_statistics(X, Y, fold), center)
        if folds is not None:
            self.predict_folds(X, fold)
        return self

    def _fit_wide(
        self, X: Any, Y: Any, fold: np.ndarray | None, center: bool, solver: str
    ) -> LinearEmbedding:
        """Learn without a matrix of the features; see :mod:`splmll.landmarks.wide`."""
        self.unsolved = ridge_of(X, Y, self.scale, solver)
        self.alpha_ = ALPHA_UNMEASURED if self.alpha == "auto" else float(self.alpha)
        if fold is None:
            self.moments = Moments.of(self.unsolved.predictor(X)(self.alpha_), Y, center)
            return self
        held = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]

        def predictor(rows: np.ndarray) -> Predictor:
            others = np.setdiff1d(np.arange(X.shape[0]), rows)
            return ridge_of(X[others], Y[others], self.scale, solver).predictor(X[rows])

        self.out_of_fold = np.empty(Y.shape)
        if solver == "rows":
            kept = [predictor(rows) for rows in held]
            if self.alpha == "auto":
                self.alpha_ = choose_alpha(Y, held, kept, ALPHAS)
        else:
            if self.alpha == "auto":
                self.alpha_ = choose_alpha_iteratively(X, Y, held, self.scale, ALPHAS)
            kept = []  # each would hold its rows
        for k, rows in enumerate(held):
            predict = kept[k] if kept else predictor(rows)
            self.out_of_fold[rows] = predict(self.alpha_)
        self.measure(Y, fold, center)
        return self

    def predict_folds(self, X: Any, fold: np.ndarray) -> None:
        """Predict every row by the map of its fold, which did not see it."""
        self.out_of_fold = np.empty((X.shape[0], self.map.shape[1]))
        for k, W in enumerate(self.fold_maps):
            rows = fold == k
            self.out_of_fold[rows] = X[rows] @ W[1:] + W[0]

    def fit_statistics(self, folds: Sequence[Statistics], center: bool) -> LinearEmbedding:
        """Learn from the statistics of the folds (one: no out-of-fold predictions)."""
        total = sum_of(folds)
        whole = _Ridge(total, self.scale)
        if any(fold.n_rows == total.n_rows for fold in folds):  # nothing outside a fold
            self.alpha_ = ALPHA_UNMEASURED if self.alpha == "auto" else float(self.alpha)
            self.map = whole.map(self.alpha_)
            self.fold_maps = [self.map for _ in folds]
        else:
            parts = [_Ridge(total - fold, self.scale) for fold in folds]
            self.alpha_, self.fold_maps = self._choose(folds, parts)
            self.map = whole.map(self.alpha_)
        self.parts = [fold.mapped(W) for fold, W in zip(folds, self.fold_maps, strict=True)]
        self.moments = Moments.of_parts(self.parts, center)
        return self

    def _choose(
        self, folds: Sequence[Statistics], parts: Sequence[_Ridge]
    ) -> tuple[float, list[np.ndarray]]:
        """Return the ridge, and the maps of the folds with it.

        What a ridge explains rises to one maximum and falls: from the middle of the list it is
        followed upwards, and downwards if that does not help.
        """

        def tried(alpha: float) -> tuple[float, list[np.ndarray]]:
            maps = [part.map(alpha) for part in parts]
            return explained_after_scaling(folds, maps), maps

        if self.alpha != "auto":
            return float(self.alpha), [part.map(float(self.alpha)) for part in parts]
        middle = len(ALPHAS) // 2
        best, (explained, maps) = ALPHAS[middle], tried(ALPHAS[middle])
        for side in (ALPHAS[middle + 1 :], ALPHAS[middle - 1 :: -1]):
            for alpha in side:
                value, others = tried(alpha)
                if value <= explained:
                    break
                best, explained, maps = alpha, value, others
            if best != ALPHAS[middle]:
                break
        return best, maps

    def predict(self, X: Any) -> np.ndarray:
        """Return X W + w0."""
        if self.unsolved is not None:
            self.keep(np.arange(self.moments.E.size))
        return np.asarray(X @ self.map[1:] + self.map[0])

    def keep(self, labels: np.ndarray) -> None:
        """Keep the columns of these labels."""
        if self.unsolved is None:
            self.map = self.map[:, labels]
        else:
            self.map = self.unsolved.map(self.alpha_, labels)
            self.unsolved = None

    def forget(self) -> None:
        """Forget what only the fit needed."""
        super().forget()
        self.unsolved = None


def explained_after_scaling(folds: Sequence[Statistics], maps: Sequence[np.ndarray]) -> float:
    """Return how much of all labels' variance the maps explain out of fold.

    Recovery rescales every prediction, so what counts is how well it goes with its label, not how
    large it is: the variance explained after the best scaling.

    Parameters
    ----------
    folds : sequence of Statistics
        Statistics of the rows of each fold.
    maps : sequence of ndarray of shape (n_features + 1, n_labels)
        The map applied to the rows of each fold.
    """
    n_rows = sum(fold.n_rows for fold in folds)
    n_labels = folds[0].n_labels
    f_sum, ff_sum, fy_sum, fk_sum, y_sum, known = np.zeros((6, n_labels))
    for fold, W in zip(folds, maps, strict=True):
        W = W.copy()
        W[0] += 0.0 if fold.shift is None else fold.shift @ W[1:]
        f_sum += fold.xx[0] @ W
        ff_sum += np.einsum("ij,ij->j", W, fold.xx @ W)
        fy_sum += np.einsum("ij,ij->j", W, fold.xy)
        fk_sum += np.einsum("ij,ij->j", W, fold.xk)
        y_sum += fold.xy[0]
        known += fold.xk[0]
    known = np.maximum(known, 1)
    variance = ff_sum / n_rows - (f_sum / n_rows) ** 2
    covariance = fy_sum / known - (fk_sum / known) * (y_sum / known)
    return float(np.sum(covariance**2 / np.maximum(variance, 1e-300)))


class _Ridge:
    """Ridge regression on one set of statistics."""

    def __init__(self, statistics: Statistics, scale: bool) -> None:
        self.mean, self.label_mean = statistics.feature_mean, statistics.label_mean
        if scale:
            self.unit = statistics.feature_scale
        else:
            variance = statistics.feature_variance
            self.unit = np.full_like(variance, np.sqrt(variance.mean()) if variance.any() else 1.0)
        self.covariance = statistics.feature_covariance() / np.outer(self.unit, self.unit)
        self.cross = statistics.cross_covariance() / self.unit[:, None]

    def map(self, alpha: float) -> np.ndarray:
        """Return intercept and weights for raw features, one above the other."""
        weights = self._solve(alpha) / self.unit[:, None]
        return np.vstack([self.label_mean - self.mean @ weights, weights])

    def _solve(self, alpha: float) -> np.ndarray:
        left = self.covariance.copy()
        left[np.diag_indices_from(left)] += alpha
        try:
            factor = linalg.cho_factor(left, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # no ridge to speak of, and features that repeat others
            left = self.covariance + alpha * np.eye(len(self.covariance))
            return linalg.lstsq(left, self.cross)[0]
        return linalg.cho_solve(factor, self.cross, check_finite=False)


@dataclass
class KernelEmbedding(Embedding):
    """Kernel ridge regression with an RBF kernel, as a linear map of kernel features.

    The features are those of Nystroem's method. With as many components as rows they reproduce the
    kernel exactly, so this is kernel ridge regression; beyond ``n_components`` rows it is its
    low-rank approximation. The basis is drawn from all rows, labels unseen.
    """

    gamma: float | str = "auto"
    n_components: int = 2000
    alpha: float | str = "auto"
    scale: bool = True
    seed: int = 0

    def fit(self, X: Any, Y: Any, folds: np.ndarray | None, center: bool) -> KernelEmbedding:
        """Learn from features, labels and fold numbers."""
        self.scaler = StandardScaler(with_mean=not sparse.issparse(X)) if self.scale else None
        scaled = X if self.scaler is None else self.scaler.fit_transform(X)
        self.linear = LinearEmbedding(alpha=self.alpha, scale=False)
        self.features = Nystroem(
            kernel="rbf",
            gamma=_width(scaled) if self.gamma == "auto" else float(self.gamma),
            n_components=min(self.n_components, scaled.shape[0]),
            random_state=self.seed,
        )
        Z = self.features.fit_transform(scaled)
        self.linear.fit(Z, Y, folds, center)
        self.out_of_fold, self.moments = self.linear.out_of_fold, self.linear.moments
        self.parts = self.linear.parts
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return one score per row and label."""
        if self.scaler is not None:
            if self.scaler.with_mean and sparse.issparse(X):
                X = X.toarray()  # a model of dense rows centres them
            X = self.scaler.transform(X)
        return self.linear.predict(self.features.transform(X))

    def keep(self, labels: np.ndarray) -> None:
        """Keep the columns of these labels."""
        self.linear.keep(labels)

    def forget(self) -> None:
        """Forget what only the fit needed."""
        super().forget()
        self.linear.forget()


def _width(X: Any) -> float:
    """One over the mean squared distance of two rows."""
    if sparse.issparse(X):
        square = float(X.multiply(X).sum(axis=1).mean())
        centre = np.asarray(X.mean(axis=0)).ravel()
    else:
        square = float(np.mean(np.einsum("ij,ij->i", X, X)))
        centre = X.mean(axis=0)
    distance = 2 * (square - float(centre @ centre))
    return 1.0 / distance if distance > 0 else 1.0


@dataclass
class FoldEmbedding(Embedding):
    """Models that are fitted once per fold and averaged: networks and other regressors.

    A subclass writes ``_fit_one`` and ``_predict_one``. Where folds were drawn more than once and
    the models are random enough to gain by it, every draw is used and all models are averaged.
    Without folds one model is fitted on all rows.
    """

    uses_repeats: ClassVar[bool] = False

    n_jobs: int | None = None
    models: list[Any] = field(default_factory=list)
    previous: list[Any] = field(default_factory=list)  # where a warm start begins
    columns: np.ndarray | None = None
    n_draws: int = 1  # how often the folds were drawn
    n_folds: int = 1  # models of one draw

    def fit(self, X: Any, Y: Any, folds: np.ndarray | None, center: bool) -> FoldEmbedding:
        """Learn one model per fold."""
        if folds is None:
            self.models = [self._fit_one(X, Y, np.arange(Y.shape[0]), None, 0)]
            self.moments = Moments.of(self.predict(X), Y, center)
            return self
        repeats = folds if self.uses_repeats else folds[:1]
        self.n_draws, self.n_folds = len(repeats), int(folds[0].max()) + 1
        held = [np.flatnonzero(fold == k) for fold in repeats for k in range(int(fold.max()) + 1)]
        every = np.arange(Y.shape[0])
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_fold)(self, X, Y, np.setdiff1d(every, rows), rows, k)
            for k, rows in enumerate(held)
        )
        self.models = [model for model, _ in fitted]
        self.previous = []
        self.out_of_fold = np.zeros(Y.shape)
        for rows, (_, predicted) in zip(held, fitted, strict=True):
            self.out_of_fold[rows] += predicted / len(repeats)
        self.measure(Y, folds[0], center)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean of the models' scores."""
        total = self._predict_one(self.models[0], X)
        for model in self.models[1:]:
            total = total + self._predict_one(model, X)
        scores = total / len(self.models)
        return scores if self.columns is None else scores[:, self.columns]

    def keep(self, labels: np.ndarray) -> None:
        """Return only these labels from now on."""
        self.columns = np.asarray(labels)

    def _fit_one(self, X: Any, Y: Any, rows: np.ndarray, held: np.ndarray | None, k: int) -> Any:
        raise NotImplementedError

    def _predict_one(self, model: Any, X: Any) -> np.ndarray:
        raise NotImplementedError


def _fit_fold(
    embedding: FoldEmbedding, X: Any, Y: Any, rows: np.ndarray, held: np.ndarray, k: int
) -> tuple[Any, np.ndarray]:
    model = embedding._fit_one(X, Y, rows, held, k)
    return model, embedding._predict_one(model, take_rows(X, held))


def take_rows(X: Any, index: np.ndarray) -> Any:
    """Return some rows of an array, a CSR array or a torch Dataset."""
    if isinstance(X, torch.utils.data.Dataset):
        return torch.utils.data.Subset(X, index.tolist())
    return X[index]


@dataclass
class NetworkEmbedding(FoldEmbedding):
    """A neural network.

    ``loss`` says what it is trained by: "squared" is the error of the paper's first term;
    "cross-entropy", with logistic outputs, ranks rare labels far better. With "turns" networks of
    the first draw of the folds are of the second kind and those of further draws of the first:
    they err differently, and their average is better than either. With "once" they are of the
    second kind where folds are drawn once, else of the first; that is what mixes best with trees
    and kernels.

    ``module`` may be any ``torch.nn.Module`` from the input to one output per label; by default it
    is the paper's network, fully connected with leaky ReLU. The rows of a fold stop the training of
    that fold's network, and the networks of all folds are averaged.
    """

    uses_repeats: ClassVar[bool] = True

    module: nn.Module | None = None
    hidden: tuple[int, ...] = (512, 64)
    dropout: float = 0.5
    scale: bool = True
    loss: str = "squared"
    training: Training = field(default_factory=Training)
    seed: int = 0
    device: str = "cpu"
    progress: Progress | None = None

    def _fit_one(
        self, X: Any, Y: Any, rows: np.ndarray, held: np.ndarray | None, k: int
    ) -> nn.Module:
        targets = Y.toarray() if sparse.issparse(Y) else Y
        logistic = (
            self.loss == "cross-entropy"
            or (self.loss == "turns" and k < self.n_folds)
            or (self.loss == "once" and self.n_draws == 1)
        )
        on_epoch = None
        holder: dict[str, nn.Module] = {}

        if held is None and len(rows) >= MIN_ROWS_TO_WATCH:
            # Without folds a tenth of the rows decides when to stop, as in the paper's protocol.
            shuffled = np.random.default_rng(self.seed).permutation(rows)
            held, rows = np.split(shuffled, [len(rows) // 10])

        def build() -> nn.Module:
            if k < len(self.previous):
                module = copy.deepcopy(self.previous[k])
                module = module.logits if isinstance(module, Logistic) else module
            else:
                module = self.build(X, rows, targets.shape[1])
            holder["module"] = Logistic(module) if logistic else module
            return module

        if self.progress is not None:
            progress = self.progress

            def on_epoch(epoch: int, loss: float) -> bool:
                return progress(k, epoch, loss, holder["module"])

        module, _ = train(
            build,
            X,
            targets,
            loss=cross_entropy if logistic else squared_error,
            training=self.training,
            seed=self.seed + k,
            device=torch.device(self.device),
            rows=rows,
            validation=held,
            on_epoch=on_epoch,
        )
        return Logistic(module) if logistic else module

    def __getstate__(self) -> dict[str, Any]:
        # Who is told of progress belongs to one fit; it cannot be pickled.
        return {**vars(self), "progress": None}

    def build(self, X: Any, rows: np.ndarray, n_labels: int) -> nn.Module:
        """Return a fresh network for these features."""
        if self.module is not None:
            module = copy.deepcopy(self.module)
            shape = forward(module, X, torch.as_tensor(rows[:1])).shape
            if shape != (1, n_labels):
                raise ValueError(
                    f"The torch module gives outputs of shape {tuple(shape)} for one row, but "
                    f"there are {n_labels} labels: let its last layer have {n_labels} outputs."
                )
            return module
        body = multilayer_perceptron(X.shape[1], self.hidden, n_labels, dropout=self.dropout)
        if not self.scale:
            return body
        scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X[rows])
        mean = np.zeros(X.shape[1]) if scaler.mean_ is None else scaler.mean_
        return nn.Sequential(Standardise(mean, scaler.scale_), body)

    def _predict_one(self, model: Any, X: Any) -> np.ndarray:
        return forward(model, Rows(X, torch.device(self.device))).cpu().numpy().astype(np.float64)


@dataclass
class RegressorEmbedding(FoldEmbedding):
    """Any regressor with scikit-learn's API; one that takes a single target is fitted per label."""

    regressor: Any = None
    seed: int = 0

    def _fit_one(self, X: Any, Y: Any, rows: np.ndarray, held: np.ndarray | None, k: int) -> Any:
        model = clone(self.regressor)
        seeds = {
            name: self.seed + k
            for name in model.get_params()
            if name == "random_state" or name.endswith("__random_state")
        }
        model.set_params(**{n: s for n, s in seeds.items() if model.get_params()[n] is None})
        targets = Y[rows]
        targets = targets.toarray() if sparse.issparse(targets) else targets
        targets, known = split_unknown(targets)
        if known is not None:
            # A regressor cannot skip cells: the label's mean says nothing either way.
            mean = targets.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            targets = np.where(known > 0, targets, mean)
        if targets.shape[1] == 1:
            return model.fit(X[rows], targets[:, 0])
        if not get_tags(model).target_tags.multi_output:
            model = MultiOutputRegressor(model)
        return model.fit(X[rows], targets)

    def _predict_one(self, model: Any, X: Any) -> np.ndarray:
        predicted = np.asarray(model.predict(X), dtype=np.float64)
        return predicted.reshape(X.shape[0], -1)


@dataclass
class BlendEmbedding(Embedding):
    """Several embeddings, mixed per label with weights learned on their out-of-fold predictions.

    The weights of a label are those that minimise its out-of-fold squared error, none negative,
    scaled to sum to one. A pull towards the plain mean is worth ``shrinkage`` of the label's
    variance: different families err differently, and a rare label has too few rows to tell which
    is better.
    """

    members: list[Embedding] = field(default_factory=list)
    shrinkage: float = 0.1

    def fit(self, X: Any, Y: Any, folds: np.ndarray | None, center: bool) -> BlendEmbedding:
        """Learn every member on the same folds, then the weights."""
        if folds is None:
            raise ValueError("A blend learns its weights out of fold: give cv at least 2 folds.")
        for member in self.members:
            member.fit(X, Y, folds, center)
        predictions = np.stack([_out_of_fold(member) for member in self.members])
        labels, known = split_unknown(Y.toarray() if sparse.issparse(Y) else Y)
        self.weights = np.column_stack(
            [
                _mixing_weights(
                    predictions[:, :, j] if known is None else predictions[:, known[:, j] > 0, j],
                    labels[:, j] if known is None else labels[known[:, j] > 0, j],
                    self.shrinkage,
                )
                for j in range(labels.shape[1])
            ]
        )
        self.out_of_fold = np.einsum("mj,mij->ij", self.weights, predictions)
        self.measure(Y, folds[0], center)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the weighted mean of the members' scores."""
        parts = [w * m.predict(X) for w, m in zip(self.weights, self.members, strict=True)]
        return np.sum(parts, axis=0)

    def keep(self, labels: np.ndarray) -> None:
        """Keep these labels in every member."""
        for member in self.members:
            member.keep(labels)
        self.weights = self.weights[:, labels]

    def forget(self) -> None:
        """Forget what only the fit needed."""
        super().forget()
        for member in self.members:
            member.forget()


def _out_of_fold(member: Embedding) -> np.ndarray:
    assert member.out_of_fold is not None
    return member.out_of_fold


def _mixing_weights(predictions: np.ndarray, label: np.ndarray, shrinkage: float) -> np.ndarray:
    """Minimise |label - w'predictions|^2 / n + s |w - 1/M|^2 over w >= 0, then normalise."""
    M, n = predictions.shape
    uniform = np.full(M, 1 / M)
    if n == 0 or label.min() == label.max():
        return uniform
    centre = label.mean()
    pull = np.sqrt(shrinkage * label.var() * n)
    rows = np.vstack([(predictions - centre).T, pull * np.eye(M)])
    target = np.concatenate([label - centre, pull * uniform])
    # A normal-equations form would be shorter; nnls wants the factor, which is M x M.
    factor = linalg.qr(rows, mode="economic")
    weights, _ = optimize.nnls(factor[1], factor[0].T @ target)
    return weights / weights.sum() if weights.sum() > 0 else uniform


def default_blend(
    network: NetworkEmbedding, kernel: KernelEmbedding, *, seed: int, n_jobs: int | None
) -> BlendEmbedding:
    """Return network, kernel ridge regression and extremely randomised trees."""
    trees = RegressorEmbedding(
        regressor=ExtraTreesRegressor(
            n_estimators=300, min_samples_leaf=2, max_features="sqrt", n_jobs=n_jobs
        ),
        seed=seed,
    )
    return BlendEmbedding(members=[network, kernel, trees])
