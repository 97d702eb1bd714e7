"""Every estimator passes scikit-learn's own checks."""

from collections.abc import Callable
from typing import Any

from catalogue import ESTIMATORS
from sklearn.utils.estimator_checks import parametrize_with_checks

from splmll import SPLMLL


def expected_failures(estimator: Any) -> dict[str, str]:
    """Checks that contradict what an estimator was asked to do, each with the reason."""
    if isinstance(estimator, SPLMLL):
        return {}  # its probabilities pass 1/2 at the learnt cut
    if isinstance(getattr(estimator, "threshold", None), str):
        return {
            "check_classifiers_train": "wants the cut at probability 1/2, a learnt one is elsewhere"
        }
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
