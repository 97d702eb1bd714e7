"""Names that were replaced warn or are refused, and the message says the present one."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from splmll import SPLMLL
from splmll.embeddings import Kernel, KernelSVM, Linear, Network, OneVsRest, Stochastic
from splmll.former import FormerNames, renamed_function, renamed_parameter
from splmll.methods import (
    C2AE,
    LEML,
    MLML,
    SLEEC,
    EnsembleOfClassifierChains,
    FaIE,
    LabelPowerset,
    MLkNN,
    RAkEL,
)
from splmll.thresholds import RULES, check_rule

FORMER = [
    (EnsembleOfClassifierChains, "n_chains", "n_estimators"),
    (RAkEL, "n_models", "n_estimators"),
    (SLEEC, "n_learners", "n_estimators"),
    (SLEEC, "alpha", "ridge"),
    (LEML, "lam", "ridge"),
    (FaIE, "alpha", "predictability_weight"),
    (C2AE, "alpha", "ranking_weight"),
    (C2AE, "lam", "orthogonality_weight"),
    (Stochastic, "alpha", "ridge"),
]


@pytest.mark.parametrize(("estimator", "former", "present"), FORMER)
def test_former_names_are_refused_with_the_present_one(
    estimator: Any, former: str, present: str
) -> None:
    message = f"The parameter {former} of {estimator.__name__} is now called {present}."
    with pytest.raises(TypeError, match=re.escape(message)):
        estimator(**{former: 1})
    with pytest.raises(ValueError, match=re.escape(message)):
        estimator().set_params(**{former: 1})
    assert present in estimator().get_params()


def test_other_unknown_names_are_refused_as_ever() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'lamda'"):
        LEML(lamda=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'lamda'"):
        LEML().set_params(lamda=1.0)


@pytest.mark.parametrize("rule", [rule for rule in RULES if "_" in rule])
def test_rules_with_hyphens_are_refused_with_the_present_spelling(rule: str) -> None:
    former = rule.replace("_", "-")
    with pytest.raises(ValueError, match=f"rule '{former}' is now spelt '{rule}'"):
        check_rule(former)


@pytest.mark.parametrize("model", [SPLMLL("linear"), MLkNN(), LabelPowerset()], ids=str)
def test_so_they_are_as_parameters(model: Any) -> None:
    X = np.zeros((60, 2))
    message = "threshold='micro-f1' is now spelt threshold='micro_f1'"
    with pytest.raises(ValueError, match=message):
        model.set_params(threshold="micro-f1").fit(X, X)
    with pytest.raises(ValueError, match="Did you mean 'micro_f1'"):
        model.set_params(threshold="mikro_f1").fit(X, X)


SCALED = [
    *(SPLMLL(kind(scale="auto"), cv=2) for kind in (Kernel, KernelSVM, Linear, Network, OneVsRest)),
    *(C2AE(), LEML(), MLML(), MLkNN(), SLEEC()),
]


@pytest.mark.parametrize("model", SCALED, ids=str)
@pytest.mark.parametrize(("former", "present"), [(True, "'standard'"), (False, "None")])
def test_truth_values_of_scale_are_refused(model: Any, former: bool, present: str) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    name = "embedding__scale" if isinstance(model, SPLMLL) else "scale"
    with pytest.raises(ValueError, match=f"scale={former} is now spelt scale={present}"):
        model.set_params(**{name: former}).fit(X, (X[:, :2] > 0).astype(int))


@pytest.mark.parametrize("model", SCALED, ids=str)
def test_other_scales_are_refused(model: Any) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    name = "embedding__scale" if isinstance(model, SPLMLL) else "scale"
    with pytest.raises(ValueError, match=r"scale.* must be .*auto.* or None"):
        model.set_params(**{name: "robust"}).fit(X, (X[:, :2] > 0).astype(int))


# The release before a name is refused ----------------------------------------------------------


class Ridge(FormerNames):
    @renamed_parameter("lam", "ridge", until="2.0")
    @renamed_parameter("centre", "center", until="2.1")
    def __init__(self, ridge: float = 1.0, *, center: bool = False) -> None:
        self.ridge = ridge
        self.center = center


@renamed_parameter("k", "n_labels", until="2.0")
def top(scores: list[float], n_labels: int = 1) -> list[float]:
    return sorted(scores, reverse=True)[:n_labels]


def caught_here(action: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What it returns, and its warnings, all of which must point to this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = action()
    assert {warning.category for warning in caught} <= {FutureWarning}
    assert {warning.filename for warning in caught} <= {__file__}
    return result, [str(warning.message) for warning in caught]


def test_a_renamed_parameter_of_a_function_warns_and_works() -> None:
    result, messages = caught_here(lambda: top([1.0, 3.0, 2.0], k=2))
    assert result == [3.0, 2.0]
    assert messages == [
        "The parameter k of top is now called n_labels; version 2.0 will no longer know k."
    ]


def test_a_renamed_parameter_of_an_estimator_warns_wherever_it_is_given() -> None:
    expected = [
        "The parameter lam of Ridge is now called ridge; version 2.0 will no longer know lam.",
        "The parameter centre of Ridge is now called center; version 2.1 will no longer know "
        "centre.",
    ]
    model, messages = caught_here(lambda: Ridge(lam=0.5, centre=True))
    assert model.get_params() == {"ridge": 0.5, "center": True}
    assert sorted(messages) == sorted(expected)
    model, messages = caught_here(lambda: Ridge().set_params(lam=0.5, centre=True))
    assert model.get_params() == {"ridge": 0.5, "center": True}
    assert sorted(messages) == sorted(expected)


def test_a_renamed_parameter_of_a_step_of_a_pipeline_warns_and_works() -> None:
    pipeline = Pipeline([("scale", "passthrough"), ("ridge", Ridge())])
    with pytest.warns(FutureWarning, match="lam of Ridge is now called ridge"):
        pipeline.set_params(ridge__lam=0.5)
    assert pipeline.named_steps["ridge"].ridge == 0.5


def test_present_names_do_not_warn() -> None:
    assert caught_here(lambda: top([1.0, 2.0], n_labels=1)) == ([2.0], [])
    model, messages = caught_here(lambda: clone(Ridge(0.5, center=True)).set_params(ridge=2.0))
    assert model.get_params() == {"ridge": 2.0, "center": True}
    assert messages == []


def test_both_names_at_once_are_refused() -> None:
    message = "Ridge got ridge and also lam, its former name: pass ridge alone"
    with pytest.raises(TypeError, match=message):
        Ridge(lam=0.5, ridge=0.5)
    with pytest.raises(TypeError, match=message):
        Ridge().set_params(lam=0.5, ridge=0.5)


def test_a_renamed_function_warns_and_works() -> None:
    best = renamed_function("best", top, until="2.0")
    result, messages = caught_here(lambda: best([1.0, 2.0]))
    assert result == [2.0]
    assert messages == ["best is now called top; version 2.0 will no longer know best."]
    assert best.__name__ == "best"
    assert "``top``" in str(best.__doc__)
