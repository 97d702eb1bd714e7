"""Names that were replaced: for a release they warn, and then they are refused.

Either message names the present one. Model files with former names still load; see
:mod:`splmll.persistence.moved`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, ClassVar, TypeVar

from sklearn.base import BaseEstimator

Function = TypeVar("Function", bound=Callable[..., Any])

# Where a decorated function keeps its names: former name -> present name and the last version.
_RENAMED = "_renamed_parameters"


def renamed_parameter(former: str, present: str, *, until: str) -> Callable[[Function], Function]:
    """Let a function or the constructor of an estimator take a parameter by its former name, too.

    Parameters
    ----------
    former, present : str
        The names.
    until : str
        The version that no longer knows the former name.

    Returns
    -------
    decorator : callable
        For the function, or for ``__init__``; ``set_params`` of the estimator then follows.

    Examples
    --------
    >>> import warnings
    >>> from splmll.former import renamed_parameter
    >>> @renamed_parameter("lam", "ridge", until="2.0")
    ... def solve(ridge=1.0):
    ...     return ridge
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     print(solve(lam=0.5))
    0.5
    >>> print(caught[0].message)
    The parameter lam of solve is now called ridge; version 2.0 will no longer know lam.
    """

    def decorate(function: Function) -> Function:
        owner = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
        renamed = {**getattr(function, _RENAMED, {}), former: (present, until)}

        @wraps(function)
        def translating(*args: Any, **parameters: Any) -> Any:
            return function(*args, **_translated(renamed, parameters, owner))

        setattr(translating, _RENAMED, renamed)
        return translating  # type: ignore[return-value]

    return decorate


def renamed_function(former: str, present: Function, *, until: str) -> Function:
    """Return a function under its former name, which warns and does the same.

    Parameters
    ----------
    former : str
        The former name.
    present : callable
        The function as it is now called.
    until : str
        The version that no longer knows the former name.

    Returns
    -------
    function : callable

    Examples
    --------
    >>> import warnings
    >>> from splmll.former import renamed_function
    >>> total = renamed_function("total", sum, until="2.0")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     print(total([1, 2]))
    3
    >>> print(caught[0].message)
    total is now called sum; version 2.0 will no longer know total.
    """

    @wraps(present)
    def warning(*args: Any, **parameters: Any) -> Any:
        warnings.warn(
            f"{former} is now called {present.__name__}; version {until} will no longer know "
            f"{former}.",
            FutureWarning,
            stacklevel=2,
        )
        return present(*args, **parameters)

    warning.__name__ = former
    warning.__doc__ = f"Call ``{present.__name__}`` instead, as this is now called."
    return warning  # type: ignore[return-value]


class FormerNames(BaseEstimator):
    """Estimators whose parameters once had other names.

    Examples
    --------
    >>> from splmll.methods import LEML
    >>> LEML(lam=0.1)
    Traceback (most recent call last):
        ...
    TypeError: The parameter lam of LEML is now called ridge.
    """

    #: Former name of a parameter -> present name.
    _former_names: ClassVar[dict[str, str]] = {}

    def __new__(cls, *args: Any, **parameters: Any) -> Any:
        """Refuse former names, which ``__init__`` would refuse without saying the new one."""
        cls._refuse_former(parameters, TypeError)
        return super().__new__(cls)

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters.

        Parameters
        ----------
        **parameters : dict
            Parameters of the estimator, also nested ones (``embedding__ridge``).

        Returns
        -------
        self : estimator
        """
        self._refuse_former(parameters, ValueError)
        renamed = getattr(type(self).__init__, _RENAMED, {})
        return super().set_params(**_translated(renamed, parameters, type(self).__name__))

    @classmethod
    def _refuse_former(cls, names: Iterable[str], error: type[Exception]) -> None:
        for name in names:
            if name in cls._former_names:
                raise error(
                    f"The parameter {name} of {cls.__name__} is now called "
                    f"{cls._former_names[name]}."
                )


def _translated(
    renamed: Mapping[str, tuple[str, str]], parameters: Mapping[str, Any], owner: str
) -> dict[str, Any]:
    """Return parameters by their present names, with a warning for the caller's caller."""
    translated = dict(parameters)
    for former, (present, until) in renamed.items():
        if former not in parameters:
            continue
        if present in parameters:
            raise TypeError(
                f"{owner} got {present} and also {former}, its former name: pass {present} alone."
            )
        warnings.warn(
            f"The parameter {former} of {owner} is now called {present}; version {until} will no "
            f"longer know {former}.",
            FutureWarning,
            stacklevel=3,
        )
        translated[present] = translated.pop(former)
    return translated
