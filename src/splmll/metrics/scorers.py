"""The measures as scikit-learn scorers, for ``GridSearchCV(scoring=...)`` and similar tools.

They read an estimator's scores label by label, because the general scorers of scikit-learn take
an estimator with two labels for a binary one and a constant label's only column for class 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from splmll.metrics.registry import MEASURES, Measure
from splmll.scores import choose_method, scores_of


@dataclass(frozen=True)
class MeasureScorer:
    """A callable ``scorer(estimator, X, y)`` whose value is larger for a better estimator.

    Measures that are better when smaller come with a minus sign, as in scikit-learn's
    ``make_scorer(..., greater_is_better=False)``.

    Parameters
    ----------
    measure : Measure
        What is measured.
    options : mapping, optional
        Keyword arguments for the measure, such as ``{"ties": "half"}``.

    Examples
    --------
    A search by ranking loss, which needs scores and not predictions:

    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from splmll.metrics import SCORERS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> Y = (X + rng.normal(scale=0.1, size=X.shape) > 0).astype(int)
    >>> search = GridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, scoring=SCORERS["ranking_loss"], cv=3
    ... ).fit(X, Y)
    >>> search.best_params_
    {'n_neighbors': 5}
    >>> bool(search.best_score_ < 0)
    True

    Another tie rule needs another scorer:

    >>> from splmll.metrics import MEASURES, MeasureScorer
    >>> MeasureScorer(MEASURES["ranking_loss"], {"ties": "half"})
    MeasureScorer('ranking_loss', ties='half')
    """

    measure: Measure
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [name for name in self.options if name not in self.measure.options]
        if unknown:
            known = ", ".join(self.measure.options) or "none"
            raise ValueError(
                f"{self.measure.name} has no option {unknown[0]!r}; its options are: {known}."
            )

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the signed measure of ``estimator`` on ``X`` and ``y``."""
        Y_true = _as_matrix(y)
        if self.measure.needs == "scores":
            judged = label_scores(estimator, X, Y_true.shape[1])
        else:
            judged = _as_matrix(estimator.predict(X))
        value = self.measure.function(Y_true, judged, **self.options)
        return value if self.measure.greater_is_better else -value

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"MeasureScorer({self.measure.name!r}{options})"


#: A scorer for every measure by name.
SCORERS: Mapping[str, MeasureScorer] = MappingProxyType(
    {name: MeasureScorer(measure) for name, measure in MEASURES.items()}
)


def label_scores(estimator: Any, X: Any, n_labels: int) -> npt.NDArray[Any]:
    """Return the scores of a fitted estimator as an array of shape (n_rows, n_labels).

    Takes ``decision_function`` where the estimator has one and ``predict_proba`` otherwise. A list
    with one array of class probabilities per label, as trees and neighbours return it, becomes
    the probability of class 1, which is 0 for a label that was never 1 in training.

    Parameters
    ----------
    estimator : estimator
        Fitted multi-label classifier.
    X : array, sparse matrix or DataFrame
        What it predicts from.
    n_labels : int
        Number of labels it was fitted on.

    Returns
    -------
    ndarray of shape (n_rows, n_labels)
        Scores, larger for labels that are more likely to be relevant.

    Examples
    --------
    The second label is never 1, so the tree returns a single column for it:

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from splmll.metrics import label_scores
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [[0, 0], [1, 0]])
    >>> [p.shape[1] for p in tree.predict_proba([[1.0]])]
    [2, 1]
    >>> label_scores(tree, [[1.0]], n_labels=2)
    array([[1., 0.]])
    """
    method = choose_method(estimator, "decision_function", "predict_proba")
    return scores_of(estimator, X, n_labels, method)


def _as_matrix(labels: Any) -> Any:
    """Turn the one-dimensional labels of a binary problem into a column."""
    if sparse.issparse(labels) or isinstance(labels, pd.DataFrame):
        return labels
    array = np.asarray(labels)
    return array.reshape(-1, 1) if array.ndim == 1 else array
