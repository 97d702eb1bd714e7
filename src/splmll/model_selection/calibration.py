"""Calibrated probabilities for any classifier with scores.

Each label gets its own curve from score to probability, learnt from rows that the scoring model
was not trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.parallel import Parallel, delayed

from splmll.arrays import dense
from splmll.constraints import Choice
from splmll.docstrings import with_paragraphs
from splmll.model_selection._out_of_fold import MetaMultilabelClassifier, OutOfFoldScores
from splmll.scores import choose_method, scores_of
from splmll.thresholds import GlobalThreshold

# A label with fewer rows of either kind shares one curve with all labels together.
MIN_OF_EACH_KIND = 5


@with_paragraphs
class MultilabelCalibrator(MetaMultilabelClassifier):
    """Learn, label by label, how often a label is relevant at a given out-of-fold score.

    The curve of a label never decreases, so calibration preserves the order of rows within a label
    (up to ties). The order of labels within a row may change, for the better if the scores of
    different labels were not comparable.

    Parameters
    ----------
    estimator : classifier
        Any multi-label classifier with ``decision_function`` or ``predict_proba``.
        {inner_estimator}
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        A logistic curve (Platt, 1999; with his smoothed targets), or an increasing step function,
        which fits any shape but needs many rows.
    {cv}
    n_jobs : int or None, default=None
        Number of folds, then labels, to fit in parallel, as in joblib.
    {seed_of_folds}

    Attributes
    ----------
    estimator_ : classifier
        The inner classifier, fitted on all rows.
    curves_ : list
        For every label its curve, callable on an array of scores. Labels with fewer than 5 positive
        or 5 negative rows share one curve, learnt from all labels together. Scores of fold models
        for which the label had only one value are ignored.
    score_method_ : str
        The method of the inner classifier that gives the scores.

    Examples
    --------
    Naive Bayes is far too confident if features repeat each other:

    >>> import numpy as np
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from splmll.model_selection import MultilabelCalibrator
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(400, 2))
    >>> X = np.tile(hidden, 10) + 0.1 * rng.normal(size=(400, 20))
    >>> Y = (hidden + rng.normal(size=(400, 2)) > 0).astype(int)
    >>> bayes = OneVsRestClassifier(GaussianNB())
    >>> raw = bayes.fit(X[:200], Y[:200]).predict_proba(X[200:])
    >>> model = MultilabelCalibrator(bayes, random_state=0).fit(X[:200], Y[:200])
    >>> calibrated = model.predict_proba(X[200:])
    >>> bool(log_loss(Y[200:, 0], calibrated[:, 0]) < log_loss(Y[200:, 0], raw[:, 0]))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MetaMultilabelClassifier._parameter_constraints,
        "method": [Choice("sigmoid", "isotonic")],
    }

    curves_: list[Any]
    score_method_: str

    def __init__(
        self,
        estimator: Any,
        method: str = "sigmoid",
        *,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, Y: Any) -> None:
        self._fit_inner(X, Y)
        self.score_method_ = choose_method(self.estimator_, "decision_function", "predict_proba")
        found = self._out_of_fold(X, Y, self.score_method_)
        self.curves_ = _fit_curves(self.method, found, self.n_jobs)
        # More likely than not: exactly one half, frequent in step functions, is not.
        self._set_threshold(GlobalThreshold(float(np.nextafter(0.5, 1))))

    def _scores(self, X: Any) -> np.ndarray:
        raw = scores_of(self.estimator_, X, self.label_format_.n_labels, self.score_method_)
        return np.column_stack([curve(column) for curve, column in zip(self.curves_, raw.T)])

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return scores


@dataclass(frozen=True)
class SigmoidCurve:
    """The logistic curve ``1 / (1 + exp(-(slope * score + intercept)))``."""

    slope: float
    intercept: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities of the scores."""
        probabilities = expit(self.slope * scores + self.intercept)
        tiny = np.finfo(np.float64).eps  # far out, the curve rounds to 0 or 1
        return np.asarray(np.clip(probabilities, tiny, 1 - tiny))

    @classmethod
    def fit(cls, scores: np.ndarray, relevant: np.ndarray) -> SigmoidCurve:
        """Fit by maximum likelihood, with a slope that is not negative.

        Parameters
        ----------
        scores : ndarray of shape (n,)
            Scores.
        relevant : ndarray of shape (n,)
            Whether the label is relevant.
        """
        # Platt's targets: as if one more row of each kind had been seen. They keep the slope
        # finite where the score separates perfectly, and give an answer with a single class.
        positives = np.count_nonzero(relevant)
        high, low = (positives + 1) / (positives + 2), 1 / (len(relevant) - positives + 2)
        targets = np.where(relevant, high, low)
        centre, scale = scores.mean(), scores.std()
        standard = (scores - centre) / (scale if scale > 0 else 1.0)

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            linear = parameters[0] * standard + parameters[1]
            value = -np.mean(targets * log_expit(linear) + (1 - targets) * log_expit(-linear))
            wrong = expit(linear) - targets
            return float(value), np.array([np.mean(wrong * standard), np.mean(wrong)])

        share = targets.mean()
        start = np.array([1.0, np.log(share / (1 - share))])
        found = minimize(
            loss,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None), (None, None)],
            options={"gtol": 1e-8, "ftol": 1e-14},
        ).x
        slope = found[0] / (scale if scale > 0 else 1.0)
        return cls(float(slope), float(found[1] - slope * centre))


@dataclass(frozen=True, eq=False)
class IsotonicCurve:
    """An increasing curve through the means of groups of neighbouring scores."""

    regression: IsotonicRegression
    margin: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities of the scores."""
        return np.clip(self.regression.predict(scores), self.margin, 1 - self.margin)

    @classmethod
    def fit(cls, scores: np.ndarray, relevant: np.ndarray) -> IsotonicCurve:
        """Fit by least squares.

        Parameters
        ----------
        scores : ndarray of shape (n,)
            Scores.
        relevant : ndarray of shape (n,)
            Whether the label is relevant.
        """
        regression = IsotonicRegression(out_of_bounds="clip").fit(scores, relevant)
        # After n rows without one exception the next is one with a chance of about 1 / (n + 2).
        return cls(regression, 1 / (len(relevant) + 2))


def _fit_curves(method: str, found: OutOfFoldScores, n_jobs: int | None) -> list[Any]:
    curve: Any = SigmoidCurve if method == "sigmoid" else IsotonicCurve
    labels, scores = found.labels, found.scores
    values = dense(labels)
    known, relevant = ~np.isnan(values), values == 1
    # Scores of models that had not seen the label say nothing, unless none of them had: then they
    # are what new rows will get as well.
    uninformed = ~found.informed.any(axis=0) & known.any(axis=0)
    usable = known & (found.informed | uninformed)
    positives = np.count_nonzero(relevant & usable, axis=0)
    rare = np.minimum(positives, np.count_nonzero(usable, axis=0) - positives) < MIN_OF_EACH_KIND
    rare &= ~uninformed
    together = usable & ~uninformed
    shared = None
    if rare.any():
        cells = together if together.any() else known
        shared = curve.fit(scores[cells], relevant[cells])
    own = iter(
        Parallel(n_jobs=n_jobs)(
            delayed(curve.fit)(scores[usable[:, j], j], relevant[usable[:, j], j])
            for j in np.flatnonzero(~rare)
        )
    )
    return [shared if is_rare else next(own) for is_rare in rare]
