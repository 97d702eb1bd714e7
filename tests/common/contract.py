"""The contract of every estimator of the library, as checks that take one instance.

Each check fits clones of the instance on small data and fails with an AssertionError. They stand
beside scikit-learn's own checks, which know little of label matrices. A check of what the base
class does for everybody, marked ``shared_code``, takes one estimator for each way through it.
That nothing the caller passed is modified is checked at every fit.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from catalogue import label_order_matters, may_give_up_labels
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from splmll.base import MultilabelClassifier
from splmll.thresholds import GlobalThreshold

N_ROWS, N_FEATURES, N_LABELS = 60, 8, 4
LABEL_NAMES = ["amber", "birch", "cedar", "dune"]

# The same problem stored or ordered differently is solved with other roundings, and by an
# iterative solver from other steps. A different problem differs by far more.
TOLERANCE = 2e-3

Check = Callable[[Any], None]


SHARED: set[Check] = set()


def shared_code(check: Check) -> Check:
    """Mark a check of code that the base class runs before ``_fit`` and ``_scores``, or after."""
    SHARED.add(check)
    return check


def way_through_the_base_class(estimator: Any) -> tuple[Any, ...]:
    """What of the shared code an estimator runs; it changes when a class replaces a part."""
    replaceable = ("fit", "predict", "predict_proba", "decision_function", "_checked_scores")
    replaceable += ("_check_fit", "_check_features", "_remember", "_set_threshold")
    can = estimator.capabilities
    flags = can.sparse_features, can.sparse_labels, can.unknown_labels
    return (*(getattr(type(estimator), name) for name in replaceable), *flags)


def checks_to_run(estimators: list[Any]) -> list[tuple[Any, Check]]:
    """Pair every estimator with every check that it can fail for a reason of its own."""
    pairs = []
    seen: set[tuple[Any, ...]] = set()
    for estimator in estimators:
        way = way_through_the_base_class(estimator)
        pairs += [(estimator, check) for check in CHECKS if way not in seen or check not in SHARED]
        seen.add(way)
    return pairs


def make_problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features with zeros (so that sparse storage means something) and labels that need them.

    A third of the cells of X is zero, some rows have no label, and every label has both values.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) + 0.5
    X[rng.random(X.shape) < 1 / 3] = 0.0
    weights = rng.normal(size=(N_FEATURES, N_LABELS))
    signal = X @ weights
    Y = (signal > np.quantile(signal, [0.4, 0.5, 0.6, 0.8], axis=0).diagonal()).astype(int)
    Y[:3] = 0
    return X, Y


def fresh(estimator: Any, **parameters: Any) -> Any:
    """A clone, with a fixed seed where it has one."""
    copy = clone(estimator)
    if "random_state" in copy.get_params(deep=False):
        copy.set_params(random_state=0)
    return copy.set_params(**parameters)


def learned(estimator: Any, X: Any, Y: Any, **parameters: Any) -> Any:
    """A clone fitted on X and Y, which it leaves as they were."""
    before = _bytes_of(X), _bytes_of(Y)
    model = fresh(estimator, **parameters).fit(X, Y)
    assert (_bytes_of(X), _bytes_of(Y)) == before
    return model


_FITTED: dict[int, tuple[Any, Any]] = {}


def fitted(estimator: Any) -> Any:
    """A model of the small problem that checks share; they only ask it for its outputs."""
    if id(estimator) not in _FITTED:
        # The estimator is held as well: no other can get its id.
        _FITTED[id(estimator)] = estimator, learned(estimator, *make_problem())
    return _FITTED[id(estimator)][1]


def without_scaling(estimator: Any, X: np.ndarray, *others: np.ndarray) -> tuple[Any, ...]:
    """Set what depends on how features are stored, and standardise dense ones beforehand."""
    own = estimator.get_params()
    changes: dict[str, Any] = {
        name: None for name in ("scale", "regressor__scale") if own.get(name) == "auto"
    }
    if own.get("estimator", "no such parameter") is None:
        changes["estimator"] = LogisticRegression(max_iter=1000)
    if own.get("voting") == "auto":
        changes["voting"] = "weighed"
    scaler = StandardScaler().fit(X)
    return clone(estimator).set_params(**changes), *(scaler.transform(x) for x in (X, *others))


def dense(labels: Any) -> np.ndarray:
    return labels.toarray() if sparse.issparse(labels) else np.asarray(labels)


def assert_same_outputs(one: Any, other: Any, X: Any, X_other: Any = None, atol: float = 0) -> None:
    """Both give the same scores, probabilities and labels; ``atol`` 0 asks for equal bits.

    With a tolerance, scores within it of a cut may fall on either side. The rows are left alone.
    """
    X_other = X if X_other is None else X_other
    before = _bytes_of(X), _bytes_of(X_other)
    scores = one.decision_function(X)
    assert_allclose(other.decision_function(X_other), scores, rtol=0, atol=atol)
    assert_allclose(other.predict_proba(X_other), one.predict_proba(X), rtol=0, atol=atol)
    changed = dense(one.predict(X)) != dense(other.predict(X_other))
    assert (_bytes_of(X), _bytes_of(X_other)) == before
    assert changed.mean() <= (0.05 if atol else 0)


# Outputs ---------------------------------------------------------------------------------------


def check_outputs_have_one_column_per_label(estimator: Any) -> None:
    X, _ = make_problem()
    model = fitted(estimator)
    for method in ("decision_function", "predict_proba"):
        output = getattr(model, method)(X[:7])
        assert type(output) is np.ndarray
        assert output.shape == (7, N_LABELS)
        assert output.dtype.kind == "f"
        assert np.isfinite(output).all()
    assert model.predict(X[:7]).shape == (7, N_LABELS)
    assert set(np.unique(model.predict(X))) <= {0, 1}
    assert model.thresholds_.shape == (N_LABELS,)


def check_probabilities_lie_between_0_and_1(estimator: Any) -> None:
    X, _ = make_problem()
    # Rows far from all that was seen push scores out of their usual range.
    X_far = np.vstack([X, 100 * X, -100 * X])
    probabilities = fitted(estimator).predict_proba(X_far)
    assert probabilities.min() >= 0
    assert probabilities.max() <= 1


def check_probabilities_keep_the_order_of_the_scores(estimator: Any) -> None:
    X, _ = make_problem()
    model = fitted(estimator)
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    for label in labels_with_scores(estimator, scores):
        by_score = np.argsort(scores[:, label])
        steps = np.diff(probabilities[by_score, label])
        # Equal scores come in any order, equal up to rounding.
        assert steps.min() >= -1e-12
        assert steps.max() > 0


def check_positive_decision_is_prediction(estimator: Any) -> None:
    X, _ = make_problem()
    model = fitted(estimator)
    if isinstance(model.threshold_, GlobalThreshold):
        assert_array_equal(model.decision_function(X) >= 0, model.predict(X) == 1)
        assert_allclose(model.thresholds_, model.offset_, atol=1e-300)


def check_learns_something(estimator: Any) -> None:
    X, Y = make_problem()
    scores = fitted(estimator).decision_function(X)
    for label in labels_with_scores(estimator, scores):
        positive = Y[:, label] == 1
        assert scores[positive, label].mean() > scores[~positive, label].mean()


def labels_with_scores(estimator: Any, scores: np.ndarray) -> list[int]:
    """All labels, but for those that a method gives up by definition; at least one."""
    labels = list(range(N_LABELS))
    if may_give_up_labels(estimator):
        labels = [label for label in labels if np.ptp(scores[:, label]) > 0]
    assert labels
    return labels


# Forms of Y ------------------------------------------------------------------------------------


@shared_code
def check_predicts_in_the_type_of_Y(estimator: Any) -> None:
    X, Y = make_problem()
    expected = fitted(estimator).predict(X)
    for dtype in (bool, np.int8, np.float32):
        from_array = learned(estimator, X, Y.astype(dtype)).predict(X)
        assert type(from_array) is np.ndarray
        assert from_array.dtype == dtype
        assert_array_equal(from_array, expected.astype(dtype))

        from_sparse = learned(estimator, X, sparse.csr_array(Y.astype(dtype))).predict(X)
        assert sparse.issparse(from_sparse)
        assert from_sparse.format == "csr"
        assert from_sparse.dtype == dtype
        assert_array_equal(from_sparse.toarray(), expected.astype(dtype))


@shared_code
def check_labels_as_frame_come_back_as_frame(estimator: Any) -> None:
    X, Y = make_problem()
    expected = fitted(estimator).predict(X)
    index = [f"row {i}" for i in range(N_ROWS)]
    frame = pd.DataFrame(Y.astype(np.int8), columns=LABEL_NAMES, index=index)
    features = pd.DataFrame(X, columns=[f"f{i}" for i in range(N_FEATURES)], index=index)
    model = learned(estimator, features, frame)
    predicted = pickle.loads(pickle.dumps(model)).predict(features[10:30])
    assert isinstance(predicted, pd.DataFrame)
    assert list(predicted.columns) == LABEL_NAMES
    assert list(predicted.index) == index[10:30]
    assert (predicted.dtypes == np.int8).all()
    assert_array_equal(predicted.to_numpy(), expected[10:30])


@shared_code
def check_polars_in_polars_out(estimator: Any) -> None:
    X, Y = make_problem()
    expected = fitted(estimator)
    names = [f"f{i}" for i in range(N_FEATURES)]
    features = pl.DataFrame(X, schema=names)
    model = fresh(estimator).fit(features, pl.DataFrame(Y.astype(np.int8), schema=LABEL_NAMES))
    assert list(model.feature_names_in_) == names
    assert list(model.label_names_in_) == LABEL_NAMES
    predicted = model.predict(features[10:30])
    assert isinstance(predicted, pl.DataFrame)
    assert predicted.columns == LABEL_NAMES
    assert set(predicted.dtypes) == {pl.Int8}
    assert_array_equal(predicted.to_numpy(), expected.predict(X)[10:30])
    assert_allclose(model.decision_function(features), expected.decision_function(X), atol=1e-9)


@shared_code
def check_tags_come_back_as_tags(estimator: Any) -> None:
    X, Y = make_problem()
    tags = [[name for name, has in zip(LABEL_NAMES, row) if has] for row in Y]
    expected = [
        [name for name, has in zip(LABEL_NAMES, row) if has] for row in fitted(estimator).predict(X)
    ]
    model = fresh(estimator).fit(X, tags)
    assert list(model.label_names_in_) == LABEL_NAMES
    assert model.predict(X) == expected
    index = [f"row {i}" for i in range(N_ROWS)]
    features = pd.DataFrame(X, index=index).add_prefix("f")
    sets = pd.Series([set(row) for row in tags], index=index)
    predicted = fresh(estimator).fit(features, sets).predict(features)
    assert isinstance(predicted, pd.Series)
    assert predicted.to_dict() == {name: set(row) for name, row in zip(index, expected)}
    with pytest.raises(ValueError, match="MultiLabelBinarizer"):
        fresh(estimator).fit(X, [[1, 2]] * 59 + [[3]])
    with pytest.raises(ValueError, match="MultiLabelBinarizer"):
        fresh(estimator).fit(X, pd.Series([";".join(row) for row in tags]))


@shared_code
def check_label_names_are_kept(estimator: Any) -> None:
    X, Y = make_problem()
    model = learned(estimator, X, pd.DataFrame(Y, columns=LABEL_NAMES))
    assert list(model.label_names_in_) == LABEL_NAMES
    assert list(model.predict(X).columns) == LABEL_NAMES
    assert not hasattr(fitted(estimator), "label_names_in_")


def check_label_storage_changes_no_bit(estimator: Any) -> None:
    X, Y = make_problem()
    X_new, _ = make_problem(seed=1)
    stored = [
        Y.astype(np.float64),
        np.asfortranarray(Y.astype(bool)),
        sparse.csr_matrix(Y),
        sparse.coo_array(Y.astype(np.uint8)),
    ]
    for labels in stored:
        assert_same_outputs(fitted(estimator), learned(estimator, X, labels), X_new)


def check_one_label_as_vector_and_as_matrix_agree(estimator: Any) -> None:
    X, Y = make_problem()
    y = Y[:, 1]
    matrix, vector = learned(estimator, X, y[:, None]), learned(estimator, X, y)
    assert matrix.decision_function(X).shape == matrix.predict_proba(X).shape == (N_ROWS, 1)
    assert matrix.predict(X).shape == (N_ROWS, 1)
    assert vector.decision_function(X).shape == vector.predict(X).shape == (N_ROWS,)
    assert_array_equal(vector.decision_function(X), matrix.decision_function(X)[:, 0])
    assert_array_equal(vector.predict(X), matrix.predict(X)[:, 0])
    # For a vector the likelier value is the predicted one, whatever the threshold; for a matrix
    # probabilities are those of the method. The order of the rows is the same.
    likelier = vector.predict_proba(X)[:, 1]
    assert_array_equal(likelier[likelier != 0.5] > 0.5, vector.predict(X)[likelier != 0.5] == 1)
    assert_array_equal(
        rankdata(likelier.round(12)), rankdata(matrix.predict_proba(X)[:, 0].round(12))
    )


def check_permuting_labels_permutes_outputs(estimator: Any) -> None:
    if label_order_matters(estimator):
        pytest.skip("the label order matters to this method by definition")
    X, Y = make_problem()
    order = np.array([2, 0, 3, 1])
    one, other = fitted(estimator), learned(estimator, X, Y[:, order])
    for method in ("decision_function", "predict_proba"):
        assert_allclose(
            getattr(other, method)(X), getattr(one, method)(X)[:, order], rtol=0, atol=1e-6
        )
    assert_array_equal(other.predict(X), one.predict(X)[:, order])


# Forms of X ------------------------------------------------------------------------------------


def check_sparse_X_equals_dense_X(estimator: Any) -> None:
    if not estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("no sparse features")
    X, Y = make_problem()
    X_new, _ = make_problem(seed=1)
    estimator, X, X_new = without_scaling(estimator, X, X_new)
    # Methods only ever see CSR: the other formats are a check of their own.
    from_dense, from_sparse = (
        learned(estimator, X, Y),
        learned(estimator, sparse.csr_array(X), Y),
    )
    stored = sparse.csr_array(X_new)
    assert_same_outputs(from_dense, from_sparse, X_new, stored, atol=TOLERANCE)
    # Storage at fit and at prediction may differ.
    assert_same_outputs(from_dense, from_dense, X_new, stored, atol=1e-9)
    assert_same_outputs(from_sparse, from_sparse, stored, X_new, atol=1e-9)


@shared_code
def check_untidy_sparse_X_equals_tidy(estimator: Any) -> None:
    if not estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("no sparse features")
    X, Y = make_problem()
    tidy = sparse.csr_array(X)
    # Every cell in two halves, columns in descending order: legal, and the same matrix.
    backwards = np.concatenate(
        [np.repeat(np.arange(a, b)[::-1], 2) for a, b in zip(tidy.indptr[:-1], tidy.indptr[1:])]
    )
    untidy = sparse.csr_array(
        (tidy.data[backwards] / 2, tidy.indices[backwards], 2 * tidy.indptr), shape=X.shape
    )
    assert_array_equal(untidy.toarray(), X)
    untidy.has_canonical_format = untidy.has_sorted_indices = False
    model = learned(estimator, untidy, Y)
    assert_same_outputs(learned(estimator, tidy, Y), model, tidy, untidy, atol=TOLERANCE)


@shared_code
def check_frame_X_equals_array_X(estimator: Any) -> None:
    X, Y = make_problem()
    names = [f"f{i}" for i in range(N_FEATURES)]
    frame = pd.DataFrame(X, columns=names)
    from_frame = learned(estimator, frame, Y)
    assert list(from_frame.feature_names_in_) == names
    assert_same_outputs(fitted(estimator), from_frame, X, frame, atol=1e-9)
    with pytest.raises(ValueError, match="feature names"):
        from_frame.predict(frame[names[::-1]])


def check_one_row_equals_that_row_of_a_batch(estimator: Any) -> None:
    X, _ = make_problem()
    model = fitted(estimator)
    for method in ("decision_function", "predict_proba", "predict"):
        batch = getattr(model, method)(X)[::3]
        rows = [getattr(model, method)(X[[row]]) for row in range(0, N_ROWS, 3)]
        # Networks calculate in single precision, and the size of a batch decides the order of sums.
        assert_allclose(np.vstack(rows), batch, rtol=0, atol=1e-5)


# Awkward data ----------------------------------------------------------------------------------


def check_constant_labels(estimator: Any) -> None:
    X, Y = make_problem()
    Y[:, 1], Y[:, 3] = 0, 1
    model = learned(estimator, X, Y)
    _assert_finite(model, X)
    assert not model.predict(X)[:, 1].any()
    assert model.predict(X)[:, 3].all()


def check_all_labels_zero(estimator: Any) -> None:
    X, Y = make_problem()
    for nothing in (np.zeros_like(Y), sparse.csr_array(Y.shape, dtype=np.int8)):
        model = learned(estimator, X, nothing)
        _assert_finite(model, X)
        assert not dense(model.predict(X)).any()


def check_a_vector_with_one_value(estimator: Any) -> None:
    X, _ = make_problem()
    for value in (0, 1):
        model = learned(estimator, X, np.full(N_ROWS, value))
        assert_array_equal(model.predict(X), np.full(N_ROWS, value))


def check_rows_without_labels(estimator: Any) -> None:
    X, Y = make_problem()
    Y[:45] = 0
    _assert_finite(learned(estimator, X, Y), X)


def check_rows_with_all_labels(estimator: Any) -> None:
    X, Y = make_problem()
    Y[:45] = 1
    _assert_finite(learned(estimator, X, Y), X)


def check_duplicate_rows(estimator: Any) -> None:
    X, Y = make_problem()
    # Every row twice, a third of them with other labels the second time.
    X, Y = np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0)
    Y[1::6] = 1 - Y[1::6]
    _assert_finite(learned(estimator, X, Y), X)
    X[:] = X[0]
    model = learned(estimator, X, Y)
    _assert_finite(model, X)
    assert np.ptp(model.decision_function(X[:2]), axis=0).max() < 1e-9


def check_constant_and_huge_features(estimator: Any) -> None:
    X, Y = make_problem()
    X[:, 0] = 0.0
    X[:, 1] = 7.0
    X[:, 2] *= 1e6
    _assert_finite(learned(estimator, X, Y), X)


# Good manners ----------------------------------------------------------------------------------


def check_outputs_belong_to_the_caller(estimator: Any) -> None:
    X, _ = make_problem()
    # A copy: where this fails, the shared model is spoilt.
    model = deepcopy(fitted(estimator))
    for method in ("decision_function", "predict_proba", "predict"):
        output = getattr(model, method)(X)
        before = output.copy()
        output[:] = 0
        assert_array_equal(getattr(model, method)(X), before)


def check_read_only_inputs(estimator: Any) -> None:
    X, Y = make_problem()
    X_frozen, Y_frozen = X.copy(), Y.astype(np.float64)
    X_frozen.flags.writeable = Y_frozen.flags.writeable = False
    frozen = learned(estimator, X_frozen, Y_frozen)
    assert_same_outputs(fitted(estimator), frozen, X, X_frozen, atol=1e-9)

    if estimator.__sklearn_tags__().input_tags.sparse:
        stored = sparse.csr_array(X)
        for part in (stored.data, stored.indices, stored.indptr):
            part.flags.writeable = False
        as_it_was = learned(estimator, sparse.csr_array(X), Y)
        from_sparse = learned(estimator, stored, Y)
        assert_same_outputs(as_it_was, from_sparse, stored, stored, atol=1e-9)


@shared_code
def check_read_only_memmaps(estimator: Any) -> None:
    X, Y = make_problem()
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "Y.npy", Y)
        X_mapped = np.load(Path(folder) / "X.npy", mmap_mode="r")
        Y_mapped = np.load(Path(folder) / "Y.npy", mmap_mode="r")
        again = learned(estimator, X_mapped, Y_mapped)
        assert_same_outputs(fitted(estimator), again, X, X_mapped, atol=1e-9)
        del X_mapped, Y_mapped, again


def check_clone_keeps_parameters(estimator: Any) -> None:
    model, unfitted = fitted(estimator), fresh(estimator)
    copy = clone(model)
    assert repr(copy) == repr(unfitted)
    assert repr(model.get_params()) == repr(unfitted.get_params())
    assert not [name for name in vars(copy) if name.endswith("_")]


def check_pickle_round_trip(estimator: Any) -> None:
    X, _ = make_problem()
    model = fitted(estimator)
    assert_same_outputs(model, pickle.loads(pickle.dumps(model)), X)


def check_same_seed_same_result(estimator: Any) -> None:
    """From its own seed alone: numpy's global one is neither asked nor changed."""
    X, Y = make_problem()
    expected = fitted(estimator)
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002
    assert_same_outputs(expected, learned(estimator, X, Y), X)
    assert pickle.dumps(np.random.get_state()) == before  # noqa: NPY002


def check_refit_forgets_the_previous_fit(estimator: Any) -> None:
    X, Y = make_problem()
    frame = pd.DataFrame(X).add_prefix("f")
    X_other, Y_other = make_problem(seed=5)
    X_other, Y_other = X_other[:, :5], Y_other[:, :3]
    again = learned(estimator, frame, pd.DataFrame(Y, columns=LABEL_NAMES))
    again.fit(X_other, Y_other)
    first = learned(estimator, X_other, Y_other)
    assert_same_outputs(first, again, X_other)
    assert type(again.predict(X_other)) is np.ndarray
    assert set(vars(again)) == set(vars(first))


# Refusals --------------------------------------------------------------------------------------


@shared_code
def check_unfitted_is_said(estimator: Any) -> None:
    X, _ = make_problem()
    for method in ("decision_function", "predict_proba", "predict"):
        with pytest.raises(NotFittedError):
            getattr(fresh(estimator), method)(X)


@shared_code
def check_strange_numbers_in_X_are_refused(estimator: Any) -> None:
    X, Y = make_problem()
    model = fitted(estimator)
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        wrong = X.copy()
        wrong[3, 2] = value
        with pytest.raises(ValueError, match=word):
            fresh(estimator).fit(wrong, Y)
        with pytest.raises(ValueError, match=word):
            model.predict(wrong)


def check_unknown_labels(estimator: Any) -> None:
    X, Y = make_problem()
    partly = Y.astype(float)
    partly[2, 1] = np.nan
    partly[7, 0] = np.nan
    if _capability(estimator, "unknown_labels"):
        _assert_finite(learned(estimator, X, partly), X)
        return
    for labels in (partly, pd.DataFrame(partly, columns=LABEL_NAMES), sparse.csr_array(partly)):
        with pytest.raises(ValueError, match=r"NaN.*(Fill|drop)"):
            fresh(estimator).fit(X, labels)


@shared_code
def check_other_values_in_Y_are_refused(estimator: Any) -> None:
    X, Y = make_problem()
    for value in (2, -1, 0.5):
        wrong = Y.astype(float)
        wrong[4, 2] = value
        for labels in (wrong, sparse.csr_array(wrong), pd.DataFrame(wrong, columns=LABEL_NAMES)):
            with pytest.raises(ValueError, match=rf"0 or 1, found {value}.*0/1 column"):
                fresh(estimator).fit(X, labels)
    with pytest.raises(ValueError, match="infinity"):
        fresh(estimator).fit(X, np.where(Y == 1, np.inf, 0.0))
    with pytest.raises(ValueError, match="MultiLabelBinarizer"):
        fresh(estimator).fit(X, np.where(Y == 1, "yes", "no").astype(object))


@shared_code
def check_one_length_for_X_and_Y(estimator: Any) -> None:
    X, Y = make_problem()
    for labels in (Y[:-1], sparse.csr_array(Y[:-1]), Y[:-1, 0]):
        with pytest.raises(ValueError, match=r"inconsistent.*60.*59"):
            fresh(estimator).fit(X, labels)


@shared_code
def check_one_width_at_fit_and_prediction(estimator: Any) -> None:
    X, _ = make_problem()
    model = fitted(estimator)
    for method in ("decision_function", "predict_proba", "predict"):
        with pytest.raises(ValueError, match=r"X has 7 features.*expecting 8 features"):
            getattr(model, method)(X[:, :7])


@shared_code
def check_empty_tables_are_refused(estimator: Any) -> None:
    X, Y = make_problem()
    with pytest.raises(ValueError, match="at least one"):
        fresh(estimator).fit(X, Y[:, :0])
    with pytest.raises(ValueError, match="at least one"):
        fresh(estimator).fit(X[:0], Y[:0])


def _assert_finite(model: Any, X: Any) -> None:
    for method in ("decision_function", "predict_proba"):
        assert np.isfinite(getattr(model, method)(X)).all()
    assert np.isin(dense(model.predict(X)), (0, 1)).all()


def _capability(estimator: Any, name: str) -> bool:
    return isinstance(estimator, MultilabelClassifier) and getattr(estimator.capabilities, name)


def _bytes_of(table: Any) -> list[bytes]:
    """Everything that makes up a table, to notice any change to it."""
    if sparse.issparse(table):
        places = table.coords if table.format == "coo" else (table.indices, table.indptr)
        return [part.tobytes() for part in (table.data, *places)]
    if isinstance(table, pd.DataFrame):
        return [table.to_numpy().tobytes(), repr(list(table.columns)).encode()]
    return [table.tobytes(), repr(table.shape).encode()]


# One result -------------------------------------------------------------------------------------


def check_memory_layout_changes_no_result(estimator: Any) -> None:
    """Rows or columns first: sums run in another order, to 1e-10. Gaps: to the bit."""
    X, Y = make_problem()
    X_new, _ = make_problem(seed=1)
    expected = fitted(estimator).decision_function(X_new)
    with_gaps = np.repeat(X, 2, axis=1)[:, ::2]
    assert_array_equal(learned(estimator, with_gaps, Y).decision_function(X_new), expected)
    by_column = learned(estimator, np.asfortranarray(X), np.asfortranarray(Y))
    found = by_column.decision_function(np.asfortranarray(X_new))
    assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert_same_outputs(fitted(estimator), by_column, X, np.asfortranarray(X), atol=TOLERANCE)
    # Gaps between rows as well: libraries copy these first, or take another way.
    strided = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    again = learned(estimator, strided, Y)
    assert_same_outputs(fitted(estimator), again, X, strided, atol=TOLERANCE)


def check_sparse_formats_change_no_bit(estimator: Any) -> None:
    if not estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("no sparse features")
    X, Y = make_problem()
    X_new, _ = make_problem(seed=1)
    rows = learned(estimator, sparse.csr_array(X), Y)
    expected = rows.decision_function(sparse.csr_array(X_new))
    for make in (sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
        found = learned(estimator, make(X), Y).decision_function(make(X_new))
        assert_array_equal(found, expected)


def check_jobs_and_threads_change_no_result(estimator: Any) -> None:
    """Jobs: to the bit. Threads: sums run in another order, to 1e-10."""
    X, Y = make_problem()
    # Rows enough that the libraries share the work among their threads.
    X, Y = np.tile(X, (3, 4)) + np.random.default_rng(2).normal(size=(180, 32)), np.tile(Y, (3, 1))
    before = torch.get_num_threads()
    models, results = [], []
    for n_threads in (1, 2):
        torch.set_num_threads(n_threads)
        try:
            with threadpool_limits(n_threads):
                models.append(learned(estimator, X, Y))
                results.append(models[-1].decision_function(X))
        finally:
            torch.set_num_threads(before)
    assert_allclose(results[1], results[0], rtol=0, atol=1e-10)
    if "n_jobs" in estimator.get_params(deep=False):
        with threadpool_limits(1):
            assert_same_outputs(models[0], learned(estimator, X, Y, n_jobs=2), X)


CHECKS: list[Check] = [
    check for name, check in list(globals().items()) if name.startswith("check_")
]
