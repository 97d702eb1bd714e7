"""The contract of every estimator in the library, written once.

:class:`MultilabelClassifier` checks the input, remembers names and forms, and turns scores
into probabilities and labels. A method only writes ``_fit(X, Y)`` and ``_scores(X)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from splmll.constraints import CheckedParameters
from splmll.docstrings import with_paragraphs
from splmll.labels import LabelFormat, read_labels
from splmll.thresholds import Threshold


@dataclass(frozen=True)
class Capabilities:
    """What an estimator can do and what it costs: tests and tables read it.

    Attributes
    ----------
    sparse_features : bool
        Sparse X is accepted.
    sparse_labels : bool
        Sparse Y is used as it is. Without it, sparse Y is accepted and made dense.
    unknown_labels : bool
        NaN in Y means "not known".
    probabilities : bool
        ``predict_proba`` estimates probabilities. Without it, it squashes scores into (0, 1).
    ranking_only : bool
        Scores have no natural cut, so a threshold is always tuned.
    landmarks : bool
        It explains and recovers labels by landmarks: ``explain``, ``recover``, ``complete``.
    sample_weight : bool
        ``fit`` takes weights of the rows, where the base learner does.
    cost : str
        How the cost of one fit grows.

    Examples
    --------
    >>> from splmll.methods import MLkNN
    >>> MLkNN.capabilities.sparse_labels
    True
    """

    sparse_features: bool = True
    sparse_labels: bool = False
    unknown_labels: bool = False
    probabilities: bool = False
    ranking_only: bool = False
    landmarks: bool = False
    sample_weight: bool = False
    cost: str = ""


def has_landmarks(estimator: Any) -> bool:
    """Return whether an estimator explains and recovers labels by landmarks: the one test of it.

    Examples
    --------
    >>> from splmll import SPLMLL, PublishedSPLMLL
    >>> from splmll.base import has_landmarks
    >>> has_landmarks(SPLMLL()), has_landmarks(PublishedSPLMLL())
    (True, False)
    """
    return isinstance(estimator, MultilabelClassifier) and estimator.capabilities.landmarks


@with_paragraphs
class MultilabelClassifier(ClassifierMixin, CheckedParameters):
    """Base of all classifiers: scikit-learn's API for label matrices.

    What a subclass writes:

    - ``_fit(X, Y)``: learn from a checked float matrix X (array or CSR) and a checked 0/1 matrix Y
      (float64; CSR only with the capability ``sparse_labels``, NaN only with ``unknown_labels``);
    - ``_scores(X)``: real scores of shape (n, n_labels), larger means more relevant;
    - ``_probabilities(scores)`` and ``_labels(X)`` where the defaults below are not what the
      method does;
    - ``capabilities``: what it can do;
    - ``_parameter_constraints``: what each parameter may be, checked before every fit.

    What every caller gets: ``decision_function`` and ``predict_proba`` of shape (n, n_labels),
    ``predict`` in the form in which the labels were given. A vector ``y`` is a problem with one
    label: ``predict`` returns its two values, ``predict_proba`` has two columns and
    ``decision_function`` one dimension. There scikit-learn expects the likelier value to be the
    predicted one, so a tuned threshold moves the probabilities with it.

    ``decision_function`` is the score measured from one zero point ``offset_``, so that with a
    single threshold it is positive exactly where a label is predicted, as scikit-learn demands.
    One constant for all labels leaves every ranking as it was.
    """

    capabilities: ClassVar[Capabilities] = Capabilities()

    label_format_: LabelFormat
    threshold_: Threshold
    thresholds_: np.ndarray
    offset_: float

    def fit(self, X: Any, Y: Any) -> Any:
        """Learn from features and labels.

        Parameters
        ----------
        {X}
        {Y}

        Returns
        -------
        {fitted_self}
        """
        X, Y = self._check_fit(X, Y)
        self._fit(X, Y)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return real scores, larger for more relevant labels.

        Parameters
        ----------
        {X}

        Returns
        -------
        scores : ndarray of shape (n_rows, n_labels)
            Measured from ``offset_``. For a vector ``y`` of shape (n_rows,).
        """
        # A Python float would be rounded to the precision of float32 scores.
        decision = self._checked_scores(X) - np.float64(self.offset_)
        return decision[:, 0] if self.label_format_.kind == "vector" else decision

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each label.

        Parameters
        ----------
        {X}

        Returns
        -------
        {probabilities}
        """
        probabilities = self._probabilities(self._checked_scores(X))
        if self.label_format_.kind == "vector":
            if len(self.label_format_.classes) == 1:
                return np.ones((len(probabilities), 1))
            cut = float(self._probabilities(self.thresholds_[None, :1])[0, 0])
            positive = through_one_half(probabilities[:, 0], cut)
            return np.column_stack([1 - positive, positive])
        return probabilities

    def predict(self, X: Any) -> Any:
        """Return the predicted labels.

        Parameters
        ----------
        {X}

        Returns
        -------
        labels : ndarray, CSR array or DataFrame of shape (n_rows, n_labels)
            0/1 labels in the form in which ``fit`` received them.
        """
        check_is_fitted(self)
        labels = self._labels(self._check_features(X, reset=False))
        index = X.index if isinstance(X, pd.DataFrame) else None
        return self.label_format_.restore(labels, index)

    def predict_with_probabilities(self, X: Any) -> tuple[Any, np.ndarray]:
        """Return labels and probabilities, for which the rows are scored once.

        Parameters
        ----------
        {X}

        Returns
        -------
        labels : ndarray, CSR array or DataFrame of shape (n_rows, n_labels)
            What ``predict`` returns.
        probabilities : ndarray of shape (n_rows, n_labels)
            What ``predict_proba`` returns.
        """
        # Methods that find labels in another way than by scores and threshold have to look twice.
        by_scores = type(self)._labels is MultilabelClassifier._labels
        plain = type(self).predict_proba is MultilabelClassifier.predict_proba
        if not (by_scores and plain) or self.label_format_.kind == "vector":
            return self.predict(X), self.predict_proba(X)
        scores = self._checked_scores(X)
        index = X.index if isinstance(X, pd.DataFrame) else None
        labels = self.label_format_.restore(self.threshold_.apply(scores), index)
        return labels, self._probabilities(scores)

    # What subclasses write or replace ------------------------------------------------------

    def _fit(self, X: Any, Y: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} must write _fit")

    def _scores(self, X: Any) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} must write _scores")

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        # Scores regressed on 0/1 labels: a logistic curve through (1/2, 1/2) with slope 1 stays
        # close to them around the decision and keeps the order of scores outside [0, 1].
        return np.asarray(expit(4.0 * (scores - 0.5)))

    def _labels(self, X: Any) -> np.ndarray:
        return self.threshold_.apply(self._scores(X))

    def _set_threshold(self, threshold: Threshold) -> None:
        self.threshold_ = threshold
        self.thresholds_ = threshold.per_label(self.label_format_.n_labels)
        # One float below: a score equal to the threshold is predicted, so it must be positive.
        self.offset_ = float(np.nextafter(threshold.offset, -np.inf))

    # Checks ----------------------------------------------------------------------------------

    def _check_features(self, X: Any, reset: bool) -> Any:
        accept_sparse: Any = "csr" if self.capabilities.sparse_features else False
        X = validate_data(
            self, X, accept_sparse=accept_sparse, dtype=[np.float64, np.float32], reset=reset
        )
        if not sparse.issparse(X):
            return X
        X = sparse.csr_array(X)
        if X.indices.dtype == np.int64 and max(*X.shape, X.nnz) < np.iinfo(np.int32).max:
            # Trees and others refuse wide indices; these fit into narrow ones.
            narrow = X.indices.astype(np.int32), X.indptr.astype(np.int32)
            X = sparse.csr_array((X.data, *narrow), shape=X.shape)
        if not X.has_canonical_format:
            # Norms and scalers would take the parts of a cell stored twice for two cells. The copy
            # is tidied: the caller's matrix stays as it is.
            X = X.copy()
            X.sum_duplicates()
        return X

    def _check_fit(self, X: Any, Y: Any) -> tuple[Any, Any]:
        self._validate_params()
        labels, label_format = read_labels(
            Y,
            allow_unknown=self.capabilities.unknown_labels,
            accept_sparse=self.capabilities.sparse_labels,
        )
        X = self._check_features(X, reset=True)
        check_consistent_length(X, labels)
        self._remember(label_format)
        return X, labels

    def _remember(self, label_format: LabelFormat) -> None:
        self.label_format_ = label_format
        if label_format.kind == "vector":
            self.classes_: Any = label_format.classes
        else:
            self.classes_ = np.arange(label_format.n_labels)
        if label_format.names is not None:
            self.label_names_in_ = label_format.names
        elif hasattr(self, "label_names_in_"):
            del self.label_names_in_

    def _checked_scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._scores(self._check_features(X, reset=False))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.target_tags.required = True
        tags.input_tags.sparse = self.capabilities.sparse_features
        return tags


def through_one_half(probabilities: np.ndarray, cut: float) -> np.ndarray:
    """Bend probabilities so that the cut becomes 1/2; 0, 1 and the order stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.base import through_one_half
    >>> through_one_half(np.array([0.0, 0.1, 0.2, 0.6, 1.0]), cut=0.2)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    if not 0 < cut < 1:
        return probabilities
    below = 0.5 * probabilities / cut
    above = 1 - 0.5 * (1 - probabilities) / (1 - cut)
    return np.where(probabilities < cut, below, above)
