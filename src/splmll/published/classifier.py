"""PublishedSPLMLL, the paper's system as an estimator: its objective, its algorithm, its settings.

The same objective can also be solved exactly, and the authors' released variant has its own name.
:class:`splmll.SPLMLL` is what the library recommends instead, and says why.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
from scipy import sparse
from scipy.special import expit, logit
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from torch import Tensor, nn

from splmll.base import Capabilities, MultilabelClassifier
from splmll.callbacks import CallbackSupportMixin, FitProgress, with_callbacks
from splmll.constraints import (
    COUNT,
    FINITE,
    LAYER_SIZES,
    NOT_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    SHARE_BELOW_ONE,
    Choice,
    Range,
)
from splmll.docstrings import with_paragraphs
from splmll.neural import Logistic, Standardise, forward, multilayer_perceptron
from splmll.published.algorithm1 import (
    EMBEDDING_ONLY,
    JOINT,
    SEPARATED,
    SIMULTANEOUS,
    Alternation,
    Steps,
    algorithm1,
)
from splmll.published.exact import Solution
from splmll.published.objective import Penalties
from splmll.published.selection import select_hard, select_soft
from splmll.thresholds import GlobalThreshold

MIN_ROWS_TO_HOLD_OUT = 50  # fewer rows are all needed for training
N_FOLDS = 5  # errors of the linear map in the exact solver are measured out of so many folds
RIDGES = (1e-3, 1e-2, 1e-1, 1.0)  # tried for it, per row and standardised feature
NETWORK_RATE, LINEAR_RATE = 3e-4, 1e-3  # chosen on validation rows, see the class
NEGLIGIBLE = 1e-6  # a row of B below this share of the largest is no landmark


@with_paragraphs
class PublishedSPLMLL(CallbackSupportMixin, MultilabelClassifier):
    """The system of the SPL-MLL paper, as published.

    Labels that are easy to predict and say a lot about the others are *landmarks*. The published
    objective chooses them, predicts them and recovers all labels from them [1]_::

        ||(f(X) - Y) B||^2        landmarks must be predictable
        + ||Y - Y B A||^2         landmarks must be representative
        + lambda1 ||B - I||^2     a landmark keeps its own label
        + lambda2 ||B||_{2,1}     few landmarks
        + rho ||A||^2             zero in the paper

    f is a network from features to one score per label, B = diag(b) is the *selection* and A the
    *recovery*. The score of a new row is f(x) B A. The norms are sums over the rows of a batch.

    **The steps of Algorithm 1.** Every batch of 64 rows makes three steps. f takes one step of Adam
    on the first term. B moves down its gradient and is set to zero off the diagonal. A moves down
    its gradient. The step of B, and of A, is one over an upper bound of the curvature of the
    objective on that batch (Frobenius norms of the matrices in it), so that it needs no tuning and
    never overshoots. B starts at I and A at random numbers between 0 and 1. A linear map starts at
    the means of the labels, a network at random weights.

    **When it stops.** A tenth of the training rows is held out, as in the paper. Training stops
    when the squared error of f(x) B A on these rows has not fallen for ``patience`` epochs, and
    f, B and A of the best epoch are kept.

    **Details that the paper leaves open** were chosen once for all data sets, on validation rows:
    three folds of the training rows of emotions, scene and yeast, up to six seeds, judged by the
    mean of average precision, micro-F1 and one minus the ranking loss. A network with a sigmoid and
    a threshold of 0.4 reaches .790; with a threshold of 0.5 .782; without the sigmoid .783 at best.
    Steps of 3e-4, 1e-3 and 3e-3 reach .790, .788 and .785 with the network and .762, .776 and .775
    with the linear map (.772 at best without the sigmoid). A patience of 5, 10 or 20 epochs, and
    normal instead of uniform numbers for A, make no difference above .001. Features are
    standardised.

    **What to expect.** Without a ridge, A = B^-1 recovers every label whatever b is, so B A tends
    to I and the score to f(x), and no label is ever dropped. Read ``landmark_strengths_`` as the
    paper reads its Figure 3, as large or small. ``solver="exact"`` with ``rho`` above 0 drops
    labels, but the first term depends only on B and the score on B A: a label that is hard to
    predict gets a small b and a large row of A. With ``selection="soft"``, predictability therefore
    hardly affects the choice; with ``selection="hard"`` it does.

    Parameters
    ----------
    linear : bool, default=False
        The paper's "Ours (linear)": a linear map in place of the network.
    solver : {"algorithm1", "simultaneous", "exact"}, default="algorithm1"
        The paper's alternating steps; one step of Adam on f, B and A at once, as in the released
        code; or f first and then the exact minimum over B and A. The last measures the errors of f
        on rows it has not seen: the linear map is ridge regression, measured out of fold with five
        folds, and the network is measured on the held-out tenth.
    selection : {"soft", "full", "hard", "all"}, default="soft"
        The form of B. "soft" is diagonal with real weights, as in the paper's experiments; "full"
        is a full matrix, as its soft constraint allows (not with ``solver="exact"``); "hard" has
        only 0 and 1 on the diagonal, as the paper first demands (only with ``solver="exact"``).
        "all" has B = A = I: every label is predicted on its own, the paper's "NN-embeddings".
    lambda1, lambda2 : float, default=0.1
        Weights of the penalties on B.
    rho : float, default=0.0
        Ridge on A. The exact solver drops labels only if it is above 0.
    n_landmarks : int or None, default=None
        Number of landmarks. Gradient steps run to the end, the labels with the largest weights are
        kept, and training continues with those alone. The exact solver finds the best set of that
        size. None: no limit.
    joint : bool, default=True
        False selects landmarks from the labels alone and predicts them afterwards, the paper's
        "NN + separated". Gradient steps then take half of the epochs for each.
    hidden_layer_sizes : tuple of int, default=(512, 64)
        Layers of the network, with leaky ReLU.
    dropout : float, default=0.0
        Share of hidden units dropped in training; the paper names none.
    output : {"sigmoid", "identity"}, default="sigmoid"
        Output function of the network.
    threshold : float, default=0.4
        Score from which a label is predicted.
    batch_size : int or None, default=64
        Rows per step. None uses all rows at once, ten times per epoch. The exact solver uses the
        sums over the rows of an average batch, so that penalties have the same weight.
    learning_rate : float or None, default=None
        Step size of Adam. None: 3e-4 for the network and 1e-3 for the linear map.
    {max_epochs}
    patience : int, default=10
        {patience}
    validation_fraction : float or None, default=0.1
        Share of the rows that is held out. None, or fewer than 50 rows, trains on all rows for
        ``max_epochs``.
    {random_state}
    {device}

    Attributes
    ----------
    landmarks_ : ndarray
        Names of the landmarks (numbers if labels have no names), largest weight first.
    landmark_columns_ : ndarray of int
        Their columns among all labels.
    selection_ : ndarray of shape (n_labels,)
        b; with ``selection="full"`` all of B, of shape (n_labels, n_labels).
    recovery_ : ndarray of shape (n_landmarks, n_labels)
        The rows of A that belong to the landmarks, in the order of ``landmarks_``; with
        ``selection="full"`` all of A.
    landmark_weights_ : ndarray of shape (n_landmarks, n_labels)
        The landmarks' rows of B A: the weight of each landmark in the score of each label.
    landmark_strengths_ : ndarray of shape (n_landmarks,)
        b of each landmark; with ``selection="full"`` the norm of its row of B.
    predictability_ : ndarray of shape (n_labels,)
        Share of each label's variance that f predicts, on unseen rows if there are any. Negative:
        worse than the label's mean. NaN: not measured.
    objective_ : DataFrame
        Every term of the objective, for an average batch, after every epoch or exact block; for
        gradient steps also ``validation_loss``, the error on the held-out rows.
    intercept_ : ndarray of shape (n_labels,)
        What is added to f(x) B A: zero unless a label is constant.
    n_iter_ : int
        Epochs, or rounds of the exact solver.
    embedding_ : torch.nn.Module
        f.
    {names_}

    References
    ----------
    {paper}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.published import PublishedSPLMLL
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = (X @ rng.normal(size=(5, 3)) > 0).astype(int)
    >>> model = PublishedSPLMLL(random_state=0).fit(X, Y)
    >>> float((model.predict(X) == Y).mean()) > 0.8
    True
    >>> exact = PublishedSPLMLL(
    ...     linear=True, solver="exact", selection="hard", rho=1.0, n_landmarks=2
    ... )
    >>> len(exact.fit(X, Y).landmarks_)
    2
    """

    capabilities = Capabilities(unknown_labels=True, cost="epochs N; linear and exact: N D^2 + C^3")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "linear": ["boolean"],
        "solver": [Choice("algorithm1", "simultaneous", "exact")],
        "selection": [Choice("soft", "full", "hard", "all")],
        "lambda1": [NOT_NEGATIVE],
        "lambda2": [NOT_NEGATIVE],
        "rho": [NOT_NEGATIVE],
        "n_landmarks": [COUNT, None],
        "joint": ["boolean"],
        "hidden_layer_sizes": [LAYER_SIZES],
        "dropout": [SHARE_BELOW_ONE],
        "output": [Choice("sigmoid", "identity")],
        "threshold": [FINITE],
        "batch_size": [COUNT, None],
        "learning_rate": [POSITIVE, None],
        "max_epochs": [COUNT],
        "patience": [COUNT],
        "validation_fraction": [Range(Real, 0, 1, closed="neither"), None],
        "random_state": RANDOM_STATE,
        "device": [str],
    }

    # (what holds, its name in a message, parameters that then do nothing and must be left alone)
    _idle: ClassVar[list[tuple[Callable[[Any], bool], str, tuple[str, ...]]]] = [
        (
            lambda model: model.linear,
            "linear=True, which has no network",
            ("hidden_layer_sizes", "dropout"),
        ),
        (
            lambda model: model.linear and model.solver == "exact",
            'linear=True and solver="exact", a closed form on folds',
            ("output", "learning_rate", "max_epochs", "patience", "validation_fraction", "device"),
        ),
        (
            lambda model: model.selection == "all",
            'selection="all", which selects nothing',
            ("lambda1", "lambda2", "rho", "n_landmarks", "joint", "solver"),
        ),
        (
            lambda model: model.validation_fraction is None,
            "validation_fraction=None, which runs all epochs",
            ("patience",),
        ),
        (
            lambda model: model.solver == "simultaneous",
            'solver="simultaneous", which has no two steps',
            ("joint",),
        ),
    ]

    def __init__(
        self,
        *,
        linear: bool = False,
        solver: str = "algorithm1",
        selection: str = "soft",
        lambda1: float = 0.1,
        lambda2: float = 0.1,
        rho: float = 0.0,
        n_landmarks: int | None = None,
        joint: bool = True,
        hidden_layer_sizes: tuple[int, ...] = (512, 64),
        dropout: float = 0.0,
        output: str = "sigmoid",
        threshold: float = 0.4,
        batch_size: int | None = 64,
        learning_rate: float | None = None,
        max_epochs: int = 200,
        patience: int = 10,
        validation_fraction: float | None = 0.1,
        random_state: Any = None,
        device: str = "auto",
    ) -> None:
        self.linear = linear
        self.solver = solver
        self.selection = selection
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.rho = rho
        self.n_landmarks = n_landmarks
        self.joint = joint
        self.hidden_layer_sizes = hidden_layer_sizes
        self.dropout = dropout
        self.output = output
        self.threshold = threshold
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device

    @classmethod
    def as_released(cls, **changes: Any) -> PublishedSPLMLL:
        """Return the variant that the authors released as code.

        It differs from the paper: hidden layers of 128 and 64 units, dropout of 0.5, a sigmoid,
        one step of Adam at 1e-4 on f, B and A at once, all rows in every step, up to 12000 epochs
        of ten steps, B a full matrix, a threshold of 0.4. The authors chose the epoch on
        training rows; here the held-out tenth chooses it and ends the training.

        Parameters
        ----------
        **changes : dict
            Parameters to change.

        Returns
        -------
        estimator : PublishedSPLMLL

        Examples
        --------
        >>> from splmll.published import PublishedSPLMLL
        >>> PublishedSPLMLL.as_released().solver
        'simultaneous'
        """
        settings: dict[str, Any] = {
            "solver": "simultaneous",
            "selection": "full",
            "hidden_layer_sizes": (128, 64),
            "dropout": 0.5,
            "output": "sigmoid",
            "threshold": 0.4,
            "batch_size": None,
            "learning_rate": 1e-4,
            "max_epochs": 12_000,
            "patience": 100,
        }
        return cls(**{**settings, **changes})

    @with_callbacks
    def fit(self, X: Any, Y: Any) -> PublishedSPLMLL:
        """Select the landmarks and learn to predict them and to recover all labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features. They are standardised.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels; NaN means not known.

        Returns
        -------
        self : PublishedSPLMLL
        """
        self._validate_params()
        self._check_combination()
        X, Y = self._check_fit(X, Y)
        if self.n_landmarks is not None and self.n_landmarks > Y.shape[1]:
            raise ValueError(
                f"n_landmarks={self.n_landmarks}, but there are only {Y.shape[1]} labels: give a "
                f"number from 1 to {Y.shape[1]}, or None."
            )
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self._set_threshold(GlobalThreshold(float(self.threshold)))
        with FitProgress(self, X, Y) as progress:
            in_folds = self.linear and self.solver == "exact"  # every row is seen and unseen
            rows = _Rows.split(Y, None if in_folds else self.validation_fraction, seed)
            solve = self._solve_exactly if self.solver == "exact" else self._descend
            self._keep(solve(X, Y, rows, seed, progress), rows)
        return self

    # Learning --------------------------------------------------------------------------------

    def _descend(
        self, X: Any, Y: np.ndarray, rows: _Rows, seed: int, progress: FitProgress
    ) -> _Learned:
        """Algorithm 1; with a budget once more, on the labels that were largest."""
        if self.selection == "all":
            order = EMBEDDING_ONLY
        elif self.solver == "simultaneous":
            order = SIMULTANEOUS
        else:
            order = JOINT if self.joint else SEPARATED
        state = self._run(X, Y, rows, seed, progress, order=order, support=rows.varying)
        history = state.history
        if self.n_landmarks is not None:
            strength = np.linalg.norm(state.selection, axis=1) * rows.varying
            support = np.zeros(len(strength), dtype=bool)
            support[np.argsort(-strength, kind="stable")[: self.n_landmarks]] = True
            state = self._run(
                X,
                Y,
                rows,
                seed,
                progress,
                order=order,
                support=support & rows.varying,
                start=state,
            )
            history = history + state.history[1:]
        F = _predict(state.module, X, rows.unseen)
        return _Learned(
            state.module,
            state.selection,
            state.recovery,
            mean_errors(F, Y[rows.unseen]),
            history,
            n_iter=len(history) - 1,
        )

    def _run(
        self,
        X: Any,
        Y: np.ndarray,
        rows: _Rows,
        seed: int,
        progress: FitProgress,
        *,
        order: str,
        support: np.ndarray,
        start: Alternation | None = None,
    ) -> Alternation:
        # What is constant need not be learned; it is predicted as what it was.
        labels = np.where(rows.varying, Y, np.nan)
        rate = self.learning_rate or (LINEAR_RATE if self.linear else NETWORK_RATE)
        return algorithm1(
            lambda: self._build(X, rows),
            X,
            labels,
            self._penalties(),
            steps=Steps(rate, self.batch_size, self.max_epochs, self.patience),
            seed=seed,
            device=torch.device(self._device()),
            rows=rows.trained,
            held_out=rows.held_out,
            order=order,
            full_selection=self.selection == "full",
            support=support,
            start=start,
            on_epoch=self._report(progress, rows, int(start is not None)),
        )

    def _solve_exactly(
        self, X: Any, Y: np.ndarray, rows: _Rows, seed: int, progress: FitProgress
    ) -> _Learned:
        """First f, then the exact minimum over B and A for its errors."""
        if self.linear:
            f, errors = fit_ridge(X, Y, seed)
        else:
            every = np.ones(Y.shape[1], dtype=bool)
            f = self._run(X, Y, rows, seed, progress, order=EMBEDDING_ONLY, support=every).module
            errors = mean_errors(_predict(f, X, rows.unseen), Y[rows.unseen])
        n_labels = Y.shape[1]
        if not rows.varying.any():
            solution = Solution(
                np.zeros(n_labels), np.zeros((n_labels, n_labels)), [{"objective": 0.0}]
            )
        else:
            # Sums over the rows of an average batch: the penalties weigh what they weigh there.
            unit = min(self.batch_size or len(Y), len(Y))
            E = np.where(np.isfinite(errors), errors, rows.variance)
            budget = self.n_landmarks and min(self.n_landmarks, int(rows.varying.sum()))
            select = select_hard if self.selection == "hard" else select_soft
            solution = select(
                unit * label_moments(Y),
                unit * np.where(rows.varying & self.joint, E, 0.0),
                self._penalties(),
                n_landmarks=budget,
                support=rows.varying,
            )
        return _Learned(
            f,
            np.diag(solution.selection),
            solution.recovery,
            errors,
            solution.history,
            n_iter=max(1, len(solution.history) // 2),
        )

    def _keep(self, learned: _Learned, rows: _Rows) -> None:
        """Set what was learned, and what prediction needs of it."""
        B, A = learned.selection, np.where(rows.varying, learned.recovery, 0.0)
        strength = np.linalg.norm(B, axis=1)
        strength[strength <= NEGLIGIBLE * strength.max(initial=0.0)] = 0.0
        by_strength = np.argsort(-strength, kind="stable")
        landmarks = by_strength[strength[by_strength] > 0]
        full = self.selection == "full"
        self.embedding_ = for_prediction(learned.module)
        self.landmark_columns_ = landmarks
        self.landmarks_ = self.label_format_.names_of(landmarks)
        self.selection_ = B if full else np.diag(B).copy()
        self.recovery_ = A if full else A[landmarks]
        self.landmark_weights_ = (B @ A)[landmarks]
        self.landmark_strengths_ = strength[landmarks] if full else np.diag(B)[landmarks]
        self.intercept_ = np.where(rows.varying, 0.0, rows.mean)
        divisor = np.where(rows.varying, rows.variance, 1.0)
        self.predictability_ = np.where(rows.varying, 1 - learned.errors / divisor, 0.0)
        self.objective_ = pd.DataFrame(learned.history)
        self.n_iter_ = learned.n_iter

    def _build(self, X: Any, rows: _Rows) -> nn.Module:
        """Return f with its first weights, on standardised features."""
        hidden = () if self.linear else self.hidden_layer_sizes
        mean = rows.mean
        body = multilayer_perceptron(X.shape[1], hidden, len(mean), dropout=self.dropout)
        if self.linear:
            # A linear map has no symmetry that random weights must break: it starts at the means.
            start = logit(np.clip(mean, 0.01, 0.99)) if self.output == "sigmoid" else mean
            weight, bias = body.parameters()
            with torch.no_grad():
                weight.zero_()
                bias.copy_(torch.as_tensor(start))
        seen = X[rows.trained]
        scaler = StandardScaler(with_mean=False).fit(seen)
        # A batch of sparse rows is dense when it reaches the network: it can be centred too.
        centre = np.asarray(seen.mean(axis=0)).ravel()
        module = nn.Sequential(Standardise(centre, scaler.scale_), body)
        return Logistic(module) if self.output == "sigmoid" else module

    def _report(self, progress: FitProgress, rows: _Rows, part: int) -> Any:
        """Tell the callbacks of every epoch; a monitor sees f, B and A as they are."""
        if not progress.active:
            return None

        def on_epoch(epoch: int, state: Alternation) -> bool:
            def attributes() -> dict[str, Any]:
                snapshot = copy.copy(self)
                unknown = np.full(len(rows.varying), np.nan)
                module = copy.deepcopy(state.module)
                learned = _Learned(
                    module, state.selection, state.recovery, unknown, state.history, epoch + 1
                )
                snapshot._keep(learned, rows)
                return dict(vars(snapshot))

            return progress.epoch(part, self.max_epochs, attributes)

        return on_epoch

    def _penalties(self) -> Penalties:
        return Penalties(float(self.lambda1), float(self.lambda2), float(self.rho))

    def _device(self) -> str:
        if self.device != "auto":
            return self.device
        return "cuda" if torch.cuda.is_available() else "cpu"

    # Prediction ------------------------------------------------------------------------------

    def _scores(self, X: Any) -> np.ndarray:
        if len(self.landmark_columns_) == 0:
            return np.tile(self.intercept_, (X.shape[0], 1))
        f = forward(self.embedding_, X).numpy()
        return f[:, self.landmark_columns_] @ self.landmark_weights_ + self.intercept_

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        # Through 1/2 where decision_function is 0, so that both agree with predict.
        return np.asarray(expit(4.0 * (scores - self.offset_)))

    # Checks ----------------------------------------------------------------------------------

    def _check_combination(self) -> None:
        if self.selection == "hard" and self.solver != "exact":
            raise ValueError(
                'selection="hard" needs solver="exact": gradient steps have real weights.'
            )
        if self.selection == "full" and self.solver == "exact":
            raise ValueError(
                'selection="full" needs gradient steps: solver="exact" has diagonal B.'
            )
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(type(self)).parameters.items()
        }
        for holds, reason, names in self._idle:
            for name in names if holds(self) else ():
                value = getattr(self, name)
                value = tuple(value) if isinstance(value, list) else value
                if value != defaults[name]:
                    raise ValueError(
                        f"{name}={value!r} does nothing with {reason}: leave it at "
                        f"{defaults[name]!r}."
                    )


@dataclass(frozen=True)
class _Learned:
    """What a solver returns: f, B, A, the mean squared errors of f, and the way there."""

    module: nn.Module
    selection: np.ndarray
    recovery: np.ndarray
    errors: np.ndarray
    history: list[dict[str, float]]
    n_iter: int


@dataclass(frozen=True)
class _Rows:
    """Which rows are trained on and which are held out; label means are of the former."""

    trained: np.ndarray
    held_out: np.ndarray | None
    mean: np.ndarray
    varying: np.ndarray

    @classmethod
    def split(cls, Y: np.ndarray, fraction: float | None, seed: int) -> _Rows:
        n_held = 0 if fraction is None or len(Y) < MIN_ROWS_TO_HOLD_OUT else int(fraction * len(Y))
        trained, held_out = np.arange(len(Y)), None
        if n_held > 0:
            held_out, trained = np.split(np.random.default_rng(seed).permutation(len(Y)), [n_held])
        mean = mean_labels(Y[trained])
        return cls(trained, held_out, mean, (mean > 0) & (mean < 1))

    @property
    def unseen(self) -> np.ndarray:
        """The rows that errors are measured on: all of them where none are held out."""
        return self.trained if self.held_out is None else self.held_out

    @property
    def variance(self) -> np.ndarray:
        return self.mean * (1 - self.mean)


class DoublePrecision(nn.Module):
    """Hands rows on in double precision: what a row gets then does not depend on its batch."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the same rows as float64."""
        return x.double()


def for_prediction(module: nn.Module) -> nn.Module:
    """Return a trained network as ``embedding_`` holds it: on the CPU, in double precision.

    Examples
    --------
    >>> from torch import nn
    >>> from splmll.published.classifier import for_prediction
    >>> for_prediction(nn.Linear(3, 2))[1].weight.dtype
    torch.float64
    """
    return nn.Sequential(DoublePrecision(), module.cpu().double()).eval()


def _predict(module: nn.Module, X: Any, rows: np.ndarray) -> np.ndarray:
    return forward(module, X[rows]).cpu().numpy().astype(np.float64)


def fit_ridge(X: Any, Y: np.ndarray, seed: int) -> tuple[nn.Module, np.ndarray]:
    """Return ridge regression on all rows, and each label's mean squared error out of five folds.

    Of a few ridges the one with the smallest error is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.published.classifier import fit_ridge
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> _, errors = fit_ridge(X, (X[:, :1] > 0).astype(float), seed=0)
    >>> bool(errors[0] < 0.25)
    True
    """
    n_rows = len(Y)
    if n_rows < 2:
        raise ValueError(f"n_samples={n_rows}: errors out of folds need at least 2 rows.")
    # Ridge cannot skip cells: where a label is unknown its mean says nothing either way.
    targets = np.where(np.isnan(Y), mean_labels(Y), Y)
    scale = StandardScaler(with_mean=False).fit(X).scale_
    Z = X @ sparse.diags_array(1 / scale) if sparse.issparse(X) else X / scale
    folds = KFold(min(N_FOLDS, n_rows), shuffle=True, random_state=seed)

    def errors_of(ridge: float) -> np.ndarray:
        predicted = cross_val_predict(Ridge(alpha=ridge * n_rows), Z, targets, cv=folds)
        return mean_errors(predicted.reshape(Y.shape), Y)

    measured = {ridge: errors_of(ridge) for ridge in RIDGES}
    best = min(RIDGES, key=lambda ridge: float(np.nansum(measured[ridge])))
    regression = Ridge(alpha=best * n_rows).fit(Z, targets)
    linear = nn.Linear(X.shape[1], Y.shape[1], dtype=torch.float64)
    with torch.no_grad():
        linear.weight.copy_(torch.as_tensor(np.atleast_2d(regression.coef_) / scale))
        linear.bias.copy_(torch.as_tensor(np.atleast_1d(regression.intercept_)))
    return linear, measured[best]


def mean_labels(Y: np.ndarray) -> np.ndarray:
    """Return the mean of each label over the rows where it is known; 0 where it never is.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.published.classifier import mean_labels
    >>> mean_labels(np.array([[1.0, 1.0], [0.0, np.nan]]))
    array([0.5, 1. ])
    """
    return np.nansum(Y, axis=0) / np.maximum((~np.isnan(Y)).sum(axis=0), 1)


def mean_errors(F: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the mean squared error of each label over the rows where it is known.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.published.classifier import mean_errors
    >>> mean_errors(np.full((2, 2), 0.5), np.array([[1.0, 1.0], [0.0, np.nan]]))
    array([0.25, 0.25])
    """
    known = ~np.isnan(Y)
    total = np.where(known, (F - np.nan_to_num(Y)) ** 2, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def label_moments(Y: np.ndarray) -> np.ndarray:
    """Return Y'Y / n; with unknown cells each moment over the rows where both labels are known.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.published.classifier import label_moments
    >>> label_moments(np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]))
    array([[0.5 , 0.25],
           [0.25, 0.5 ]])
    """
    known = (~np.isnan(Y)).astype(np.float64)
    filled = np.nan_to_num(Y)
    moments = (filled.T @ filled) / np.maximum(known.T @ known, 1)
    if known.all():
        return moments
    # Moments over different rows need not fit together; the nearest that do.
    values, vectors = np.linalg.eigh(moments)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
