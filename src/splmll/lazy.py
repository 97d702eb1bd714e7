"""Names and submodules of a package that are imported when they are first asked for.

``import splmll`` and ``splmll --help`` answer without waiting for what they do not need.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any

from splmll.extras import with_remedy


def attach(
    package: str, homes: Mapping[str, str], submodules: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        Name -> module that has it.
    submodules : collection of str
        Submodules that are imported, too, when they are asked for.

    Returns
    -------
    __getattr__, __dir__ : callables

    Examples
    --------
    >>> import splmll
    >>> splmll.metrics.hamming_loss([[1, 0]], [[1, 1]])
    0.5
    """

    def get(name: str) -> Any:
        if name not in homes and name not in submodules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            if name in homes:
                value = getattr(import_module(homes[name]), name)
            else:
                value = import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            raise with_remedy(error, name) from error
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes, *submodules})

    return get, names
