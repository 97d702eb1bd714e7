"""Encode, regress, decode: what all label-space reduction methods have in common."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from splmll.methods._label_embedding import count_of
from splmll.methods.column_subset import MLCSSP
from splmll.methods.conditional_label_space import CPLST, ConditionalLabelSpace
from splmll.methods.group_sparse_landmarks import MOPLMS
from splmll.methods.implicit_encoding import FaIE, ImplicitLabelSpace
from splmll.methods.principal_label_space import PLST, PrincipalLabelSpace
from splmll.methods.random_label_subset import PBR
from splmll.thresholds import fit_threshold

METHODS = [
    PLST(3),
    CPLST(3),
    FaIE(3, 5.0),
    FaIE(3, center=True),
    MOPLMS(3),
    MOPLMS(3, refit=False),
    MLCSSP(3, random_state=0),
    PBR(3, random_state=0),
]
COMPLETE = [PLST(1.0), CPLST(1.0), FaIE(1.0, 0.0), MOPLMS(1.0), MLCSSP(1.0), PBR(1.0)]
ENCODERS = [PrincipalLabelSpace(2), ConditionalLabelSpace(2), ImplicitLabelSpace(2, 3.0)]

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Six labels that depend on each other and on features of different sizes."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(180, 7))
    signal = X @ rng.normal(size=(7, 3)) @ rng.normal(size=(3, 6)) + rng.normal(size=(180, 6))
    Y = (signal > [0, 1, 0, -1, 2, 0.5]).astype(int)
    X = X * [1, 30, 0.01, 1, 1, 2, 1] + [0, 100, 0, -5, 0, 0, 1]
    return X[:120], Y[:120], X[120:]


def br_ridge(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray, ridge: float) -> np.ndarray:
    """Scores of binary relevance with ridge regression."""
    return make_pipeline(StandardScaler(), Ridge(ridge)).fit(X, Y).predict(X_new)


@pytest.mark.parametrize("model", COMPLETE)
@pytest.mark.parametrize("ridge", [0.3, 20.0])
def test_as_many_codes_as_labels_are_binary_relevance(
    problem: Problem, model: Any, ridge: float
) -> None:
    X, Y, X_new = problem
    model = clone(model).set_params(ridge=ridge).fit(X, Y)
    scores = model.decision_function(X_new) + 0.5
    assert_allclose(scores, br_ridge(X, Y, X_new, ridge), atol=1e-9)


@pytest.mark.parametrize("model", METHODS)
def test_ridge_given_as_regressor_is_the_default(problem: Problem, model: Any) -> None:
    # The deep variants put a network where the ridge is: with a ridge there, nothing changes.
    X, Y, X_new = problem
    default = clone(model).set_params(ridge=4.0).fit(X, Y)
    given = clone(default).set_params(regressor=make_pipeline(StandardScaler(), Ridge(4.0)))
    assert_allclose(
        given.fit(X, Y).decision_function(X_new), default.decision_function(X_new), atol=1e-10
    )


@pytest.mark.parametrize("model", METHODS)
def test_more_features_than_rows(problem: Problem, model: Any) -> None:
    # Copies of the features change the ridge solution by their number alone.
    X, Y, X_new = problem
    X, Y = StandardScaler().fit_transform(X[:20]), Y[:20]  # as dense features would be anyway
    wide = clone(model).set_params(ridge=6.0).fit(np.tile(X, 6), Y)
    narrow = clone(model).set_params(ridge=1.0).fit(X, Y)
    expected = narrow.decision_function(X_new)
    if not (isinstance(model, FaIE) and not model.center):
        # Uncentred FaIE penalises its constant, of which there are no copies.
        assert_allclose(wide.decision_function(np.tile(X_new, 6)), expected, atol=1e-9)
    stored = clone(wide).fit(sparse.csr_array(np.tile(X, 6)), sparse.csr_array(Y))
    assert_allclose(
        stored.decision_function(X_wide := np.tile(X_new, 6)),
        wide.decision_function(X_wide),
        atol=1e-9,
    )


@pytest.mark.parametrize("model", METHODS)
def test_constant_labels_keep_their_value(problem: Problem, model: Any) -> None:
    X, Y, X_new = problem
    Y = Y.copy()
    Y[:, 1], Y[:, 4] = 0, 1
    scores = clone(model).fit(X, Y).decision_function(X_new) + 0.5
    assert_allclose(scores[:, [1, 4]], np.tile([0.0, 1.0], (60, 1)), atol=1e-15)


@pytest.mark.parametrize("model", METHODS)
def test_a_single_row(problem: Problem, model: Any) -> None:
    X, Y, X_new = problem
    assert_array_equal(clone(model).fit(X[:1], Y[:1]).predict(X_new), np.tile(Y[0], (60, 1)))


@pytest.mark.parametrize("model", METHODS)
def test_rank_of_the_labels_below_the_number_of_codes(problem: Problem, model: Any) -> None:
    X, Y, X_new = problem
    Y = Y[:, [0, 0, 0, 1, 1, 1]]
    scores = clone(model).set_params(**{_size(model): 5}).fit(X, Y).decision_function(X_new)
    assert np.isfinite(scores).all()
    if not isinstance(model, PBR):  # which gives up one of the six whatever the others say
        assert_allclose(scores[:, [1, 2]], scores[:, [0, 0]], atol=1e-9)
        assert_allclose(scores[:, [4, 5]], scores[:, [3, 3]], atol=1e-9)


@pytest.mark.parametrize("model", METHODS)
def test_regressors_of_one_output_learn_the_codes_one_by_one(problem: Problem, model: Any) -> None:
    X, Y, X_new = problem
    single = GradientBoostingRegressor(n_estimators=3, random_state=0)
    scores = clone(model).set_params(regressor=single).fit(X, Y).decision_function(X_new)
    assert scores.shape == (60, 6)


def test_the_given_regressor_gets_the_codes_and_is_left_alone(problem: Problem) -> None:
    X, Y, X_new = problem
    forest = RandomForestRegressor(n_estimators=5, random_state=0)
    model = PLST(3, regressor=forest).fit(X, Y)
    codes = PrincipalLabelSpace(3).fit_transform(Y)
    expected = clone(forest).fit(X, codes).predict(X_new)
    assert_array_equal(model.regressor_.predict(X_new), expected)
    with pytest.raises(NotFittedError):
        check_is_fitted(forest)


@pytest.mark.parametrize("model", METHODS)
def test_rules_are_fitted_on_out_of_fold_scores(problem: Problem, model: Any) -> None:
    rule = "per_label"
    X, Y, X_new = problem
    tuned = clone(model).set_params(threshold=rule).fit(X, Y)
    unseen = np.empty(Y.shape)
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        unseen[test] = clone(model).fit(X[train], Y[train]).decision_function(X[test]) + 0.5
    expected = fit_threshold(rule, Y, unseen)
    assert_allclose(tuned.thresholds_, expected.per_label(6), atol=1e-12)
    scores = clone(model).fit(X, Y).decision_function(X_new) + 0.5
    assert_array_equal(tuned.predict(X_new), expected.apply(scores))


@pytest.mark.parametrize(
    ("value", "n_labels", "count"),
    [(1, 14, 1), (14, 14, 14), (0.5, 14, 7), (1.0, 14, 14), (0.01, 14, 1), (0.5, 1, 1)]
    + [(np.int64(3), 6, 3), (np.float32(0.5), 6, 3)],
)
def test_counts_and_shares(value: Any, n_labels: int, count: int) -> None:
    assert count_of(value, n_labels, "n_components") == count


@pytest.mark.parametrize("value", [0, 7, -1, 0.0, 1.5, -0.5, np.nan, "3", None, True])
def test_impossible_counts_and_shares_are_refused(value: Any) -> None:
    message = "n_components=.* does not fit 6 labels: give an integer from 1 to 6, or a share"
    with pytest.raises(ValueError, match=message):
        count_of(value, 6, "n_components")


@pytest.mark.parametrize("model", METHODS)
def test_an_impossible_number_of_codes_is_refused(problem: Problem, model: Any) -> None:
    X, Y, _ = problem
    name = _size(model)
    message = rf"{name}=7 does not fit 6 labels: give an integer from 1 to 6, or a share"
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**{name: 7}).fit(X, Y)


@pytest.mark.parametrize("model", METHODS)
def test_an_impossible_ridge_is_refused_whatever_the_regressor(
    problem: Problem, model: Any
) -> None:
    X, Y, _ = problem
    for regressor in (None, Ridge()):
        with pytest.raises(ValueError, match=r"'ridge' .* in the range \(0\.0, inf\)\. Got 0"):
            clone(model).set_params(ridge=0.0, regressor=regressor).fit(X, Y)


# Encoders ----------------------------------------------------------------------------------------


@parametrize_with_checks([type(encoder)() for encoder in ENCODERS])
def test_encoders_pass_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_encoders_read_sparse_labels_and_features(problem: Problem, encoder: Any) -> None:
    X, Y, _ = problem
    X = StandardScaler().fit_transform(X)
    codes = clone(encoder).fit_transform(Y, X)
    stored = clone(encoder).fit(sparse.csr_array(Y), sparse.csr_array(X))
    again = clone(encoder).fit_transform(sparse.csr_array(Y), sparse.csr_array(X))
    assert type(again) is np.ndarray
    assert codes.shape == (120, 2)
    assert_allclose(again, codes, atol=1e-9)
    assert_allclose(stored.transform(sparse.csr_array(Y)), stored.transform(Y), atol=1e-12)
    assert_allclose(stored.components_, clone(encoder).fit(Y, X).components_, atol=1e-9)


@pytest.mark.parametrize(
    ("method", "encoder"),
    [
        (PLST(2), PrincipalLabelSpace(2)),
        (CPLST(2, ridge=3.0), ConditionalLabelSpace(2, ridge=3.0)),
        (FaIE(2, 7.0, ridge=3.0), ImplicitLabelSpace(2, 7.0, ridge=3.0)),
        (FaIE(2, center=True), ImplicitLabelSpace(2, center=True)),
    ],
)
def test_encoder_and_regressor_of_ones_own_make_the_method(
    problem: Problem, method: Any, encoder: Any
) -> None:
    X, Y, X_new = problem
    ridge = make_pipeline(StandardScaler(), Ridge(method.ridge))
    predicted = ridge.fit(X, encoder.fit_transform(Y, X)).predict(X_new)
    scores = clone(method).fit(X, Y).decision_function(X_new) + 0.5
    assert_allclose(encoder.inverse_transform(predicted), scores, atol=1e-10)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_signs_do_not_depend_on_the_order_of_the_labels(problem: Problem, encoder: Any) -> None:
    X, Y, _ = problem
    codes = clone(encoder).fit_transform(Y, X)
    assert_allclose(clone(encoder).fit_transform(Y[:, ::-1], X), codes, atol=1e-9)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_codes_of_another_width_are_refused(problem: Problem, encoder: Any) -> None:
    X, Y, _ = problem
    with pytest.raises(ValueError, match=r"3 columns.*2 components: pass one column for each"):
        clone(encoder).fit(Y, X).inverse_transform(np.zeros((4, 3)))


@pytest.mark.parametrize("encoder", ENCODERS[1:])
def test_encoders_that_need_features_say_so(problem: Problem, encoder: Any) -> None:
    _, Y, _ = problem
    with pytest.raises(ValueError, match=r"features are its second argument, fit\(Y, X\)"):
        clone(encoder).fit(Y)


def _size(model: Any) -> str:
    return "n_components" if "n_components" in model.get_params() else "n_landmarks"
