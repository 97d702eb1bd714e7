"""The settings of SPLMLL, checked before a long fit begins.

Every message says which setting is wrong and what it may be.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

from torch import nn

from splmll.thresholds import RULES, check_rule

if TYPE_CHECKING:
    from splmll.landmarks.classifier import SPLMLL


def check_parameters(model: SPLMLL) -> None:
    """Raise ValueError at the first setting that cannot be.

    Examples
    --------
    >>> from splmll import SPLMLL
    >>> from splmll.landmarks.parameters import check_parameters
    >>> check_parameters(SPLMLL(cv=1))
    Traceback (most recent call last):
        ...
    ValueError: cv=1: give at least 2 folds, or None for none.
    """
    choices: dict[str, tuple[str, ...]] = {
        "solver": ("exact", "algorithm1"),
        "selection": ("soft", "hard", "all"),
        "recovery": ("crossfit", "labels"),
        "penalty_scale": ("relative", "absolute"),
        "loss": ("auto", "cross-entropy", "squared"),
    }
    for name, allowed in choices.items():
        if getattr(model, name) not in allowed:
            raise ValueError(f"{name}={getattr(model, name)!r} must be one of {allowed}.")
    kinds = model.embedding if isinstance(model.embedding, (list, tuple)) else [model.embedding]
    for kind in kinds:
        known = kind in ("mlp", "linear", "kernel", "blend") if isinstance(kind, str) else (
            isinstance(kind, nn.Module) or hasattr(kind, "fit")
        )  # fmt: skip
        if not known:
            raise ValueError(
                f'embedding={kind!r} must be "mlp", "linear", "kernel", "blend", a torch '
                "module, a regressor or a list of these."
            )
    if isinstance(model.threshold, str) and model.threshold not in RULES:
        raise ValueError(f"threshold={model.threshold!r} must be a number or one of {RULES}.")
    check_rule(model.threshold)
    if model.solver == "algorithm1" and model.loss == "cross-entropy":
        raise ValueError(
            'Algorithm 1 minimises the squared error: set loss="squared" or solver="exact".'
        )
    if isinstance(model.lambda2, str) and model.lambda2 != "auto":
        raise ValueError(f'lambda2={model.lambda2!r} must be a number or "auto".')
    if min(model.lambda1, model._given_lambda2(), model.rho, model.shrinkage) < 0:
        raise ValueError("lambda1, lambda2, rho and shrinkage must not be negative.")
    if model.cv is not None and model.cv < 2:
        raise ValueError(f"cv={model.cv}: give at least 2 folds, or None for none.")
    if model.cv is None:
        if model.recovery == "crossfit":
            raise ValueError(
                'recovery="crossfit" needs out-of-fold predictions: set cv to a number of '
                'folds, or recovery="labels".'
            )
        if isinstance(model.threshold, str):
            raise ValueError(
                f"threshold={model.threshold!r} is tuned on out-of-fold scores: set cv to a "
                "number of folds, or give a number as threshold."
            )
    if model.solver == "algorithm1":
        if model.selection == "hard":
            raise ValueError('selection="hard" needs solver="exact": Algorithm 1 has real b.')
        if not (model.embedding in ("mlp", "linear") or isinstance(model.embedding, nn.Module)):
            raise ValueError(
                'solver="algorithm1" trains by gradients: embedding must be "mlp", "linear" '
                'or a torch module. For other embeddings use solver="exact".'
            )
    for name in ("batch_size", "max_epochs", "patience", "n_components"):
        value = getattr(model, name)
        if not isinstance(value, numbers.Integral) or value < 1:
            raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
    for name in ("alpha", "gamma"):
        value = getattr(model, name)
        if value != "auto" and not (isinstance(value, (int, float)) and value > 0):
            raise ValueError(f'{name}={value!r} must be "auto" or a positive number.')
    if not model.learning_rate > 0 or model.weight_decay < 0 or not 0 <= model.dropout < 1:
        raise ValueError(
            "learning_rate must be positive, weight_decay not negative and dropout from 0 to "
            "below 1."
        )
    sizes = model.hidden_layer_sizes
    if not isinstance(sizes, (tuple, list)) or any(
        not isinstance(size, numbers.Integral) or size < 1 for size in sizes
    ):
        raise ValueError(
            f"hidden_layer_sizes={sizes!r} must be a tuple of whole numbers such as (512, 64)."
        )
    if model.n_repeats != "auto" and not (
        isinstance(model.n_repeats, numbers.Integral) and model.n_repeats >= 1
    ):
        raise ValueError(f'n_repeats={model.n_repeats!r} must be "auto" or at least 1.')
    if model.full_selection and (model.solver != "algorithm1" or model.recovery != "labels"):
        raise ValueError('full_selection=True needs solver="algorithm1" and recovery="labels".')
