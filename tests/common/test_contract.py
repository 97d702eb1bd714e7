"""Every estimator keeps the contract of the library."""

from typing import Any

import pytest
from catalogue import ESTIMATORS
from contract import Check, checks_to_run

from splmll.catalogue import CATALOGUE, make_method


def one_line(estimator: Any) -> str:
    return " ".join(repr(estimator).split())


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=f"{one_line(estimator)}-{check.__name__}")
        for estimator, check in checks_to_run(ESTIMATORS)
    ],
)
def test_contract(estimator: Any, check: Check) -> None:
    check(estimator)


def test_every_method_of_the_catalogue_is_among_them() -> None:
    assert {type(make_method(name)) for name in CATALOGUE} <= {type(each) for each in ESTIMATORS}
