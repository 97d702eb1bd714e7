"""Encode the labels, regress the codes, decode: what label-space reduction methods share.

:class:`CodeClassifier` is the pattern, :class:`LabelSpace` the base of encoders that are
transformers in their own right, and :class:`LabelSpaceClassifier` joins the two.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from splmll.arrays import dense
from splmll.constraints import COUNT, POSITIVE, REGRESSOR, SHARE, CheckedParameters
from splmll.methods._own_rule import fit_own_rule
from splmll.methods._ridge import LinearMap, RidgeSystem, column_means, ridge_system
from splmll.methods._row_weights import WeightedRowsClassifier
from splmll.sample_weights import weighed, weight_arguments
from splmll.thresholds import THRESHOLD_CONSTRAINT

#: A number of codes, or their share of the labels; a row of ``_parameter_constraints``.
CODES_CONSTRAINT: list[Any] = [COUNT, SHARE]


class CodeClassifier(WeightedRowsClassifier):
    """Base of methods that regress a few codes and turn them into scores of all labels.

    A subclass writes ``_encode(Y, system, sample_weight)``, which returns codes of shape
    (n_rows, n_codes), and ``_decode(codes)``; and says in ``_encoder_needs_ridge`` whether its
    codes depend on the features through the ridge regression ``system``. A label with one value in
    the training rows gets that value as its score.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "regressor": [REGRESSOR, None],
        "ridge": [POSITIVE],
        "threshold": THRESHOLD_CONSTRAINT,
    }

    regressor: Any
    ridge: float
    threshold: float | str

    regressor_: Any
    label_mean_: np.ndarray

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold, sample_weight=sample_weight))
        self.label_mean_ = column_means(Y, sample_weight)
        # Rounding must not hide a label that all rows have.
        self.label_mean_[column_means(Y) == 1] = 1.0
        system = None
        if self.regressor is None or self._encoder_needs_ridge():
            system = ridge_system(X, self.ridge, sample_weight)
        codes = self._encode(Y, system, sample_weight)
        if codes.shape[1] == 0:
            self.regressor_ = LinearMap(np.zeros((0, X.shape[1])), np.zeros(0))
        elif self.regressor is None:
            assert system is not None
            self.regressor_ = system.solve(codes)
        else:
            self.regressor_ = fit_regressor(self.regressor, X, codes, sample_weight)

    def _scores(self, X: Any) -> np.ndarray:
        predicted = np.asarray(self.regressor_.predict(X), dtype=np.float64)
        scores = self._decode(predicted.reshape(X.shape[0], -1))
        constant = (self.label_mean_ == 0) | (self.label_mean_ == 1)
        scores[:, constant] = self.label_mean_[constant]
        return scores

    def _encode(self, Y: Any, system: RidgeSystem | None, sample_weight: np.ndarray | None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must write _encode")

    def _decode(self, codes: np.ndarray) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} must write _decode")

    def _encoder_needs_ridge(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.regressor is not None:
            tags.input_tags.sparse = get_tags(self.regressor).input_tags.sparse
            tags.non_deterministic = get_tags(self.regressor).non_deterministic
        return tags


class LabelSpace(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CheckedParameters):
    """Base of encoders: labels to a few codes, and codes to real scores of all labels.

    The labels stand where other transformers have the features, and the features, for encoders
    that look at them, stand where those have the target: call ``fit(Y, X)``. The second argument is
    named y because scikit-learn's tools pass it by that name. A subclass writes
    ``_learn(Y, system, sample_weight)``, which sets ``components_`` and ``label_mean_`` and returns
    the codes.
    """

    uses_features: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {"n_components": CODES_CONSTRAINT}

    n_components: int | float
    components_: np.ndarray
    label_mean_: np.ndarray

    def fit(self, Y: Any, y: Any = None) -> Any:
        """Learn the encoding.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_rows, n_labels)
            Labels; any finite numbers.
        y : array-like or sparse matrix of shape (n_rows, n_features)
            The features X, which an encoding by the labels alone ignores.

        Returns
        -------
        self : object
            The fitted encoder.
        """
        self.fit_transform(Y, y)
        return self

    def fit_transform(self, Y: Any, y: Any = None) -> np.ndarray:
        """Learn the encoding and return the codes of the training rows.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_rows, n_labels)
            Labels; any finite numbers.
        y : array-like or sparse matrix of shape (n_rows, n_features)
            The features X, which an encoding by the labels alone ignores.

        Returns
        -------
        codes : ndarray of shape (n_rows, n_components)
            What a regressor has to learn.
        """
        self._validate_params()
        Y = self._check_labels(Y, reset=True)
        return self._learn(Y, self._ridge_system(Y, y) if self.uses_features else None, None)

    def transform(self, Y: Any) -> np.ndarray:
        """Return the codes of labels.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_rows, n_labels)
            Labels.

        Returns
        -------
        codes : ndarray of shape (n_rows, n_components)
            Their codes.
        """
        check_is_fitted(self)
        return self._project(self._check_labels(Y, reset=False))

    def inverse_transform(self, codes: Any) -> np.ndarray:
        """Return the scores of all labels that belong to codes.

        Parameters
        ----------
        codes : array-like of shape (n_rows, n_components)
            Codes, usually predicted ones.

        Returns
        -------
        scores : ndarray of shape (n_rows, n_labels)
            Real numbers on the scale of the labels.
        """
        check_is_fitted(self)
        codes = check_array(codes, dtype=np.float64)
        if codes.shape[1] != len(self.components_):
            raise ValueError(
                f"Codes with {codes.shape[1]} columns, but this encoder has "
                f"{len(self.components_)} components: pass one column for each of them."
            )
        return codes @ self.components_ + self.label_mean_

    def fit_codes(
        self, Y: Any, system: RidgeSystem | None, sample_weight: np.ndarray | None
    ) -> np.ndarray:
        """Fit as ``fit_transform`` does, with factorised features and weighted rows."""
        return self._learn(self._check_labels(Y, reset=True), system, sample_weight)

    def _learn(
        self, Y: Any, system: RidgeSystem | None, sample_weight: np.ndarray | None
    ) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} must write _learn")

    def _project(self, Y: Any) -> np.ndarray:
        return np.asarray(Y @ self.components_.T - self.label_mean_ @ self.components_.T)

    def _check_labels(self, Y: Any, reset: bool) -> Any:
        Y = validate_data(self, Y, accept_sparse="csr", dtype=np.float64, reset=reset)
        return sparse.csr_array(Y) if sparse.issparse(Y) else Y

    def _ridge_system(self, Y: Any, X: Any) -> RidgeSystem:
        if X is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: the "
                "features are its second argument, fit(Y, X)."
            )
        X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_2d=False, input_name="X")
        X = X.reshape(-1, 1) if X.ndim == 1 else X
        check_consistent_length(Y, X)
        return ridge_system(X, self.ridge)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.uses_features
        return tags


class LabelSpaceClassifier(CodeClassifier):
    """Base of methods that consist of an encoder and a regressor of its codes.

    A subclass writes ``_make_encoder``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CodeClassifier._parameter_constraints,
        "n_components": CODES_CONSTRAINT,
    }

    encoder_: LabelSpace

    def _encode(
        self, Y: Any, system: RidgeSystem | None, sample_weight: np.ndarray | None
    ) -> np.ndarray:
        self.encoder_ = self._make_encoder()
        return self.encoder_.fit_codes(Y, system, sample_weight)

    def _decode(self, codes: np.ndarray) -> np.ndarray:
        return self.encoder_.inverse_transform(codes)

    def _encoder_needs_ridge(self) -> bool:
        return self._make_encoder().uses_features

    def _make_encoder(self) -> LabelSpace:
        raise NotImplementedError(f"{type(self).__name__} must write _make_encoder")


def fit_regressor(
    regressor: Any, X: Any, codes: Any, sample_weight: np.ndarray | None = None
) -> Any:
    """Return a clone of a regressor fitted on codes; one output at a time where it must be.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import LinearSVR
    >>> from splmll.methods._label_embedding import fit_regressor
    >>> fit_regressor(LinearSVR(), np.eye(3), np.eye(3)[:, :2]).predict(np.eye(3)).shape
    (3, 2)
    """
    codes = dense(codes)
    model = clone(regressor)
    weights = weight_arguments(model, sample_weight)
    if codes.shape[1] == 1:
        return model.fit(X, codes[:, 0], **weights)
    if not get_tags(model).target_tags.multi_output:
        model = MultiOutputRegressor(model)
    return model.fit(X, codes, **weights)


def count_of(value: Any, n_labels: int, name: str) -> int:
    """Return a number of codes given as a count or as a share of the labels.

    Parameters
    ----------
    value : int or float
        A count from 1 to ``n_labels``, or a share above 0 and up to 1.0.
    n_labels : int
        Number of labels.
    name : str
        What the caller calls it, for the message.

    Returns
    -------
    count : int
        At least 1.

    Examples
    --------
    >>> from splmll.methods._label_embedding import count_of
    >>> count_of(0.5, 14, "n_components"), count_of(1.0, 14, "n_components")
    (7, 14)
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        count = int(value)
    elif isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) <= 1:
        count = max(1, round(float(value) * n_labels))
    else:
        count = 0
    if not 1 <= count <= n_labels:
        raise ValueError(
            f"{name}={value!r} does not fit {n_labels} labels: give an integer from 1 to "
            f"{n_labels}, or a share of the labels above 0 and up to 1.0."
        )
    return count


def label_gram(Y: Any, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Return Y'Y as an array, from an array or a sparse matrix, with rows weighted.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._label_embedding import label_gram
    >>> label_gram(np.array([[1.0, 1.0], [1.0, 0.0]]))
    array([[2., 1.],
           [1., 1.]])
    """
    return dense(Y.T @ weighed(Y, sample_weight))


def top_eigenvectors(matrix: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of a symmetric matrix, largest first, and their vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._label_embedding import top_eigenvectors
    >>> top_eigenvectors(np.diag([1.0, 3.0, 2.0]), 2)[0]
    array([3., 2.])
    """
    size = len(matrix)
    values, vectors = linalg.eigh(
        (matrix + matrix.T) / 2, subset_by_index=[size - count, size - 1], check_finite=False
    )
    return values[::-1], vectors[:, ::-1]


def with_fixed_signs(rows: np.ndarray) -> np.ndarray:
    """Return for every row the sign, 1 or -1, that makes its largest entry positive.

    Eigenvectors come with either sign; a fixed one makes codes comparable from fit to fit.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._label_embedding import with_fixed_signs
    >>> with_fixed_signs(np.array([[1.0, -3.0], [2.0, 0.0]]))
    array([-1.,  1.])
    """
    largest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    return np.where(largest < 0, -1.0, 1.0)
