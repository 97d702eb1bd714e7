"""Every public estimator has a table of what its parameters may be, and holds to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import (
    InvalidParameterError,
    generate_invalid_param_val,
    make_constraint,
)

import splmll.embeddings
import splmll.methods
import splmll.model_selection
from common.catalogue import FIRST_OF_THEIR_CLASS
from splmll import SPLMLL
from splmll.embeddings import Blend, Embedding, Linear, TorchModule
from splmll.methods import (
    ConditionalLabelSpace,
    ImplicitLabelSpace,
    NetworkRegressor,
    PrincipalLabelSpace,
)
from splmll.model_selection import MultilabelCalibrator, ThresholdTuner
from splmll.tagging import Words

EMBEDDINGS: list[Any] = [
    Blend([Linear()]),
    TorchModule(torch.nn.Linear(2, 2)),
    *(
        getattr(splmll.embeddings, name)()
        for name in ("Kernel", "KernelSVM", "Linear", "Network", "OneVsRest", "Stochastic", "Trees")
    ),
]
ESTIMATORS: list[Any] = [
    *FIRST_OF_THEIR_CLASS,
    *EMBEDDINGS,
    PrincipalLabelSpace(),
    ConditionalLabelSpace(),
    ImplicitLabelSpace(),
    NetworkRegressor(),
    ThresholdTuner(LogisticRegression()),
    MultilabelCalibrator(LogisticRegression()),
    Words(),
]
# SPLMLL(embedding) may be so many things that a function of its own tells them apart.
BY_A_FUNCTION = {(SPLMLL, "embedding")}


class OfNoUse:
    """A value that no parameter can be."""


def refused_values(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Names of parameters and values outside of what they may be."""
    for name, constraints in estimator._parameter_constraints.items():
        if (type(estimator), name) in BY_A_FUNCTION:
            continue
        yield name, OfNoUse()
        for constraint in map(make_constraint, constraints):
            try:
                yield name, generate_invalid_param_val(constraint)
            except NotImplementedError:  # types and objects: the value above is outside of them
                continue


CASES = [
    pytest.param(estimator, name, value, id=f"{type(estimator).__name__}-{name}-{value!s:.20}")
    for estimator in ESTIMATORS
    for name, value in refused_values(estimator)
]


@pytest.mark.parametrize("package", [splmll.embeddings, splmll.methods, splmll.model_selection])
def test_no_public_estimator_is_left_out(package: Any) -> None:
    public = [getattr(package, name) for name in package.__all__]
    estimators = {
        each for each in public if isinstance(each, type) and issubclass(each, BaseEstimator)
    }
    assert estimators - {Embedding} <= {type(estimator) for estimator in ESTIMATORS}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_every_parameter_has_a_constraint_that_its_default_meets(estimator: Any) -> None:
    assert set(estimator._parameter_constraints) == set(estimator.get_params(deep=False))
    unchecked = {
        name for name, rows in estimator._parameter_constraints.items() if rows == "no_validation"
    }
    assert unchecked == {name for owner, name in BY_A_FUNCTION if type(estimator) is owner}
    estimator._validate_params()


@pytest.mark.parametrize(("estimator", "name", "value"), CASES)
def test_other_values_are_refused_before_the_data_are_looked_at(
    estimator: Any, name: str, value: Any
) -> None:
    model = clone(estimator).set_params(**{name: value})
    before = set(vars(model))
    message = rf"The '{name}' parameter of {type(model).__name__} must be .*\. Got .* instead\."
    # Neither features nor labels: whoever looked at them would complain about that.
    data = (None, None, np.zeros(1)) if isinstance(model, Embedding) else (None, None)
    with pytest.raises(InvalidParameterError, match=re.compile(message, re.DOTALL)):
        model.fit(*data)
    assert set(vars(model)) == before


def test_an_embedding_of_no_use_is_refused_before_the_data_are_looked_at() -> None:
    with pytest.raises(ValueError, match=r"embedding=.*OfNoUse.*give a name"):
        SPLMLL(OfNoUse()).fit(None, None)


@pytest.mark.parametrize("name", ["abacus", "automatic", "lineal", ""])
def test_a_name_of_no_embedding_is_refused_before_the_data_are_looked_at(name: str) -> None:
    with pytest.raises(ValueError, match=rf"embedding='{name}'.*linear"):
        SPLMLL(name).fit(None, None)
