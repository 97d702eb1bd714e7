"""Every estimator keeps the contract of the library."""

from collections.abc import Callable
from typing import Any

import pytest
from catalogue import ESTIMATORS
from contract import CHECKS


def one_line(estimator: Any) -> str:
    return " ".join(repr(estimator).split())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=one_line)
def test_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
