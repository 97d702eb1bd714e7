"""The error of everything that is wrong with a model file, or with a model to be written to one."""

from __future__ import annotations

from typing import Any


class ModelFileError(ValueError):
    """A model cannot be written to a file, or a file is not one that can be loaded.

    Examples
    --------
    >>> from splmll.persistence import ModelFileError, load
    >>> try:
    ...     load("no-such-model")
    ... except ModelFileError as error:
    ...     print(error)
    no-such-model: there is no such file or folder. Give the path that save() was given.
    """


def expect(condition: Any, what: str) -> None:
    """Refuse a file in which something does not fit together."""
    if not condition:
        raise ModelFileError(f"The model file is damaged: {what}.")
