"""Spellings that were replaced: using one is an error that names the present one.

Model files with the old spellings still load; see :mod:`splmll.persistence.moved`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from sklearn.base import BaseEstimator


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
        return super().set_params(**parameters)

    @classmethod
    def _refuse_former(cls, names: Iterable[str], error: type[Exception]) -> None:
        for name in names:
            if name in cls._former_names:
                raise error(
                    f"The parameter {name} of {cls.__name__} is now called "
                    f"{cls._former_names[name]}."
                )
