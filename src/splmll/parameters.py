"""Parameters of estimators in a form that people and JSON can read.

Reports show what differs from the defaults; experiments tell settings apart by all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from inspect import signature
from numbers import Integral, Real
from typing import Any

from splmll.extras import required

# Parameters that change nothing about what is learned, or belong to a repetition.
_NO_SETTINGS = ("random_state", "n_jobs", "verbose")


def changed_settings(estimator: Any) -> dict[str, Any]:
    """Return what differs from the defaults of an estimator's class, as JSON can hold it.

    Seeds are left out: they belong to a repetition.

    Examples
    --------
    >>> from splmll.parameters import changed_settings
    >>> from splmll.catalogue import make_method
    >>> from splmll.methods import MLkNN
    >>> changed_settings(MLkNN(n_neighbors=20))
    {'n_neighbors': 20}
    >>> changed_settings(make_method("Deep CPLST"))["regressor"]
    {'class': 'splmll.methods.network_regressor.NetworkRegressor'}
    """
    defaults = {
        name: parameter.default
        for name, parameter in signature(type(estimator).__init__).parameters.items()
    }
    changed = {}
    for name, value in estimator.get_params(deep=False).items():
        shown = as_json(value, full=False)
        if name not in _NO_SETTINGS and shown != as_json(defaults.get(name), full=False):
            changed[name] = shown
    return changed


def as_json(value: Any, *, full: bool) -> Any:
    """Return a value of a parameter as JSON can hold it.

    In full for hashing, where different values must stay different: all parameters of estimators
    inside. Otherwise to be read: only what differs from their defaults.

    Examples
    --------
    >>> from splmll.methods import MLkNN
    >>> from splmll.parameters import as_json
    >>> as_json([MLkNN(3), 0.5], full=False)
    [{'class': 'splmll.methods.nearest_neighbours.MLkNN', 'n_neighbors': 3}, 0.5]
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, list | tuple):
        return [as_json(item, full=full) for item in value]
    if isinstance(value, Mapping):
        return {str(name): as_json(item, full=full) for name, item in value.items()}
    if hasattr(value, "get_params") and not isinstance(value, type):
        settings = _all_settings(value) if full else changed_settings(value)
        return {"class": _name_of(type(value)), **settings}
    if hasattr(value, "__qualname__") and "<" not in value.__qualname__:
        return _name_of(value)  # a function or class that can be imported
    if not full:
        return repr(value)
    cloudpickle = required("cloudpickle", "experiments", "Telling unusual settings apart")
    return hashlib.sha256(cloudpickle.dumps(value)).hexdigest()


def _all_settings(estimator: Any) -> dict[str, Any]:
    return {
        name: as_json(value, full=True)
        for name, value in estimator.get_params(deep=False).items()
        if name not in _NO_SETTINGS
    }


def _name_of(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
