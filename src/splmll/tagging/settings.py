"""Settings of a method as people type them, checked before anyone waits for a fit.

Unknown names, words in place of numbers and missing devices are refused, and the message lists what
is available.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from inspect import signature
from numbers import Real
from typing import Any

from splmll.embeddings import EMBEDDING_NAMES, embedding_of
from splmll.extras import required
from splmll.landmarks import SPLMLL
from splmll.names import listed, suggestion

# What has an option of its own is not said twice.
_OWN_OPTIONS = {
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "n_landmarks": "--landmarks",
    "threshold": "--threshold",
    "device": "--device",
}
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def read_setting(text: str) -> tuple[str, Any]:
    """Return name and value of a setting that was typed as ``name=value``.

    Parameters
    ----------
    text : str
        The value is a number, true, false, none, a list in brackets, or a word.

    Returns
    -------
    name : str
    value : bool, int, float, str, list or None

    Examples
    --------
    >>> from splmll.tagging.settings import read_setting
    >>> read_setting("pull=1e-1"), read_setting("cv=auto"), read_setting("n_jobs=none")
    (('pull', 0.1), ('cv', 'auto'), ('n_jobs', None))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{text!r} is not a setting; write it as NAME=VALUE, such as cv=3.")
    return name.strip(), read_value(value.strip())


def read_value(text: str) -> Any:
    """Return what a word stands for: a number, a list, true, false, none, or itself.

    Examples
    --------
    >>> from splmll.tagging.settings import read_value
    >>> [read_value(word) for word in ("3", "1e-4", "[64, 32]", "True", "auto")]
    [3, 0.0001, [64, 32], True, 'auto']
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text


def checked_settings(estimator: Any, method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of an estimator, or say which of them it cannot take.

    Parameters
    ----------
    estimator : estimator
        The method, not fitted. An embedding that has settings of its own here becomes an object.
    method : str
        Its name, for messages.
    settings : mapping of str to Any
        Parameters by name; those of a part of the method as ``part.name`` or ``part__name``.

    Returns
    -------
    settings : dict
        As ``set_params`` takes them; lists are tuples.

    Examples
    --------
    >>> from splmll import SPLMLL
    >>> from splmll.methods import MLkNN
    >>> from splmll.tagging.settings import checked_settings
    >>> model = SPLMLL()
    >>> checked_settings(model, "SPL-MLL", {"embedding": "linear", "embedding.ridge": 0.1})
    {'embedding__ridge': 0.1}
    >>> model.embedding
    Linear()
    >>> checked_settings(MLkNN(), "ML-kNN", {"n_neighbours": 7})
    Traceback (most recent call last):
        ...
    ValueError: ML-kNN has no setting 'n_neighbours'. Did you mean 'n_neighbors'? ...
    """
    chosen = {
        name.replace(".", "__"): tuple(value) if isinstance(value, list) else value
        for name, value in settings.items()
    }
    if isinstance(estimator, SPLMLL) and any(name.startswith("embedding__") for name in chosen):
        if "embedding" in chosen:
            estimator.set_params(embedding=chosen.pop("embedding"))
        embedding_as_object(estimator)
    known = estimator.get_params()
    for name, value in chosen.items():
        option = "device" if name.endswith("__device") else name
        if option in _OWN_OPTIONS:
            raise ValueError(f"The setting {name!r} has its own option: {_OWN_OPTIONS[option]}.")
        if name not in known:
            part = name.rpartition("__")[0]
            there = [
                each
                for each in known
                if each.rpartition("__")[0] == part and each not in _OWN_OPTIONS
            ]
            raise ValueError(
                f"{method} has no setting {name!r}.{suggestion(name, known)}"
                + (f" It has {listed(there)}." if there else "")
            )
        _check_type(estimator, name, value)
    return chosen


def embedding_as_object(model: SPLMLL) -> None:
    """Replace the name of a model's embedding by the embedding, whose parameters can be set.

    Examples
    --------
    >>> from splmll import SPLMLL
    >>> from splmll.tagging.settings import embedding_as_object
    >>> model = SPLMLL(["linear", "svm"])
    >>> embedding_as_object(model)
    >>> model.embedding
    Blend(members=[Linear(), OneVsRest()])
    """
    given = model.embedding
    if isinstance(given, str) and given == "auto":
        raise ValueError(
            "With embedding=auto the embedding depends on the features, so its settings are not "
            "known yet; choose one with --set embedding=NAME, one of "
            f"{', '.join(EMBEDDING_NAMES)}."
        )
    if isinstance(given, list | tuple):
        given = [embedding_of(each) for each in given]
    model.set_params(embedding=embedding_of(given))


def check_device(name: str) -> None:
    """Raise ValueError if there is no such device, with those that there are.

    Examples
    --------
    >>> from splmll.tagging.settings import check_device
    >>> check_device("cpu")
    >>> check_device("toaster")
    Traceback (most recent call last):
        ...
    ValueError: There is no device 'toaster' here; available are auto, cpu...
    """
    if name == "auto":
        return
    torch = required("torch", "torch", "Choosing a device")

    try:
        torch.empty(0, device=torch.device(name))
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        there = ["auto", "cpu"]
        there += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        there += ["mps"] if torch.backends.mps.is_available() else []
        raise ValueError(
            f"There is no device {name!r} here; available are {', '.join(there)}."
        ) from error


def _check_type(estimator: Any, name: str, value: Any) -> None:
    """Refuse a word for a number: most methods would only fail much later."""
    parameter = signature(type(estimator).__init__).parameters.get(name)
    if parameter is None:
        return  # of a part of the method, which checks its own
    default, takes = parameter.default, str(parameter.annotation)
    free = "str" in takes or "Any" in takes
    if isinstance(default, bool) and not isinstance(value, bool):
        raise ValueError(f"The setting {name!r} must be true or false, not {value!r}.")
    is_number = isinstance(default, Real) and not isinstance(default, bool)
    none_allowed = "None" in takes and value is None
    wrong = not isinstance(value, Real) or isinstance(value, bool)
    if is_number and not free and not none_allowed and wrong:
        raise ValueError(
            f"The setting {name!r} must be a number such as {default!r}, not {value!r}."
        )
