"""Packages that only some people need: they come with an extra of the installation."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def required(package: str, extra: str, purpose: str) -> Any:
    """Import a package, or say how to install it.

    Parameters
    ----------
    package : str
        What is imported; a part of a package may be given by its dotted name.
    extra : str
        The extra that installs it.
    purpose : str
        What needs it; begins the sentence of the error.

    Returns
    -------
    module : module

    Examples
    --------
    >>> from splmll.extras import required
    >>> required("json", "web", "The service").dumps([1])
    '[1]'
    >>> required("no_such_package", "web", "The service")
    Traceback (most recent call last):
        ...
    ImportError: The service needs the package no_such_package: pip install "splmll[web]".
    """
    try:
        return import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise ImportError(
            f'{purpose} needs the package {name}: pip install "splmll[{extra}]".'
        ) from error
