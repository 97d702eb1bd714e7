"""Packages that only some people need: they come with an extra of the installation."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

#: Extra -> the packages it brings, by the names they are imported by.
EXTRAS: dict[str, tuple[str, ...]] = {
    "torch": ("torch",),
    "plots": ("matplotlib",),
    "cli": ("typer", "rich", "yaml"),
    "experiments": ("cloudpickle", "jinja2", "scikit_posthocs", "matplotlib", "rich"),
    "peers": ("catboost", "libmultilabel"),
    "boomer": ("mlrl",),
    "data": ("river",),
    "neighbours": ("faiss",),
    "distributed": ("dask", "distributed"),
    "mlflow": ("mlflow",),
    "onnx": ("onnx", "onnxruntime", "skl2onnx", "torch"),
    "serve": ("fastapi", "uvicorn", "python_multipart", "prometheus_client", "orjson"),
}


def installed(package: str) -> bool:
    """Return whether a package could be imported, without importing it.

    Examples
    --------
    >>> from splmll.extras import installed
    >>> installed("json"), installed("no_such_package")
    (True, False)
    """
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed, and of Python.

    Parameters
    ----------
    names : iterable of str
        The names they are installed by, such as ``"scikit-learn"``.

    Examples
    --------
    >>> from splmll.extras import versions
    >>> list(versions(["numpy", "no-such-package"]))
    ['python', 'numpy']
    """
    import platform
    from importlib.metadata import PackageNotFoundError, version  # slow, and rarely needed

    found = {"python": platform.python_version()}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def installed_extras() -> list[str]:
    """Return the extras all of whose packages are there.

    Examples
    --------
    >>> from splmll.extras import EXTRAS, installed_extras
    >>> set(installed_extras()) <= set(EXTRAS)
    True
    """
    return [extra for extra, packages in EXTRAS.items() if all(map(installed, packages))]


def with_remedy(error: ModuleNotFoundError, purpose: str) -> ImportError:
    """Return the error that says which extra brings the missing package; the same if none does.

    Examples
    --------
    >>> from splmll.extras import with_remedy
    >>> with_remedy(ModuleNotFoundError(name="torch"), "Network")
    ImportError('Network needs the package torch: pip install "splmll[torch]".')
    """
    package = str(error.name).partition(".")[0]
    extra = next((extra for extra, packages in EXTRAS.items() if package in packages), None)
    return error if extra is None else ImportError(_message(package, extra, purpose))


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
        raise ImportError(_message(name, extra, purpose)) from error


def _message(package: str, extra: str, purpose: str) -> str:
    return f'{purpose} needs the package {package}: pip install "splmll[{extra}]".'
