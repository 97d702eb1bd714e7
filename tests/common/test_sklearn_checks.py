"""Every class passes scikit-learn's own checks; contract.py checks other settings of a class."""

from collections.abc import Callable
from typing import Any

from catalogue import FIRST_OF_THEIR_CLASS
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

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
