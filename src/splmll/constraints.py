"""Allowed parameter values: entries of ``_parameter_constraints``, checked before every fit.

Entries are written as in scikit-learn. If a value is misspelt, or was valid in an earlier version,
the message also says what it should be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

from splmll.former import FormerNames
from splmll.names import suggestion


class CheckedParameters(FormerNames):
    """Estimators that check their parameters by a table, before they look at the data.

    A subclass writes ``_parameter_constraints``, with a row for every parameter, and calls
    ``_validate_params`` where a fit begins.

    Examples
    --------
    >>> from splmll.methods import RAkEL
    >>> RAkEL(voting="sofft").fit([[0.0], [1.0]], [[0], [1]])
    Traceback (most recent call last):
        ...
    sklearn...InvalidParameterError: The 'voting' parameter of RAkEL ... Did you mean 'soft'?
    """

    #: What each parameter may be, as scikit-learn writes it.
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def _validate_params(self) -> None:
        check_parameters(
            self._parameter_constraints, self.get_params(deep=False), type(self).__name__
        )


def check_parameters(
    constraints: Mapping[str, Any], parameters: Mapping[str, Any], owner: str
) -> None:
    """Refuse the first parameter that is none of what its row allows.

    Parameters
    ----------
    constraints : mapping of str to list
        The table, see ``sklearn.utils._param_validation``.
    parameters : mapping of str to object
        The parameters and their values.
    owner : str
        The class or function they belong to, for the message.

    Examples
    --------
    >>> from splmll.constraints import Choice, check_parameters
    >>> table = {"ties": [Choice("exclude", "include")]}
    >>> check_parameters(table, {"ties": "exclude"}, "rank")
    >>> check_parameters(table, {"ties": "exclud"}, "rank")
    Traceback (most recent call last):
        ...
    sklearn...InvalidParameterError: The 'ties' parameter of rank ... Did you mean 'exclude'?
    """
    for name, value in parameters.items():
        try:
            validate_parameter_constraints(constraints, {name: value}, caller_name=owner)
        except InvalidParameterError as error:
            rows = (row for row in constraints[name] if isinstance(row, Choice))
            hint = next(filter(None, (row.hint(name, value) for row in rows)), "")
            raise InvalidParameterError(f"{error}{hint}") from None


class Choice(StrOptions):
    """One of some words, listed in messages in the order given.

    Parameters
    ----------
    *words : str
        What may be chosen.
    former : mapping, default={}
        Values of earlier versions and what stands for them now.

    Examples
    --------
    >>> from splmll.constraints import Choice
    >>> print(Choice("soft", "hard"))
    a str among {'soft', 'hard'}
    """

    def __init__(self, *words: str, former: Mapping[Any, Any] | None = None) -> None:
        # The keys of a dictionary are a set that keeps its order.
        super().__init__(dict.fromkeys(words).keys())
        self.former = {} if former is None else former

    def hint(self, name: str, value: Any) -> str:
        """Return what was probably meant, as the end of a message; nothing if no one knows."""
        # 0 and 1 would find what True and False meant.
        if isinstance(value, str | bool | np.bool_) and value in self.former:
            return f" {name}={value!r} is now spelt {name}={self.former[value]!r}."
        return suggestion(value, self.options) if isinstance(value, str) else ""


class Range(Interval):
    """A range of numbers, to which True and False do not belong.

    Examples
    --------
    >>> from numbers import Integral
    >>> from splmll.constraints import Range
    >>> Range(Integral, 1, None, closed="left").is_satisfied_by(True)
    False
    """

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether the value is a number in the range."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)


class Condition(Options):
    """What meets a condition that is neither a range nor a list of words.

    Parameters
    ----------
    meaning : str
        What it asks for; follows "must be" in a message.
    holds : callable
        Whether a value meets it.

    Examples
    --------
    >>> from splmll.constraints import Condition
    >>> Condition("even", lambda value: value % 2 == 0).is_satisfied_by(3)
    False
    """

    def __init__(self, meaning: str, holds: Callable[[Any], bool]) -> None:
        # scikit-learn takes no other constraints than its own; this one asks for least.
        super().__init__(object, set())
        self.meaning = meaning
        self.holds = holds

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether the value will do."""
        return self.holds(val)

    def __str__(self) -> str:
        return self.meaning


def _are_whole_numbers(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray) and all(
        isinstance(size, Integral) and int(size) >= 1 for size in value
    )


# Rows that many tables share.
COUNT = Range(Integral, 1, None, closed="left")
POSITIVE = Range(Real, 0, None, closed="neither")
NOT_NEGATIVE = Range(Real, 0, None, closed="left")
SHARE = Range(Real, 0, 1, closed="right")
SHARE_BELOW_ONE = Range(Real, 0, 1, closed="left")
FINITE = Range(Real, None, None, closed="neither")
LAYER_SIZES = Condition(
    "a tuple or list of integers of at least 1, such as (512, 64)", _are_whole_numbers
)
LEARNER = HasMethods("fit")
REGRESSOR = HasMethods(["fit", "predict"])
N_JOBS: list[Any] = [Integral, None]
RANDOM_STATE: list[Any] = ["random_state"]
