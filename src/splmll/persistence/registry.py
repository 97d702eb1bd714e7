"""The classes and functions that a model file may name; a file that names another is refused.

Classes are those of the table in :mod:`splmll.persistence.checks`, which says what is checked of
each: one without checks is not loaded.

Names are public ones (``sklearn.preprocessing.StandardScaler``), so that files do not depend on
where code is kept: for the library's own classes see :mod:`splmll.persistence.names`, and for those
of earlier versions :mod:`splmll.persistence.moved`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from splmll.persistence.checks import CHECKS
from splmll.persistence.errors import ModelFileError
from splmll.persistence.moved import CHANGED, RENAMED, Conversion
from splmll.persistence.names import name_of_own, own_class

FUNCTIONS: dict[str, str] = {
    "numpy": "abs arcsinh cbrt exp expm1 log log10 log1p log2 sign sqrt square tanh",
    "scipy.special": "expit logit",
    "sklearn.feature_selection": (
        "chi2 f_classif f_regression mutual_info_classif mutual_info_regression"
    ),
    "sklearn.metrics.pairwise": (
        "chi2_kernel cosine_similarity laplacian_kernel linear_kernel polynomial_kernel rbf_kernel "
        "sigmoid_kernel"
    ),
    "sklearn.preprocessing": "maxabs_scale minmax_scale normalize robust_scale scale",
}

# Types that appear as settings, for instance TfidfVectorizer(dtype=numpy.float64).
VALUE_TYPES: dict[str, type] = {
    **{f"builtins.{t.__name__}": t for t in (bool, bytes, float, int, object, str)},
    **{
        f"numpy.{t.__name__}": t
        for t in (
            *(np.float16, np.float32, np.float64, np.bool_, np.str_, np.object_),
            *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        )
    },
}

FUNCTION_NAMES = frozenset(
    f"{module}.{name}" for module, names in FUNCTIONS.items() for name in names.split()
)


class Registry:
    """What may be named: classes of the library, the lists above, and what the caller trusts.

    Parameters
    ----------
    trusted : iterable of classes and functions
        The caller's own, for instance a torch module class.

    Examples
    --------
    >>> from splmll.persistence.registry import Registry
    >>> from sklearn.preprocessing import StandardScaler
    >>> Registry().name_of_class(StandardScaler)
    'sklearn.preprocessing.StandardScaler'
    >>> Registry().class_named("subprocess.Popen")
    Traceback (most recent call last):
        ...
    splmll.persistence.errors.ModelFileError: The class 'subprocess.Popen' ...
    """

    def __init__(self, trusted: Iterable[Any] = ()) -> None:
        self.trusted: dict[str, Any] = {}
        for item in trusted:
            if not isinstance(item, type) and not callable(item):
                raise TypeError(f"trusted must hold classes and functions, got {item!r}.")
            self.trusted[full_name(item)] = item

    def name_of_class(self, cls: type) -> str | None:
        """Return the name for a file, or None where the class may not be in one."""
        name = full_name(cls)
        if self.trusted.get(name) is cls:
            return name
        own = name_of_own(cls)
        if own is not None:
            return own if own in CHECKS else None
        public = f"{_public_module(cls.__module__)}.{cls.__qualname__}"
        return public if public in CHECKS and _find(public) is cls else None

    def class_named(self, name: Any) -> type:
        """Return the class of this name, refusing all that may not be in a file."""
        found = self.trusted.get(name)
        if found is None and isinstance(name, str):
            name = RENAMED.get(name, name)
            if name in CHECKS:
                found = own_class(name) if name.startswith("splmll.") else _find(name)
        if not isinstance(found, type):
            raise ModelFileError(
                f"The class {name!r} is not allowed in a model file. If it is your own, "
                "and you trust the file, pass it: load(path, trusted=[TheClass])."
            )
        return found

    def checked_as(self, cls: type) -> tuple[list[str], bool]:
        """Return the entries of the table for a class, and whether it is the caller's own.

        Of a class that the caller trusts, the bases are checked that are in the table.
        """
        if self.trusted.get(full_name(cls)) is not cls:
            return [str(self.name_of_class(cls))], False
        names = (self.name_of_class(base) for base in cls.__mro__[1:])
        return [name for name in names if name in CHECKS], True

    def conversion_of(self, name: Any) -> Conversion | None:
        """Return what turns an object of an earlier version into one of today, if it changed."""
        return CHANGED.get(name) if isinstance(name, str) else None

    def check_class(self, name: Any) -> None:
        """Refuse a name that is none of a class, of today or of an earlier version."""
        if self.conversion_of(name) is None:
            self.class_named(name)

    def name_of_function(self, function: Callable[..., Any]) -> str | None:
        """Return the name for a file, or None where the function may not be in one."""
        name = full_name(function)
        if self.trusted.get(name) is function:
            return name
        # By identity, not by name: numpy.abs calls itself "absolute".
        return next((name for name in sorted(FUNCTION_NAMES) if _find(name) is function), None)

    def function_named(self, name: Any) -> Callable[..., Any]:
        """Return the function of this name, refusing all that may not be in a file."""
        found = self.trusted.get(name)
        if found is None and isinstance(name, str) and name in FUNCTION_NAMES:
            found = _find(name)
        if found is None or isinstance(found, type):
            raise ModelFileError(
                f"The function {name!r} is not allowed in a model file. If it is your own, "
                "and you trust the file, pass it: load(path, trusted=[the_function])."
            )
        return found


def full_name(item: Any) -> str:
    """Return module and name of a class or function."""
    module = getattr(item, "__module__", None) or type(item).__module__
    return f"{module}.{getattr(item, '__qualname__', getattr(item, '__name__', repr(item)))}"


def _public_module(module: str) -> str:
    """Return the part before the first private or implementation module."""
    if module.startswith("torch.nn.modules"):
        return "torch.nn"
    parts = module.split(".")
    private = next((k for k, part in enumerate(parts) if part.startswith("_")), len(parts))
    return ".".join(parts[:private])


def _find(name: str) -> Any:
    """Return what a module defines under a name, None where it does not."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(import_module(module), last)
    except (ImportError, AttributeError):
        return None
