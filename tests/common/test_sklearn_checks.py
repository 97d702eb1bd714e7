"""Every estimator passes scikit-learn's own checks."""

from collections.abc import Callable
from typing import Any

from catalogue import ESTIMATORS
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
