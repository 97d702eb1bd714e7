"""Every estimator passes scikit-learn's own checks."""

from collections.abc import Callable
from typing import Any

import pytest
from catalogue import ESTIMATORS, FIRST_OF_THEIR_CLASS
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

# What other settings of a class can change: they learn and score by other code. Parameters, tags,
# input checks and outputs belong to the class.
OF_LEARNING = {
    "check_classifiers_one_label",
    "check_classifiers_train",
    "check_decision_proba_consistency",
    "check_dict_unchanged",
    "check_estimators_dtypes",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_transformer_general",
}


# These two call ``fit(X, y=...)``, and the labels are called Y here;
# tests/methods/test_sample_weight.py shows that weights are copies.
CALLED_WITH_Y = {
    f"check_sample_weight_equivalence_on_{kind}_data": "the labels are called Y"
    for kind in ("dense", "sparse")
}


def expected_to_fail(estimator: Any) -> dict[str, str]:
    return CALLED_WITH_Y if has_fit_parameter(estimator, "sample_weight") else {}


@parametrize_with_checks(FIRST_OF_THEIR_CLASS, expected_failed_checks=expected_to_fail)
def test_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def checks_of_learning() -> list[Any]:
    found = []
    for setting in ESTIMATORS:
        if any(setting is first for first in FIRST_OF_THEIR_CLASS):
            continue
        for estimator, check in estimator_checks_generator(setting):
            if check.func.__name__ in OF_LEARNING:
                options = "".join(f" {name}={value}" for name, value in check.keywords.items())
                name = f"{' '.join(repr(setting).split())}-{check.func.__name__}{options}"
                found.append(pytest.param(estimator, check, id=name))
    return found


@pytest.mark.parametrize(("estimator", "check"), checks_of_learning())
def test_scikit_learn_with_other_settings(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
