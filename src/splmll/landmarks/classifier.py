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
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import nn

from splmll.base import Capabilities
from splmll.callbacks import CallbackSupportMixin, FitProgress, with_callbacks
from splmll.labels import read_labels
from splmll.landmarks.algorithm1 import Alternation, algorithm1
from splmll.landmarks.cost import Cost, estimate_cost
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
from splmll.landmarks.label_moments import LabelMoments, moment_rows
from splmll.landmarks.moments import Moments
from splmll.landmarks.objective import Penalties
from splmll.landmarks.parameters import check_parameters
from splmll.landmarks.path import LandmarkPath, landmark_path
from splmll.landmarks.prediction import BlockPrediction
from splmll.landmarks.recovery import HonestRecovery, complete
from splmll.landmarks.selection import ROUGH, by_weight, select_hard, select_soft
from splmll.landmarks.sources import RowSource, Source
from splmll.landmarks.sparsity import (
    LAMBDA2_GRID,
    LAMBDA2_UNMEASURED,
    explained_by_fold,
    sparsest_of_the_best,
)
from splmll.landmarks.statistics import Statistics, fold_statistics, sum_of
from splmll.landmarks.streaming import StreamFit
from splmll.landmarks.tuning import (
    PLAIN_SLOPE,
    label_statistics,
    len_of,
    probability_slope,
    varying_labels,
)
from splmll.model_selection.stratification import MultilabelStratifiedKFold
from splmll.neural import Training
from splmll.parallel_training import agreed_seed
from splmll.thresholds import GlobalThreshold, fit_threshold

SMALL_DATA_ROWS = 5000  # n_repeats="auto": up to so many rows ...
SMALL_DATA_REPEATS = 3  # ... folds are drawn so many times

ABLATIONS: dict[str, dict[str, Any]] = {
    "NN-embeddings": {"selection": "all"},
    "NN + separated": {"joint": False},
    "joint + linear": {"embedding": "linear"},
    "joint + NN": {},
}
"""The rows of the paper's Table 4 as settings: ``SPLMLL(**ABLATIONS["NN + separated"])``."""


class SPLMLL(CallbackSupportMixin, TransformerMixin, StreamFit, BlockPrediction):
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
        Standardise the features. Raw features can silently ruin a network; the weights of words in
        texts are best left as they are, as the command line does.
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
        if self._takes_blocks(X):
            return self._fit_blocks(X, Y)
        before = self._width() if self.warm_start and hasattr(self, "embedding_") else None
        X, Y = self._check_fit(X, Y)
        if before is not None and before != self._width():
            raise ValueError(
                "warm_start=True continues the previous fit, which had {} labels and {} features; "
                "these rows have {} and {}. Set warm_start=False to begin anew.".format(
                    *before, *self._width()
                )
            )
        seed = agreed_seed(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        varying = varying_labels(Y)
        with FitProgress(self, X, Y) as progress:
            if self.solver == "algorithm1":
                self._fit_algorithm1(X, Y, varying, seed, progress)
            else:
                self._fit_exact(X, Y, varying, seed, progress)
        self._forget_stream()
        return self

    def _fit_exact(
        self, X: Any, Y: Any, varying: np.ndarray, seed: int, progress: FitProgress
    ) -> None:
        """Learn from rows in memory."""
        f = self._make_embedding(seed, progress)
        self._learn(f, RowSource(X, Y, self._folds(Y, seed), seed), varying)

    def _learn(self, f: Embedding, source: Source, varying: np.ndarray) -> None:
        """Embedding, selection, recovery, threshold: each block solved for good."""
        totals = sum_of(source.label_parts)
        labels = self._label_moments(totals, varying)
        solution, predicted, F = None, labels.candidates, None
        if not self.joint:
            # Two steps: representative landmarks first, whether or not they can be predicted.
            solution = self._select(labels, np.zeros(len(labels.G)), varying)
            predicted = labels.candidates[np.flatnonzero(solution.selection)]
        E = np.full(labels.n_labels, np.nan)
        if len(predicted):
            F = source.fit(f, predicted, self.center)
            E[predicted] = f.moments.E
        self.lambda2_ = self._given_lambda2()
        if solution is None:
            solution = self._select_measured(f, F, source, labels, varying)
        selection = labels.spread(solution.selection)
        landmarks = by_weight(selection)
        weights = selection[landmarks]
        position = np.searchsorted(predicted, landmarks)  # of the landmarks among f's outputs
        # A label that is constant in training is predicted as what it was.
        mean = np.where(self.center | ~varying, labels.mean, 0.0)
        penalties = self._penalties(labels.unit)
        centre, scores = mean[landmarks], None
        if self.selection == "all":
            A = np.eye(labels.n_labels)[landmarks]
        elif self.recovery == "labels" or len(landmarks) == 0:
            among = labels.rows(landmarks)[:, landmarks]
            A = solve_recovery(among, weights, penalties.rho, labels.rows(landmarks))
        else:
            assert F is not None
            assert source.fold is not None
            honest = self._honest(source.parts(f, position), landmarks, weights)
            A, centre = honest.recovery()
            scores = honest.scores(F[:, position], source.fold)
        A = np.where(varying, A, 0.0)
        self._keep(f, landmarks, position, weights[:, None] * A, centre, mean)
        self.selection_, self.recovery_ = selection, A
        self.objective_ = pd.DataFrame(solution.history)
        self.n_iter_ = max(1, len(solution.history) // 2)
        self._describe_labels(labels, E, penalties)
        if scores is None and source.fold is not None:
            if F is not None and len(landmarks):
                scores = self._mix(F[:, position])
            else:
                scores = np.tile(self.intercept_, (source.Y.shape[0], 1))
        self._set_thresholds(source.Y, scores, totals, source.label_parts, source.fold)

    def _honest(
        self, parts: Sequence[Statistics], landmarks: np.ndarray, weights: np.ndarray
    ) -> HonestRecovery:
        return HonestRecovery(parts, landmarks, weights, self.shrinkage, self.center)

    def _label_moments(self, totals: Statistics, varying: np.ndarray) -> LabelMoments:
        # Without landmarks there is nothing to pick candidates for; Algorithm 1 takes all labels.
        every = self.selection == "all" or self.solver == "algorithm1"
        return LabelMoments.of(totals, self.center, varying, self.rho, every=every)

    def _fit_algorithm1(
        self, X: Any, Y: Any, candidates: np.ndarray, seed: int, progress: FitProgress
    ) -> None:
        """The paper's loop; the folds, where asked for, are runs of the same loop."""
        targets = Y.toarray() if sparse.issparse(Y) else Y
        folds = self._folds(Y, seed)
        label_parts = label_statistics(Y, folds)
        totals = sum_of(label_parts)
        labels = self._label_moments(totals, candidates)
        G = labels.G
        penalties = self._penalties(labels.unit)
        self.lambda2_ = self._given_lambda2()
        mean = np.where(self.center | ~candidates, labels.mean, 0.0)
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
            F = f.out_of_fold[:, landmarks]
            honest = self._honest(fold_statistics(F, Y, folds[0]), landmarks, weights)
            A_rows, centre = honest.recovery()
            scores = honest.scores(F, folds[0])
            A = np.zeros_like(G)
            A[landmarks], mixing = A_rows, weights[:, None] * A_rows
        E = f.moments.E
        self._keep(f, landmarks, landmarks, mixing, centre, mean)
        self.selection_ = B if self.full_selection else np.diag(B).copy()
        self.recovery_ = A if self.full_selection else A[landmarks]
        self.objective_ = pd.DataFrame(history)
        self.n_iter_ = len(history) - 1
        self._describe_labels(labels, E, penalties)
        if scores is None and f.out_of_fold is not None:
            scores = self._mix(f.out_of_fold[:, landmarks])
        fold = None if folds is None else folds[0]
        self._set_thresholds(Y, scores, totals, label_parts, fold)

    # Pieces of learning ----------------------------------------------------

    def _select_measured(
        self,
        f: Embedding,
        F: np.ndarray | None,
        source: Source,
        labels: LabelMoments,
        varying: np.ndarray,
    ) -> Solution:
        """Select with the lambda2 given, or with the one that the folds speak for."""
        E = f.moments.E if len(labels.candidates) else np.zeros(0)
        decided = self.lambda2 != "auto" or self.n_landmarks is not None or self.selection == "all"
        if decided or self.recovery == "labels" or F is None or source.fold is None:
            return self._select(labels, E, varying)
        # Statistics cannot tell the square of a prediction over the known rows of a label.
        by_rows = source.all_rows and not all(part.all_known for part in f.parts)
        shares = []
        for lambda2 in LAMBDA2_GRID:
            solution = self._select(labels, E, varying, lambda2, rough=True)
            landmarks = by_weight(solution.selection)
            if len(landmarks) == 0:
                shares.append(np.zeros(sum(part.n_rows > 0 for part in f.parts)))
                continue
            parts = [part.of_features(landmarks) for part in f.parts]
            honest = self._honest(parts, landmarks, solution.selection[landmarks])
            if by_rows:
                scores = honest.scores(F[:, landmarks], source.fold)
                shares.append(explained_by_fold(source.Y, scores, source.fold))
            else:
                shares.append(honest.explained())
        self.lambda2_ = LAMBDA2_GRID[sparsest_of_the_best(np.array(shares))]
        return self._select(labels, E, varying, self.lambda2_)

    def _select(
        self,
        labels: LabelMoments,
        E: np.ndarray,
        varying: np.ndarray,
        lambda2: float | None = None,
        rough: bool = False,
    ) -> Solution:
        """Select among the candidates; b and A of the solution are theirs."""
        G, support = labels.G, varying[labels.candidates]
        penalties = self._penalties(labels.unit, lambda2)
        budget = self._budget(labels.n_labels)
        if self.selection == "all":
            return Solution(support.astype(np.float64), np.eye(len(G)), [{"objective": np.nan}])
        if not support.any():
            return Solution(np.zeros(len(G)), np.zeros_like(G), [{"objective": 0.0}])
        if budget is not None:
            budget = min(budget, int(support.sum()))
        targets = labels.targets
        if rough and self.selection == "soft":
            return minimise(G, E, penalties, support=support, targets=targets, **ROUGH)
        select = select_soft if self.selection == "soft" else select_hard
        return select(G, E, penalties, n_landmarks=budget, support=support, targets=targets)

    def _given_lambda2(self) -> float:
        return LAMBDA2_UNMEASURED if self.lambda2 == "auto" else float(self.lambda2)

    def _penalties(self, unit: float, lambda2: float | None = None) -> Penalties:
        unit = unit if self.penalty_scale == "relative" and unit > 0 else 1.0
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
        repeats = self._n_repeats(n_rows)
        folds = np.empty((repeats, n_rows), dtype=np.intp)
        for r in range(repeats):
            splitter = MultilabelStratifiedKFold(
                min(self.cv, n_rows), shuffle=True, random_state=(seed + r) % 2**31
            )
            for k, (_, held) in enumerate(splitter.split(np.zeros((n_rows, 1)), Y)):
                folds[r, held] = k
        return folds

    def _n_repeats(self, n_rows: int) -> int:
        """How often the folds of networks are drawn."""
        if self.n_repeats != "auto":
            return int(self.n_repeats)
        return SMALL_DATA_REPEATS if n_rows <= SMALL_DATA_ROWS else 1

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
        f.forget()
        self.embedding_ = f
        self._landmarks = landmarks
        self.landmarks_ = self.label_format_.names_of(landmarks)
        self._mixing = mixing
        self.intercept_ = mean - centre @ mixing

    @property
    def landmark_weights_(self) -> np.ndarray:
        """B A, its rows of the landmarks: the weight of each landmark in the score of each label.

        Of shape (n_landmarks, n_labels), the landmarks in the order of ``landmarks_``.
        """
        return self._mixing

    @property
    def landmark_strengths_(self) -> np.ndarray:
        """The weight b of each landmark, in the order of ``landmarks_``.

        Where B was kept full, the norm of its row.
        """
        if self.selection_.ndim == 1:
            return self.selection_[self._landmarks]
        return np.linalg.norm(self.selection_[self._landmarks], axis=1)

    def _describe_labels(self, labels: LabelMoments, E: np.ndarray, penalties: Penalties) -> None:
        """Say of every label how predictable and how representative it is."""
        varies = labels.variance > 0
        divisor = np.where(varies, labels.variance, 1.0)
        self.predictability_ = np.where(varies, 1 - E / divisor, 0.0)
        total = max(float(labels.variance.sum()), np.finfo(float).tiny)
        self.representativeness_ = labels.explained / total
        # What `recover` needs: how landmarks move with all labels.
        self._label_mean = np.where(self.center | ~varies, labels.mean, 0.0)
        self._landmark_moments = np.where(varies, labels.rows(self._landmarks), 0.0)
        self._rho = max(penalties.rho, 1e-8 * max(labels.unit, 1e-300))

    def _set_thresholds(
        self,
        Y: Any,
        scores: np.ndarray | None,
        totals: Statistics,
        label_parts: Sequence[Statistics],
        fold: np.ndarray | None,
    ) -> None:
        """Tune thresholds on out-of-fold scores, for prediction and for recovery from labels."""
        self._slope = PLAIN_SLOPE
        if scores is None or not isinstance(self.threshold, str):
            value = 0.5 if isinstance(self.threshold, str) else float(self.threshold)
            self._set_threshold(GlobalThreshold(value))
            self._recovery_threshold: Any = GlobalThreshold(value)
            return
        self._set_threshold(fit_threshold(self.threshold, Y, scores))
        self._slope = probability_slope(Y, scores - self.offset_)
        self._recovery_threshold = self.threshold_
        hidden = np.setdiff1d(np.arange(scores.shape[1]), self._landmarks)
        if len(hidden) and len(self._landmarks) and fold is not None:
            recovered = self._recovered_out_of_fold(Y, totals, label_parts, fold)[:, hidden]
            threshold = fit_threshold(self.threshold, Y[:, hidden], recovered)
            if isinstance(threshold, GlobalThreshold):
                self._recovery_threshold = threshold

    def _recovered_out_of_fold(
        self,
        Y: Any,
        totals: Statistics,
        label_parts: Sequence[Statistics],
        fold: np.ndarray,
    ) -> np.ndarray:
        """All labels recovered from true landmark labels with moments of the other folds."""
        known = Y[:, self._landmarks]
        known = known.toarray() if sparse.issparse(known) else known
        scores = np.empty(Y.shape)
        for k in np.unique(fold):
            rows = fold == k
            others = totals.labels_only() - label_parts[k].labels_only()
            mean = others.label_mean if self.center else np.zeros(Y.shape[1])
            moments = moment_rows(others, self._landmarks, self.center)
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

    def estimate_cost(self, X: Any, Y: Any) -> Cost:
        """Say what ``fit`` will cost: memory and floating-point operations.

        Only shapes and settings are looked at; nothing is computed.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features), or that shape
            Features.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or that shape
            Labels.

        Returns
        -------
        cost : Cost
            Print it; :func:`splmll.landmarks.cost.check_memory` refuses what does not fit.

        Examples
        --------
        >>> from splmll import SPLMLL
        >>> cost = SPLMLL("linear").estimate_cost((10_000, 2**20), (10_000, 100))
        >>> cost.route
        'linear, iteratively'
        """
        self._check_parameters()
        return estimate_cost(self, X, Y)

    # Checks ----------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_parameters(self)

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
