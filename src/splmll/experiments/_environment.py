"""Where a unit ran: versions of the packages, and facts about the machine."""

from __future__ import annotations

import os
import platform
import socket
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import psutil

MEGABYTE = 2**20

_PACKAGES = ("splmll", "numpy", "scipy", "scikit-learn", "torch", "joblib", "pandas")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source folder
            continue
    return found


@cache
def host_facts() -> dict[str, Any]:
    """Return name, system, processor, cores and memory of this machine."""
    return {
        "name": socket.gethostname(),
        "system": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "memory_mb": round(psutil.virtual_memory().total / MEGABYTE),
    }
