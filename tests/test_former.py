"""Spellings that were replaced are refused, and the message says the present one."""

import re
from typing import Any

import numpy as np
import pytest

from splmll import SPLMLL
from splmll.embeddings import Kernel, KernelSVM, Linear, Network, OneVsRest, Stochastic
from splmll.methods import C2AE, LEML, MLML, SLEEC, EnsembleOfClassifierChains, FaIE, MLkNN, RAkEL
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
