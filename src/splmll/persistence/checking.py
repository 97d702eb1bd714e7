"""What the table of checks is written with: small statements about the attributes of an object.

Each returns a check, which looks at a finished object and raises :class:`Misfit` where it is wrong.
An attribute that is missing or None is left alone: objects may be unfitted, and Python itself
notices what is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

#: Sizes of an object by the letters of the table; a letter means the same in all its attributes.
Sizes = dict[str, int]
Check = Callable[[Any, Sizes], None]

#: The letter for the number of features an object was fitted with.
FEATURES = "p"
_ANY = "?"
_MOST_JOBS = 1024
LARGEST_INDEX = 2**31 - 1


class Misfit(ValueError):
    """Something in an object does not fit together; the message says what."""


def require(condition: Any, what: str) -> None:
    """Raise Misfit unless a condition holds."""
    if not condition:
        raise Misfit(what)


def shapes(**patterns: str) -> Check:
    """Say which shapes numeric arrays, sparse matrices and tensors have.

    A pattern has one letter or number for each axis, ``"k p"``; ``"?"`` is any length, ``""`` a
    single number, and ``|`` stands between alternatives. The first array with a letter decides what
    it means, but for ``p``, which is ``n_features_in_``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from splmll.persistence.checking import shapes
    >>> shapes(coef_="k p", intercept_="k")(
    ...     SimpleNamespace(coef_=np.ones((2, 3)), intercept_=np.ones(3)), {}
    ... )
    Traceback (most recent call last):
        ...
    splmll.persistence.checking.Misfit: intercept_ of SimpleNamespace has the shape 3 ...
    """

    def check(value: Any, sizes: Sizes) -> None:
        for name, pattern in patterns.items():
            found = getattr(value, name, None)
            if found is not None:
                _check_shape(found, pattern, sizes, f"{name} of {type(value).__name__}")

    return check


def lists(**patterns: str) -> Check:
    """Say which lists of arrays there are: ``"k: p ?"`` are k of the shape after the colon.

    Without a colon the items may be anything.
    """

    def check(value: Any, sizes: Sizes) -> None:
        for name, pattern in patterns.items():
            items = getattr(value, name, None)
            if items is None:
                continue
            what = f"{name} of {type(value).__name__}"
            length, colon, each = pattern.partition(":")
            require(_is_sequence(items), f"{what} is no list")
            fits = _fits((len(items),), length.split(), sizes)
            require(fits is not None, f"{what} has {len(items)} items")
            sizes.update(fits or {})
            for item in items if colon else ():
                _check_shape(item, each.strip(), sizes, what)

    return check


def below(**limits: str | int) -> Check:
    """Say which whole numbers count from 0, and the size or number they stay below."""

    def check(value: Any, sizes: Sizes) -> None:
        for name, limit in limits.items():
            found = getattr(value, name, None)
            if found is None or (isinstance(limit, str) and limit not in sizes):
                continue
            most = sizes[limit] if isinstance(limit, str) else limit
            require(
                are_indices(found, most),
                f"{name} of {type(value).__name__} has a number that is not from 0 to {most - 1}",
            )

    return check


def are_indices(found: Any, most: int) -> bool:
    """Whether all values are whole numbers from 0 to below a limit."""
    array = np.asarray(found)
    if array.size == 0:
        return True
    return bool(array.dtype.kind in "iu" and array.min() >= 0 and array.max() < most)


def whole(**ranges: tuple[int, int]) -> Check:
    """Say between which limits whole numbers are, or all those of a tuple."""

    def check(value: Any, sizes: Sizes) -> None:
        for name, (low, high) in ranges.items():
            found = getattr(value, name, None)
            if found is None:
                continue
            for item in found if _is_sequence(found) else [found]:
                require(
                    is_whole(item, low, high),
                    f"{name} of {type(value).__name__} is not a whole number from {low} to {high}",
                )

    return check


def is_whole(value: Any, low: int, high: int) -> bool:
    """Whether a value is a whole number between two limits, or one of them."""
    known = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    return known and low <= value <= high


def one_of(**values: tuple[Any, ...]) -> Check:
    """Say which values, or lists of them, there may be; functions that may be named always are."""

    def check(value: Any, sizes: Sizes) -> None:
        for name, allowed in values.items():
            found = getattr(value, name, None)
            if found is None or callable(found):
                continue
            for item in found if _is_sequence(found) else [found]:
                require(
                    type(item) in {type(each) for each in allowed} and item in allowed,
                    f"{name} of {type(value).__name__} is {item!r}, not one of {allowed}",
                )

    return check


def some(*letters: str) -> Check:
    """Say which sizes are not 0."""

    def check(value: Any, sizes: Sizes) -> None:
        for letter in letters:
            require(sizes.get(letter, 1) > 0, f"a {type(value).__name__} is empty")

    return check


def nothing(**why: str) -> Check:
    """Say which attributes have to be None, and why."""

    def check(value: Any, sizes: Sizes) -> None:
        for name, reason in why.items():
            found = getattr(value, name, None)
            require(found is None, f"{name} of {type(value).__name__} is set: {reason}")

    return check


def hides_no_class_attribute(value: Any, sizes: Sizes) -> None:
    """Check that nothing replaces what a class sets for all its objects.

    That decides how methods work, such as which routine of LIBSVM is run. What a class declares
    with a type, as data classes do, is meant to be set.
    """
    bases = type(value).__mro__
    for name in vars(value):
        declared = any(name in vars(base).get("__annotations__", ()) for base in bases)
        fixed = any(name in vars(base) for base in bases) and not declared
        require(not fixed, f"{type(value).__name__} has no attribute {name!r} of its own")


def of_every_object(value: Any, sizes: Sizes) -> None:
    """Check what objects of all classes have in common; it comes before all other checks."""
    cls = type(value)
    features = getattr(value, "n_features_in_", None)
    if features is not None:
        require(
            is_whole(features, 0, LARGEST_INDEX),
            f"n_features_in_ of {cls.__name__} is not a size",
        )
        sizes[FEATURES] = int(features)
    names = getattr(value, "feature_names_in_", None)
    if names is not None and features is not None:
        require(np.shape(names) == (features,), f"{cls.__name__} names other features")
    jobs = getattr(value, "n_jobs", None)
    possible = jobs is None or is_whole(jobs, -_MOST_JOBS, _MOST_JOBS)
    require(possible, f"n_jobs of {cls.__name__} is {jobs!r}")


def _is_sequence(value: Any) -> bool:
    of_objects = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
    return isinstance(value, (list, tuple)) or of_objects


def _check_shape(found: Any, pattern: str, sizes: Sizes, what: str) -> None:
    shape = _shape(found)
    require(shape is not None, f"{what} is no array of numbers")
    for alternative in pattern.split("|"):
        fits = _fits(shape, alternative.split(), sizes)
        if fits is not None:
            sizes.update(fits)
            return
    written = " x ".join(map(str, shape or ())) or "of a single number"
    known = {letter: sizes[letter] for letter in pattern if letter in sizes}
    require(False, f"{what} has the shape {written} in place of {pattern!r} {known or ''}".rstrip())


def _shape(found: Any) -> tuple[int, ...] | None:
    """Return the shape of numbers; None for everything else."""
    if isinstance(found, (bool, int, float)):
        return ()
    if isinstance(found, (np.ndarray, np.generic)) or sparse.issparse(found):
        return tuple(found.shape) if found.dtype.kind in "biuf" else None
    is_tensor = type(found).__module__.partition(".")[0] == "torch" and hasattr(found, "shape")
    return tuple(found.shape) if is_tensor else None


def _fits(shape: tuple[int, ...] | None, letters: list[str], sizes: Sizes) -> Sizes | None:
    """Return the sizes that letters get from a shape, None where it is another."""
    if shape is None or len(shape) != len(letters):
        return None
    new: Sizes = {}
    for length, letter in zip(shape, letters, strict=True):
        if letter == _ANY:
            continue
        wanted = int(letter) if letter.isdigit() else {**new, **sizes}.get(letter, length)
        if length != wanted:
            return None
        if not letter.isdigit():
            new[letter] = length
    return new
