"""SPLMLL, the estimator: select predictable landmarks, predict them, recover all labels."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
from scipy import sparse
from scipy.special import expit
from sklearn.base import TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
from torch import nn

from splmll.base import Capabilities, MultilabelClassifier
from splmll.callbacks import CallbackSupportMixin, FitProgress, with_callbacks
from splmll.labels import read_labels
from splmll.landmarks.algorithm1 import Alternation, algorithm1
from splmll.landmarks.embedding import (
    BlendEmbedding,
    Embedding,
    KernelEmbedding,
    LinearEmbedding,
    NetworkEmbedding,
    RegressorEmbedding,
    default_blend,
    take_rows,
)
from splmll.landmarks.exact import Solution, minimise, solve_recovery
from splmll.landmarks.explanation import Explanation
from splmll.landmarks.moments import Moments
from splmll.landmarks.objective import Penalties
from splmll.landmarks.path import LandmarkPath, landmark_path
from splmll.landmarks.recovery import HonestRecovery, complete, recover_crossfitted
from splmll.landmarks.selection import ROUGH, select_hard, select_soft
from splmll.landmarks.sparsity import (
    LAMBDA2_GRID,
    LAMBDA2_UNMEASURED,
    explained_by_fold,
    sparsest_of_the_best,
)
from splmll.landmarks.statistics import Statistics, split_unknown, sum_of
from splmll.landmarks.stream import Stream
from splmll.model_selection.stratification import MultilabelStratifiedKFold
from splmll.neural import Training
from splmll.thresholds import MIN_ROWS, RULES, GlobalThreshold, check_rule, fit_threshold

SMALL_DATA_ROWS = 5000  # n_repeats="auto": up to so many rows ...
SMALL_DATA_REPEATS = 3  # ... folds are drawn so many times

SLOPE_ROWS = 2000  # rows on which the slope of the probabilities is fitted

ABLATIONS: dict[str, dict[str, Any]] = {
    "NN-embeddings": {"selection": "all"},
    "NN + separated": {"joint": False},
    "joint + linear": {"embedding": "linear"},
    "joint + NN": {},
}
"""The rows of the paper's Table 4 as settings: ``SPLMLL(**ABLATIONS["NN + separated"])``."""


def _is_linear(estimator: Any) -> bool:
    if estimator.embedding != "linear" or estimator.solver != "exact":
        raise AttributeError(
            'partial_fit adds up sufficient statistics: it needs embedding="linear" and '
            f'solver="exact", not {estimator.embedding!r} and {estimator.solver!r}.'
        )
    return True


class SPLMLL(CallbackSupportMixin, TransformerMixin, MultilabelClassifier):
    """Selecting Predictable Landmarks for Multi-Label Learning.

    Some labels are easy to predict from the input, and some labels tell much about others. A label
    that is both is a *landmark*. SPL-MLL chooses the landmarks, predicts only those, and recovers
    every label from them, in one objective [1]_::

        ||(f(X) - Y) B||^2        landmarks must be predictable
        + ||Y - Y B A||^2         landmarks must be representative
        + lambda1 ||B - I||^2     a landmark keeps its own label
        + lambda2 ||B||_{2,1}     few landmarks
        + rho ||A||^2             zero in the paper; see below

    f is the *embedding*, from features to one score per label. B = diag(b) is the *selection*:
    label j is a landmark where b_j is not zero. A is the *recovery*: it turns landmarks into all
    labels. The score of a new row is f(x) B A.

    **Why the ridge rho.** Without it A = B^-1 recovers every label perfectly whatever b is, so B
    A = I, the prediction is f(x) itself and nothing is selected. With a small rho a small b_j costs
    something, useless labels reach b_j = 0 exactly, and the recovered scores become better than
    f(x) where labels are many.

    **Why folds.** A network drives its training error to zero, and then every label looks
    predictable. So the error of a label is measured on rows its model did not see. These
    out-of-fold predictions serve three more times: A is fitted on the predictions it will be fed
    (``recovery="crossfit"``), thresholds are tuned on them, and the networks of the folds are
    averaged at prediction time.

    **How it is solved.** Given the errors and the moments of the labels every block has an exact
    solution that does not depend on the number of rows (``solver="exact"``).
    ``solver="algorithm1"`` is the paper's alternating stochastic gradient descent;
    :meth:`as_published` gives all of the paper's settings.

    Parameters
    ----------
    embedding : {"mlp", "linear", "kernel", "blend"}, torch module, regressor or list, \
default="mlp"
        f(x). ``"mlp"`` is the paper's network; ``"linear"`` is ridge regression in closed form;
        ``"kernel"`` is RBF kernel ridge regression (low-rank beyond ``n_components`` rows);
        ``"blend"`` mixes network, kernel and extremely randomised trees per label: the most
        accurate and the most expensive. A ``torch.nn.Module`` from the input to one output per
        label is trained end to end: X may then be an image array or a torch Dataset. Any regressor
        with scikit-learn's API may be used, and a list of all these is blended.
    solver : {"exact", "algorithm1"}, default="exact"
        Block-exact minimisation, or the paper's alternating gradient steps.
    selection : {"soft", "hard", "all"}, default="soft"
        Real weights b_j as published; weights 0 and 1 on the same objective by addition, removal
        and swap; or every label with its own prediction, that is, no landmarks at all.
    n_landmarks : int, float or None, default=None
        Number of landmarks, or their share of the labels. None: as many as pay.
    recovery : {"crossfit", "labels"}, default="crossfit"
        A fitted on out-of-fold predictions of the landmarks, or on their true labels as published.
    threshold : float or str, default="micro-f1"
        When a score becomes a label: a number, or a rule of :mod:`splmll.thresholds` tuned on
        out-of-fold scores ("micro-f1", "macro-f1", "hamming", "jaccard", "per-label",
        "cardinality", "top-r", "linear").
    lambda1, rho : float, default=0.1
        Weights of the penalties; see ``penalty_scale``.
    lambda2 : float or "auto", default="auto"
        The weight that makes landmarks few. "auto" tries 1, 0.5, 0.2 and 0.1 and keeps the
        sparsest selection that recovers all labels out of fold as well as the best of them, up to
        one standard error over the folds. Where a budget decides, or nothing can be measured out of
        fold (``cv=None``, ``recovery="labels"``, ``joint=False``, Algorithm 1), it is 0.5.
    penalty_scale : {"relative", "absolute"}, default="relative"
        Whether the three weights are multiples of the mean label variance, so that they mean
        the same on every data set, or plain numbers.
    shrinkage : float, default=0.1
        How strongly cross-fitted recovery is pulled to "a landmark keeps its own prediction".
    center : bool, default=True
        Measure labels and predictions from their means. The paper does not.
    joint : bool, default=True
        False selects landmarks from the labels alone and predicts them afterwards, the two-step
        manner of the paper's ablation.
    full_selection : bool, default=False
        Keep B a full matrix in Algorithm 1, as the paper's soft constraint allows.
    cv : int or None, default=5
        Number of folds. None measures errors on the training rows, as published; then A must be
        fitted on labels and the threshold must be a number.
    n_repeats : int or "auto", default="auto"
        How often the folds of networks are drawn; the networks of all draws are averaged. "auto"
        draws three times for data sets of up to 5000 rows, where networks are cheap and vary much.
    scale : bool, default=True
        Standardise the features. Raw features can silently ruin a network.
    alpha : float or "auto", default="auto"
        Ridge of the linear and kernel embeddings, relative to the mean variance of a feature;
        "auto" takes the best out of fold.
    gamma : float or "auto", default="auto"
        RBF width; "auto" is one over the mean squared distance of two rows.
    n_components : int, default=2000
        Largest number of kernel features.
    loss : {"auto", "cross-entropy", "squared"}, default="auto"
        What networks are trained by. "squared" is the paper's first term, with f(x) what the
        network gives. "cross-entropy" takes that for logits, and f(x) is their logistic function:
        rare labels are ranked far better. "auto" trains a torch module of yours, and Algorithm 1,
        by the former; networks of the first draw of the folds by the latter and those of further
        draws by the former, because the two err differently and average well. In a blend it is
        one of the two: cross-entropy where folds are drawn once.
    hidden_layer_sizes : tuple of int, default=(512, 64)
        Hidden layers of the network.
    dropout : float, default=0.5
        Share of hidden units dropped in training.
    learning_rate, weight_decay : float, default=1e-3, 1e-4
        Step and weight decay of Adam.
    batch_size : int, default=64
        Rows per step.
    max_epochs : int, default=200
        Largest number of passes over the training rows.
    patience : int, default=15
        Epochs without improvement before training stops.
    tol : float, default=1e-4
        Relative fall of the objective below which Algorithm 1 counts as converged.
    warm_start : bool, default=False
        Start networks (and Algorithm 1) from the previous fit.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same model.
    n_jobs : int or None, default=None
        Folds trained at the same time, through joblib.
    device : str, default="auto"
        Where networks are trained: "cpu", "cuda", or "auto" for a GPU where there is one.

    Attributes
    ----------
    landmarks_ : ndarray
        Names of the landmarks (numbers where labels have no names), largest weight first.
    selection_ : ndarray of shape (n_labels,)
        b; the full B of shape (n_labels, n_labels) with ``full_selection``.
    recovery_ : ndarray of shape (n_landmarks, n_labels)
        The rows of A that belong to landmarks, in the order of ``landmarks_``.
    predictability_ : ndarray of shape (n_labels,)
        Share of each label's variance that f predicts (out of fold). Negative: worse than its mean.
    representativeness_ : ndarray of shape (n_labels,)
        Share of the variance of all labels that each label alone explains.
    objective_ : DataFrame
        Every term of the objective after every block (exact) or epoch (Algorithm 1).
    intercept_ : ndarray of shape (n_labels,)
        What is added to f(x) B A: zero unless ``center`` or the label is constant.
    thresholds_ : ndarray of shape (n_labels,)
        Score from which a label is predicted (NaN for rules without thresholds).
    offset_ : float
        Zero point of ``decision_function``: its value is f(x) B A + ``intercept_`` - ``offset_``.
    lambda2_ : float
        The lambda2 that was given or chosen; a budget goes its own way.
    n_iter_ : int
        Rounds of the exact solver or epochs of Algorithm 1.
    label_names_in_ : ndarray of str
        Names of the labels, where Y was a DataFrame.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where X was a DataFrame.

    References
    ----------
    .. [1] J. Li, C. Zhang, P. Zhu, B. Wu, L. Chen, Q. Hu. SPL-MLL: Selecting Predictable Landmarks
       for Multi-Label Learning. ECCV 2020.

    Examples
    --------
    >>> from splmll import SPLMLL, evaluate, load_dataset
    >>> yeast = load_dataset("yeast")
    >>> X, Y, X_test, Y_test = yeast.split()
    >>> model = SPLMLL(embedding="linear", random_state=0).fit(X, Y)
    >>> len(model.landmarks_) < Y.shape[1]
    True
    >>> measures = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    >>> measures["ranking_loss"] < 0.18
    True
    """

    capabilities = Capabilities(
        sparse_labels=True, unknown_labels=True, cost="networks: epochs N; linear: N D^2 + C^3"
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "lambda1": (0.01, 0.1, 1.0),
        "rho": (0.01, 0.1, 1.0),
        "dropout": (0.2, 0.5),
        "weight_decay": (1e-5, 1e-4, 1e-3),
    }

    def __init__(
        self,
        embedding: Any = "mlp",
        *,
        solver: str = "exact",
        selection: str = "soft",
        n_landmarks: int | float | None = None,
        recovery: str = "crossfit",
        threshold: float | str = "micro-f1",
        lambda1: float = 0.1,
        lambda2: float | str = "auto",
        rho: float = 0.1,
        penalty_scale: str = "relative",
        shrinkage: float = 0.1,
        center: bool = True,
        joint: bool = True,
        full_selection: bool = False,
        cv: int | None = 5,
        n_repeats: int | str = "auto",
        scale: bool = True,
        alpha: float | str = "auto",
        gamma: float | str = "auto",
        n_components: int = 2000,
        loss: str = "auto",
        hidden_layer_sizes: tuple[int, ...] = (512, 64),
        dropout: float = 0.5,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-4,
        batch_size: int = 64,
        max_epochs: int = 200,
        patience: int = 15,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "auto",
    ) -> None:
        self.embedding = embedding
        self.solver = solver
        self.selection = selection
        self.n_landmarks = n_landmarks
        self.recovery = recovery
        self.threshold = threshold
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.rho = rho
        self.penalty_scale = penalty_scale
        self.shrinkage = shrinkage
        self.center = center
        self.joint = joint
        self.full_selection = full_selection
        self.cv = cv
        self.n_repeats = n_repeats
        self.scale = scale
        self.alpha = alpha
        self.gamma = gamma
        self.n_components = n_components
        self.loss = loss
        self.hidden_layer_sizes = hidden_layer_sizes
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    @classmethod
    def as_published(cls, linear: bool = False, **changes: Any) -> SPLMLL:
        """Return the estimator with the paper's settings.

        Algorithm 1 on the published objective: no ridge on A, labels not centred, lambda1 = lambda2
        = 0.1, layers of 512 and 64 units with leaky ReLU, batches of 64 rows, B = I at the start
        and diagonal in every step. The paper does not state the step size, the threshold or the
        scaling of features: this takes 1e-3 (1e-2 for the linear map), 0.5 and standardised
        features.

        Parameters
        ----------
        linear : bool, default=False
            The paper's "Ours (linear)": a linear map in place of the network.
        **changes : dict
            Parameters to set otherwise.

        Returns
        -------
        estimator : SPLMLL

        Examples
        --------
        >>> from splmll import SPLMLL
        >>> SPLMLL.as_published().solver
        'algorithm1'
        """
        settings: dict[str, Any] = {
            "embedding": "linear" if linear else "mlp",
            "solver": "algorithm1",
            "recovery": "labels",
            "threshold": 0.5,
            "lambda1": 0.1,
            "lambda2": 0.1,
            "rho": 0.0,
            "penalty_scale": "absolute",
            "center": False,
            "cv": None,
            "dropout": 0.0,
            "weight_decay": 0.0,
            "patience": 5,
            "learning_rate": 1e-2 if linear else 1e-3,
        }
        return cls(**{**settings, **changes})

    # Learning --------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, Y: Any = None) -> SPLMLL:
        """Select the landmarks and learn to predict them and to recover all labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features. With a torch module as embedding also an array with more dimensions (images)
            or a torch Dataset.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels; NaN where a label is not known. May be left out only if X is a torch Dataset
            of (features, labels) pairs.

        Returns
        -------
        self : SPLMLL
        """
        self._check_parameters()
        before = self._width() if self.warm_start and hasattr(self, "embedding_") else None
        X, Y = self._check_fit(X, Y)
        if before is not None and before != self._width():
            raise ValueError(
                "warm_start=True continues the previous fit, which had {} labels and {} features; "
                "these rows have {} and {}. Set warm_start=False to begin anew.".format(
                    *before, *self._width()
                )
            )
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        candidates = varying_labels(Y)
        with FitProgress(self, X, Y) as progress:
            if self.solver == "algorithm1":
                self._fit_algorithm1(X, Y, candidates, seed, progress)
            else:
                self._fit_exact(X, Y, candidates, seed, progress)
        if hasattr(self, "_stream"):
            del self._stream  # a full fit ends what partial_fit began
        return self

    @available_if(_is_linear)
    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> SPLMLL:
        """Add rows to a linear model: statistics just add up, so chunks equal one fit.

        Thresholds that are tuned need scores, not statistics: they are tuned on a uniform random
        sample of the rows seen so far.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of the new rows.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels)
            Labels of the new rows, the same labels every time.
        classes : array-like, optional
            The two values of a 1-D target, if the first chunk may lack one of them.

        Returns
        -------
        self : SPLMLL
        """
        self._check_parameters()
        first = not hasattr(self, "_stream")
        X = self._check_features(X, reset=first)
        labels, label_format = read_labels(Y, allow_unknown=True, classes=classes)
        check_consistent_length(X, labels)
        if first:
            self._remember(label_format)
            seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
            self._stream = Stream(X.shape[1], labels.shape[1], self.cv, seed)
        elif label_format.n_labels != self.label_format_.n_labels:
            raise ValueError(
                f"This chunk has {label_format.n_labels} labels, the first had "
                f"{self.label_format_.n_labels}: every chunk must have the same label columns."
            )
        self._stream.add(X, labels)
        parts = self._stream.folds
        total, solution = sum_of(parts), None
        candidates = (total.label_mean > 0) & (total.label_mean < 1)
        if not self.joint:
            G = total.label_moments(self.center)
            solution = self._select(G, np.zeros(len(G)), candidates)
            landmarks = np.flatnonzero(solution.selection)
            parts = [part.of_labels(landmarks) for part in parts]
        f = LinearEmbedding(alpha=self.alpha, scale=self.scale)
        f.fit_statistics(parts, self.center)
        X_sample, Y_sample, fold = self._stream.sample()
        if self.cv is not None:
            f.predict_folds(X_sample, fold)
        self._finish_exact(
            f, X_sample, Y_sample, candidates, self._stream.folds, fold[None], solution
        )
        return self

    def _fit_exact(
        self, X: Any, Y: Any, candidates: np.ndarray, seed: int, progress: FitProgress
    ) -> None:
        """Embedding, selection, recovery, threshold: each block solved for good."""
        folds = self._folds(Y, seed)
        f = self._make_embedding(seed, progress)
        label_parts = label_statistics(Y, folds)
        if self.joint:
            f.fit(X, Y, folds, self.center)
            self._finish_exact(f, X, Y, candidates, label_parts, folds)
            return
        # Two steps: representative landmarks first, whether or not they can be predicted.
        G = sum_of(label_parts).label_moments(self.center)
        solution = self._select(G, np.zeros(len(G)), candidates)
        landmarks = np.flatnonzero(solution.selection)
        if len(landmarks):
            f.fit(X, Y[:, landmarks], folds, self.center)
        self._finish_exact(f, X, Y, candidates, label_parts, folds, solution)

    def _finish_exact(
        self,
        f: Embedding,
        X: Any,
        Y: Any,
        candidates: np.ndarray,
        label_parts: list[Statistics],
        folds: np.ndarray | None,
        solution: Solution | None = None,
    ) -> None:
        labels = sum_of(label_parts)
        G = labels.label_moments(self.center)
        # A label that is constant in training is predicted as what it was.
        mean = np.where(self.center | ~candidates, labels.label_mean, 0.0)
        penalties = self._penalties(G)
        two_step = solution is not None
        E = np.full(len(G), np.nan) if two_step else f.moments.E
        self.lambda2_ = self._given_lambda2()
        if solution is None:
            solution = self._select_measured(f, Y, folds, candidates, G)
        landmarks = by_weight(solution.selection)
        weights = solution.selection[landmarks]
        if two_step:
            # f knows only the landmarks, in the order of their numbers.
            position = np.searchsorted(np.sort(landmarks), landmarks)
            E[landmarks] = f.moments.E[position] if len(landmarks) else 0.0
        else:
            position = landmarks
        centre, scores = mean[landmarks], None
        if self.selection == "all":
            A = np.eye(len(G))[landmarks]
        elif self.recovery == "labels" or len(landmarks) == 0:
            A = solve_recovery(G, solution.selection, penalties.rho)[landmarks]
        else:
            assert f.out_of_fold is not None
            assert folds is not None
            F = f.out_of_fold[:, position]
            A, centre, scores = self._recover_crossfitted(
                F, Y, folds[0], landmarks, weights, None if two_step else f.moments
            )
        A = np.where(candidates, A, 0.0)
        self._keep(f, landmarks, position, weights[:, None] * A, centre, mean)
        self.selection_, self.recovery_ = solution.selection, A
        self.objective_ = pd.DataFrame(solution.history)
        self.n_iter_ = max(1, len(solution.history) // 2)
        self._describe_labels(G, E, labels, penalties)
        if scores is None and folds is not None:
            if f.out_of_fold is not None and len(landmarks):
                scores = self._mix(f.out_of_fold[:, position])
            else:
                scores = np.tile(self.intercept_, (Y.shape[0], 1))
        self._set_thresholds(Y, scores, label_parts, folds)

    def _recover_crossfitted(
        self,
        F: np.ndarray,
        Y: Any,
        fold: np.ndarray,
        landmarks: np.ndarray,
        weights: np.ndarray,
        moments: Moments | None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return A, the point from which predictions are measured, and honest scores.

        ``moments`` may know more rows than F holds: a stream keeps only a sample of its rows.
        """
        honest = HonestRecovery(F, Y, fold, landmarks, weights, self.shrinkage, self.center)
        if moments is None:
            A, centre = honest.recovery(honest.total)
        else:
            FF = moments.FF[np.ix_(landmarks, landmarks)]
            A = recover_crossfitted(FF, moments.FY[landmarks], landmarks, weights, self.shrinkage)
            centre = moments.f_mean[landmarks]
        return A, centre, honest.scores()

    def _fit_algorithm1(
        self, X: Any, Y: Any, candidates: np.ndarray, seed: int, progress: FitProgress
    ) -> None:
        """The paper's loop; the folds, where asked for, are runs of the same loop."""
        targets = Y.toarray() if sparse.issparse(Y) else Y
        folds = self._folds(Y, seed)
        label_parts = label_statistics(Y, folds)
        labels = sum_of(label_parts)
        G = labels.label_moments(self.center)
        penalties = self._penalties(G)
        self.lambda2_ = self._given_lambda2()
        mean = np.where(self.center | ~candidates, labels.label_mean, 0.0)
        network = self._network(self.embedding, seed, progress)
        if self.embedding == "linear":
            network.hidden, network.dropout = (), 0.0
        start = getattr(self, "_alternation", None) if self.warm_start else None

        def run(
            rows: np.ndarray | None, k: int, support: np.ndarray, begin: Alternation | None
        ) -> Alternation:
            every = np.arange(len(targets)) if rows is None else rows
            return algorithm1(
                lambda: network.build(X, every, targets.shape[1]),
                X,
                targets,
                penalties,
                training=network.training,
                tol=self.tol,
                seed=seed + k,
                device=torch.device(network.device),
                rows=rows,
                full_selection=self.full_selection,
                joint=self.joint,
                support=support,
                start=begin,
                on_epoch=self._report_alternation(progress, network, k),
            )

        state = run(None, 0, candidates, start)
        history = state.history
        budget = self._budget(len(G))
        if budget is not None:
            support = np.zeros(len(G), dtype=bool)
            strength = np.linalg.norm(state.selection, axis=1) * candidates
            support[np.argsort(-strength, kind="stable")[:budget]] = True
            state = run(None, (self.cv or 0) + 1, support & candidates, state)
            history = history + state.history[1:]
        self._alternation = state
        B, A = state.selection, state.recovery
        strength = np.linalg.norm(B, axis=1)
        landmarks = by_weight(np.where(strength > 1e-6 * strength.max(initial=0), strength, 0.0))
        if self.selection == "all":
            landmarks, B, A = np.arange(len(G)), np.eye(len(G)), np.eye(len(G))
        f = network
        f.models = [state.module]
        f.columns = None
        f.moments = Moments.of(f.predict(X), Y, self.center)
        if folds is not None:
            fold = folds[0]
            held = [np.flatnonzero(fold == k) for k in range(fold.max() + 1)]
            f.models, f.out_of_fold = [], np.empty(targets.shape)
            for k, rows in enumerate(held):
                part = run(np.flatnonzero(fold != k), k + 1, candidates, None)
                f.models.append(part.module)
                f.out_of_fold[rows] = f._predict_one(part.module, take_rows(X, rows))
            f.moments = Moments.of(f.out_of_fold, Y, self.center)
        centre, scores = f.moments.y_mean[landmarks], None
        A = np.where(candidates, A, 0.0)
        mixing = (B @ A)[landmarks]
        if self.recovery == "crossfit" and self.selection != "all" and len(landmarks):
            assert f.out_of_fold is not None
            assert folds is not None
            weights = np.diag(B)[landmarks]
            A_rows, centre, scores = self._recover_crossfitted(
                f.out_of_fold[:, landmarks], Y, folds[0], landmarks, weights, f.moments
            )
            A = np.zeros_like(G)
            A[landmarks], mixing = A_rows, weights[:, None] * A_rows
        E = f.moments.E
        self._keep(f, landmarks, landmarks, mixing, centre, mean)
        self.selection_ = B if self.full_selection else np.diag(B).copy()
        self.recovery_ = A if self.full_selection else A[landmarks]
        self.objective_ = pd.DataFrame(history)
        self.n_iter_ = len(history) - 1
        self._describe_labels(G, E, labels, penalties)
        if scores is None and f.out_of_fold is not None:
            scores = self._mix(f.out_of_fold[:, landmarks])
        self._set_thresholds(Y, scores, label_parts, folds)

    # Pieces of learning ----------------------------------------------------

    def _select_measured(
        self,
        f: Embedding,
        Y: Any,
        folds: np.ndarray | None,
        candidates: np.ndarray,
        G: np.ndarray,
    ) -> Solution:
        """Select with the lambda2 given, or with the one that the folds speak for."""
        decided = self.lambda2 != "auto" or self.n_landmarks is not None or self.selection == "all"
        if decided or self.recovery == "labels" or f.out_of_fold is None or folds is None:
            return self._select(G, f.moments.E, candidates)
        shares = []
        for lambda2 in LAMBDA2_GRID:
            solution = self._select(G, f.moments.E, candidates, lambda2, rough=True)
            landmarks = by_weight(solution.selection)
            if len(landmarks):
                F, weights = f.out_of_fold[:, landmarks], solution.selection[landmarks]
                honest = HonestRecovery(
                    F, Y, folds[0], landmarks, weights, self.shrinkage, self.center
                )
                share = explained_by_fold(Y, honest.scores(), folds[0])
            else:
                share = np.zeros(len(np.unique(folds[0])))
            shares.append(share)
        self.lambda2_ = LAMBDA2_GRID[sparsest_of_the_best(np.array(shares))]
        return self._select(G, f.moments.E, candidates, self.lambda2_)

    def _select(
        self,
        G: np.ndarray,
        E: np.ndarray,
        candidates: np.ndarray,
        lambda2: float | None = None,
        rough: bool = False,
    ) -> Solution:
        penalties = self._penalties(G, lambda2)
        budget = self._budget(len(G))
        if self.selection == "all":
            return Solution(candidates.astype(np.float64), np.eye(len(G)), [{"objective": np.nan}])
        if not candidates.any():
            return Solution(np.zeros(len(G)), np.zeros_like(G), [{"objective": 0.0}])
        if budget is not None:
            budget = min(budget, int(candidates.sum()))
        if rough and self.selection == "soft":
            return minimise(G, E, penalties, support=candidates, **ROUGH)
        select = select_soft if self.selection == "soft" else select_hard
        return select(G, E, penalties, n_landmarks=budget, support=candidates)

    def _given_lambda2(self) -> float:
        return LAMBDA2_UNMEASURED if self.lambda2 == "auto" else float(self.lambda2)

    def _penalties(self, G: np.ndarray, lambda2: float | None = None) -> Penalties:
        unit = float(np.mean(np.diag(G))) if self.penalty_scale == "relative" else 1.0
        unit = unit if unit > 0 else 1.0
        lambda2 = self._given_lambda2() if lambda2 is None else lambda2
        return Penalties(self.lambda1 * unit, lambda2 * unit, self.rho * unit)

    def _width(self) -> tuple[int, int | None]:
        return self.label_format_.n_labels, getattr(self, "n_features_in_", None)

    def _budget(self, n_labels: int) -> int | None:
        if self.n_landmarks is None:
            return None
        if isinstance(self.n_landmarks, numbers.Integral):
            budget = int(self.n_landmarks)
        else:
            share = float(self.n_landmarks)
            budget = max(1, round(share * n_labels)) if share > 0 else 0
        if not 1 <= budget <= n_labels:
            raise ValueError(
                f"n_landmarks={self.n_landmarks} asks for {budget} landmarks, but there are "
                f"{n_labels} labels: give a number from 1 to {n_labels}, or a share up to 1.0."
            )
        return budget

    def _folds(self, Y: Any, seed: int) -> np.ndarray | None:
        """Fold number of every row, one line for every time the folds are drawn."""
        if self.cv is None:
            return None
        n_rows = Y.shape[0]
        if n_rows < 2:
            raise ValueError(
                f"n_samples={n_rows}: out-of-fold predictions need at least 2 rows; add rows or "
                'set cv=None, recovery="labels" and a number as threshold.'
            )
        if self.n_repeats == "auto":
            repeats = SMALL_DATA_REPEATS if n_rows <= SMALL_DATA_ROWS else 1
        else:
            repeats = int(self.n_repeats)
        folds = np.empty((repeats, n_rows), dtype=np.intp)
        for r in range(repeats):
            splitter = MultilabelStratifiedKFold(
                min(self.cv, n_rows), shuffle=True, random_state=(seed + r) % 2**31
            )
            for k, (_, held) in enumerate(splitter.split(np.zeros((n_rows, 1)), Y)):
                folds[r, held] = k
        return folds

    def _network(
        self, kind: Any, seed: int, progress: FitProgress, blended: bool = False
    ) -> NetworkEmbedding:
        module = kind if isinstance(kind, nn.Module) else None
        previous = getattr(self, "embedding_", None) if self.warm_start else None
        return NetworkEmbedding(
            n_jobs=None if progress.active else self.n_jobs,
            module=module,
            hidden=tuple(self.hidden_layer_sizes),
            dropout=self.dropout,
            scale=self.scale and module is None,
            loss=self._loss_of(kind, blended),
            training=Training(
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                batch_size=self.batch_size,
                max_epochs=self.max_epochs,
                patience=self.patience,
            ),
            seed=seed,
            device=self._device(),
            progress=self._report(progress) if progress.active else None,
            previous=previous.models if isinstance(previous, NetworkEmbedding) else [],
        )

    def _loss_of(self, kind: Any, blended: bool) -> str:
        if self.loss != "auto":
            return self.loss
        if self.solver == "algorithm1" or isinstance(kind, nn.Module):
            return "squared"
        return "once" if blended else "turns"

    def _report(self, progress: FitProgress) -> Any:
        """Tell the callbacks of every epoch; a monitor sees f as it stands, without landmarks."""

        def on_epoch(fold: int, epoch: int, loss: float, module: nn.Module) -> bool:
            def attributes() -> dict[str, Any]:
                f = NetworkEmbedding(models=[copy.deepcopy(module).eval()], device=self._device())
                labels = np.arange(self.label_format_.n_labels)
                return self._state_of(f, labels, np.eye(len(labels)))

            return progress.epoch(fold, self.max_epochs, attributes)

        return on_epoch

    def _report_alternation(self, progress: FitProgress, network: NetworkEmbedding, k: int) -> Any:
        """Tell the callbacks of every epoch of Algorithm 1; a monitor sees f, B and A."""
        if not progress.active:
            return None

        def on_epoch(epoch: int, state: Alternation) -> bool:
            def attributes() -> dict[str, Any]:
                f = NetworkEmbedding(
                    models=[copy.deepcopy(state.module).eval()], device=network.device
                )
                labels = np.arange(self.label_format_.n_labels)
                return self._state_of(f, labels, state.selection @ state.recovery)

            return progress.epoch(k, self.max_epochs, attributes)

        return on_epoch

    def _state_of(self, f: Embedding, landmarks: np.ndarray, mixing: np.ndarray) -> dict[str, Any]:
        """The fitted attributes that prediction would need if training stopped now."""
        threshold = GlobalThreshold(0.5 if isinstance(self.threshold, str) else self.threshold)
        return {
            "embedding_": f,
            "label_format_": self.label_format_,
            "classes_": self.classes_,
            "n_features_in_": getattr(self, "n_features_in_", None),
            "_landmarks": landmarks,
            "_mixing": mixing,
            "intercept_": np.zeros(len(landmarks)),
            "_slope": 4.0,
            "threshold_": threshold,
            "thresholds_": threshold.per_label(len(landmarks)),
            "offset_": threshold.offset,
        }

    def _device(self) -> str:
        if self.device != "auto":
            return self.device
        return "cuda" if torch.cuda.is_available() else "cpu"

    def _make_embedding(self, seed: int, progress: FitProgress) -> Embedding:
        return self._embedding_of(self.embedding, seed, progress)

    def _embedding_of(
        self, kind: Any, seed: int, progress: FitProgress, blended: bool = False
    ) -> Embedding:
        if isinstance(kind, (list, tuple)):
            members = [self._embedding_of(member, seed, progress, True) for member in kind]
            return BlendEmbedding(members=members)
        if isinstance(kind, nn.Module) or kind == "mlp":
            return self._network(kind, seed, progress, blended)
        if isinstance(kind, str) and kind == "linear":
            return LinearEmbedding(alpha=self.alpha, scale=self.scale)
        if isinstance(kind, str) and kind in ("kernel", "blend"):
            kernel = KernelEmbedding(
                gamma=self.gamma,
                n_components=self.n_components,
                alpha=self.alpha,
                scale=self.scale,
                seed=seed,
            )
            if kind == "kernel":
                return kernel
            network = self._network("mlp", seed, progress, blended=True)
            return default_blend(network, kernel, seed=seed, n_jobs=self.n_jobs)
        return RegressorEmbedding(regressor=kind, seed=seed, n_jobs=self.n_jobs)

    def _keep(
        self,
        f: Embedding,
        landmarks: np.ndarray,
        position: np.ndarray,
        mixing: np.ndarray,
        centre: np.ndarray,
        mean: np.ndarray,
    ) -> None:
        """Keep what prediction needs: f for the landmarks, B A, and what is added to f B A."""
        if len(landmarks):
            f.keep(position)
        self.embedding_ = f
        self._landmarks = landmarks
        self.landmarks_ = self.label_format_.names_of(landmarks)
        self._mixing = mixing
        self.intercept_ = mean - centre @ mixing

    def _describe_labels(
        self, G: np.ndarray, E: np.ndarray, labels: Statistics, penalties: Penalties
    ) -> None:
        """Say of every label how predictable and how representative it is."""
        covariance = labels.label_moments(center=True)
        variance = np.diag(covariance)
        varies = variance > 0
        divisor = np.where(varies, variance, 1.0)
        self.predictability_ = np.where(varies, 1 - E / divisor, 0.0)
        total = max(float(variance.sum()), np.finfo(float).tiny)
        self.representativeness_ = np.where(varies, (covariance**2).sum(0) / divisor / total, 0.0)
        # What `recover` needs: how landmarks move with all labels.
        self._label_mean = np.where(self.center | ~varies, labels.label_mean, 0.0)
        self._landmark_moments = np.where(varies, G[self._landmarks], 0.0)
        self._rho = max(penalties.rho, 1e-8 * max(float(np.mean(np.diag(G))), 1e-300))

    def _set_thresholds(
        self, Y: Any, scores: np.ndarray | None, parts: list[Statistics], folds: np.ndarray | None
    ) -> None:
        """Tune thresholds on out-of-fold scores, for prediction and for recovery from labels."""
        self._slope = 4.0  # probabilities follow scores with slope 1 around the threshold
        if scores is None or not isinstance(self.threshold, str):
            value = 0.5 if isinstance(self.threshold, str) else float(self.threshold)
            self._set_threshold(GlobalThreshold(value))
            self._recovery_threshold: Any = GlobalThreshold(value)
            return
        self._set_threshold(fit_threshold(self.threshold, Y, scores))
        self._slope = probability_slope(Y, scores - self.offset_)
        self._recovery_threshold = self.threshold_
        hidden = np.setdiff1d(np.arange(scores.shape[1]), self._landmarks)
        if len(hidden) and len(self._landmarks) and folds is not None:
            recovered = self._recovered_out_of_fold(Y, parts, folds)[:, hidden]
            threshold = fit_threshold(self.threshold, Y[:, hidden], recovered)
            if isinstance(threshold, GlobalThreshold):
                self._recovery_threshold = threshold

    def _recovered_out_of_fold(
        self, Y: Any, parts: list[Statistics], folds: np.ndarray
    ) -> np.ndarray:
        """All labels recovered from true landmark labels with moments of the other folds."""
        total = sum_of(parts)
        known = Y[:, self._landmarks]
        known = known.toarray() if sparse.issparse(known) else known
        scores = np.empty(Y.shape)
        for k, part in enumerate(parts):
            rows = folds[0] == k
            others = total - part
            mean = others.label_mean if self.center else np.zeros(Y.shape[1])
            moments = others.label_moments(self.center)[self._landmarks]
            scores[rows] = complete(known[rows], self._landmarks, mean, moments, self._rho)
        return scores

    # Prediction ------------------------------------------------------------

    def _scores(self, X: Any) -> np.ndarray:
        if len(self._landmarks) == 0:
            return np.tile(self.intercept_, (len_of(X), 1))
        return self._mix(self.embedding_.predict(X))

    def _mix(self, landmark_scores: np.ndarray) -> np.ndarray:
        """f(x) B A + intercept, for f(x) of the landmarks."""
        return landmark_scores @ self._mixing + self.intercept_

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        # Through 1/2 where decision_function is 0, so that both agree with predict.
        return np.asarray(expit(self._slope * (scores - self.offset_)))

    def transform(self, X: Any) -> np.ndarray:
        """Return the scores of the landmarks, f(x), in the order of ``landmarks_``.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        landmark_scores : ndarray of shape (n_rows, n_landmarks)
        """
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        if len(self._landmarks) == 0:
            return np.zeros((len_of(X), 0))
        return self.embedding_.predict(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`: the landmarks."""
        check_is_fitted(self)
        names = self.label_format_.names_of(self._landmarks).tolist()
        if self.label_format_.names is None:
            names = [f"landmark{number}" for number in names]
        return np.asarray(names, dtype=object)

    def explain(self, X: Any) -> Explanation:
        """Take every score apart into what each landmark contributed.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features; the answer holds n_rows x n_landmarks x n_labels numbers, so a few rows at a
            time.

        Returns
        -------
        explanation : Explanation
            Contributions that sum to the score, and a table of any row.
        """
        landmark_scores = self.transform(X)
        scores = self._mix(landmark_scores)
        everything = np.arange(len(self.intercept_))
        return Explanation(
            base=self.intercept_.copy(),
            contributions=landmark_scores[:, :, None] * self._mixing[None],
            landmarks=np.asarray(self.landmarks_),
            labels=np.asarray(self.label_format_.names_of(everything)),
            predicted=self.threshold_.apply(scores),
        )

    def recover(self, Y_landmarks: Any, *, return_scores: bool = False) -> Any:
        """Complete all labels from the landmark labels alone.

        People annotate the few landmarks; this fills in the rest. For each row it is the best
        linear use of the landmarks that are known there, learned from the training labels.

        Parameters
        ----------
        Y_landmarks : array-like or DataFrame of shape (n_rows, n_landmarks)
            0/1 labels of the landmarks, columns in the order of ``landmarks_`` (a DataFrame: by
            name, in any order); NaN where unknown.
        return_scores : bool, default=False
            Return real scores instead of labels.

        Returns
        -------
        labels : ndarray, CSR array or DataFrame of shape (n_rows, n_labels)
            All labels in the form in which ``fit`` received them; known landmarks keep their value.
        """
        check_is_fitted(self)
        index = None
        if isinstance(Y_landmarks, pd.DataFrame):
            index = Y_landmarks.index
            names = [str(name) for name in self.landmarks_]
            by_name = Y_landmarks.set_axis([str(name) for name in Y_landmarks.columns], axis=1)
            missing = [name for name in names if name not in by_name.columns]
            if missing:
                raise ValueError(
                    f"The landmarks {missing} have no column. Give one column for each of "
                    f"{names}; leave cells empty (NaN) where they are not known."
                )
            Y_landmarks = by_name[names]
        known, _ = read_labels(Y_landmarks, allow_unknown=True, accept_sparse=False)
        if known.shape[1] != len(self._landmarks):
            raise ValueError(
                f"Got {known.shape[1]} columns for {len(self._landmarks)} landmarks: give one "
                f"column for each of {list(self.landmarks_)}, NaN where unknown."
            )
        scores = complete(
            known, self._landmarks, self._label_mean, self._landmark_moments, self._rho
        )
        if return_scores:
            return scores
        labels = self._recovery_threshold.apply(scores)
        given = ~np.isnan(known)
        labels[:, self._landmarks] = np.where(given, known, labels[:, self._landmarks])
        return self.label_format_.restore(labels, index)

    def landmark_path(self, X: Any, Y: Any, *, counts: Any = None) -> LandmarkPath:
        """Follow the objective and the measures as the number of landmarks grows.

        The embedding is learned once. For every number of landmarks the selection and the recovery
        are solved with that budget, and the measures are taken on out-of-fold scores, so they are
        honest. Rows with unknown labels are not measured. The estimator itself is not changed.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels)
            0/1 labels.
        counts : sequence of int, optional
            Numbers of landmarks to look at; by default all up to 20 and a growing grid beyond.

        Returns
        -------
        path : LandmarkPath
            A table (``to_frame``) and a figure (``plot``).
        """
        return landmark_path(self, X, Y, counts)

    # Checks ----------------------------------------------------------------

    def _check_parameters(self) -> None:
        choices: dict[str, tuple[str, ...]] = {
            "solver": ("exact", "algorithm1"),
            "selection": ("soft", "hard", "all"),
            "recovery": ("crossfit", "labels"),
            "penalty_scale": ("relative", "absolute"),
            "loss": ("auto", "cross-entropy", "squared"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} must be one of {allowed}.")
        kinds = self.embedding if isinstance(self.embedding, (list, tuple)) else [self.embedding]
        for kind in kinds:
            known = kind in ("mlp", "linear", "kernel", "blend") if isinstance(kind, str) else (
                isinstance(kind, nn.Module) or hasattr(kind, "fit")
            )  # fmt: skip
            if not known:
                raise ValueError(
                    f'embedding={kind!r} must be "mlp", "linear", "kernel", "blend", a torch '
                    "module, a regressor or a list of these."
                )
        if isinstance(self.threshold, str) and self.threshold not in RULES:
            raise ValueError(f"threshold={self.threshold!r} must be a number or one of {RULES}.")
        check_rule(self.threshold)
        if self.solver == "algorithm1" and self.loss == "cross-entropy":
            raise ValueError(
                'Algorithm 1 minimises the squared error: set loss="squared" or solver="exact".'
            )
        if isinstance(self.lambda2, str) and self.lambda2 != "auto":
            raise ValueError(f'lambda2={self.lambda2!r} must be a number or "auto".')
        if min(self.lambda1, self._given_lambda2(), self.rho, self.shrinkage) < 0:
            raise ValueError("lambda1, lambda2, rho and shrinkage must not be negative.")
        if self.cv is not None and self.cv < 2:
            raise ValueError(f"cv={self.cv}: give at least 2 folds, or None for none.")
        if self.cv is None:
            if self.recovery == "crossfit":
                raise ValueError(
                    'recovery="crossfit" needs out-of-fold predictions: set cv to a number of '
                    'folds, or recovery="labels".'
                )
            if isinstance(self.threshold, str):
                raise ValueError(
                    f"threshold={self.threshold!r} is tuned on out-of-fold scores: set cv to a "
                    "number of folds, or give a number as threshold."
                )
        if self.solver == "algorithm1":
            if self.selection == "hard":
                raise ValueError('selection="hard" needs solver="exact": Algorithm 1 has real b.')
            if not (self.embedding in ("mlp", "linear") or isinstance(self.embedding, nn.Module)):
                raise ValueError(
                    'solver="algorithm1" trains by gradients: embedding must be "mlp", "linear" '
                    'or a torch module. For other embeddings use solver="exact".'
                )
        for name in ("batch_size", "max_epochs", "patience", "n_components"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 1:
                raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
        for name in ("alpha", "gamma"):
            value = getattr(self, name)
            if value != "auto" and not (isinstance(value, (int, float)) and value > 0):
                raise ValueError(f'{name}={value!r} must be "auto" or a positive number.')
        if not self.learning_rate > 0 or self.weight_decay < 0 or not 0 <= self.dropout < 1:
            raise ValueError(
                "learning_rate must be positive, weight_decay not negative and dropout from 0 to "
                "below 1."
            )
        sizes = self.hidden_layer_sizes
        if not isinstance(sizes, (tuple, list)) or any(
            not isinstance(size, numbers.Integral) or size < 1 for size in sizes
        ):
            raise ValueError(
                f"hidden_layer_sizes={sizes!r} must be a tuple of whole numbers such as (512, 64)."
            )
        if self.n_repeats != "auto" and not (
            isinstance(self.n_repeats, numbers.Integral) and self.n_repeats >= 1
        ):
            raise ValueError(f'n_repeats={self.n_repeats!r} must be "auto" or at least 1.')
        if self.full_selection and (self.solver != "algorithm1" or self.recovery != "labels"):
            raise ValueError('full_selection=True needs solver="algorithm1" and recovery="labels".')

    def _check_features(self, X: Any, reset: bool) -> Any:
        if not isinstance(self.embedding, nn.Module):
            return super()._check_features(X, reset)
        if isinstance(X, torch.utils.data.Dataset):
            return X
        return validate_data(self, X, dtype=np.float32, allow_nd=True, reset=reset)

    def _check_fit(self, X: Any, Y: Any) -> tuple[Any, Any]:
        if Y is None and isinstance(X, torch.utils.data.Dataset):
            first = X[0]
            if not (isinstance(first, (tuple, list)) and len(first) == 2):
                raise ValueError(
                    "This torch Dataset gives features alone: let it give (features, labels) "
                    "pairs, or pass the labels as Y."
                )
            Y = np.stack([np.asarray(X[i][1]) for i in range(len_of(X))])
        return super()._check_fit(X, Y)


def varying_labels(Y: Any) -> np.ndarray:
    """Return which labels are neither always nor never true where they are known."""
    labels, known = split_unknown(Y)
    positives = np.asarray(labels.sum(axis=0)).ravel()
    return (positives > 0) & (positives < (Y.shape[0] if known is None else known.sum(axis=0)))


def label_statistics(Y: Any, folds: np.ndarray | None) -> list[Statistics]:
    """Return the label statistics of every fold (one for all rows without folds)."""
    fold = np.zeros(Y.shape[0], dtype=np.intp) if folds is None else folds[0]
    empty = np.zeros((Y.shape[0], 0))
    return [Statistics.of(empty[fold == k], Y[fold == k]) for k in range(fold.max() + 1)]


def by_weight(selection: np.ndarray) -> np.ndarray:
    """Return the landmarks, largest weight first."""
    landmarks = np.flatnonzero(selection)
    return landmarks[np.argsort(-np.abs(selection[landmarks]), kind="stable")]


def probability_slope(Y: Any, decisions: np.ndarray) -> float:
    """Return the slope of the logistic curve through zero that fits out-of-fold decisions best."""
    rows = np.random.default_rng(0).permutation(len(decisions))[:SLOPE_ROWS]
    labels = Y[rows]
    labels = (labels.toarray() if sparse.issparse(labels) else labels).ravel()
    known = ~np.isnan(labels)
    target, decision = labels[known], decisions[rows].ravel()[known]
    if len(target) < MIN_ROWS or target.min() == target.max():
        return 4.0
    curve = LogisticRegression(fit_intercept=False).fit(decision[:, None], target)
    return max(float(curve.coef_[0, 0]), 1e-3)


def len_of(X: Any) -> int:
    """Number of rows of an array, a sparse matrix or a torch Dataset."""
    return X.shape[0] if hasattr(X, "shape") else len(X)
