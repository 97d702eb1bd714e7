"""Real processes that start at once: children of one that has the imports behind it.

A fresh interpreter takes seconds to import what a command needs. Each of these has its own memory,
folder, environment and streams all the same; what depends on how an interpreter starts needs a
cold one.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

IMPORTED = [
    "matplotlib.pyplot",
    "torch",
    "splmll.annotation",
    "splmll.cli.app",
    "splmll.doctor",
    "splmll.experiments.report",
    "splmll.experiments.runner",
    "splmll.tagging",
]
LIMIT = 600  # seconds


def processes() -> Any:
    """Return what starts them, as the module :mod:`multiprocessing` would."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


def run_apart(
    function: Callable[..., None],
    *arguments: Any,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Call a function in a process of its own; return its status and what it printed."""
    with tempfile.TemporaryDirectory() as place:
        said = Path(place) / "out", Path(place) / "err"
        begin = function, arguments, folder, dict(environment or os.environ), said
        process = processes().Process(target=_begin, args=begin)
        process.start()
        process.join(LIMIT)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(str(function), LIMIT)
        out, err = (file.read_text("utf-8") if file.exists() else "" for file in said)
    return subprocess.CompletedProcess(arguments, process.exitcode, out, err)


def _begin(
    function: Callable[..., None],
    arguments: tuple[Any, ...],
    folder: Path | None,
    environment: dict[str, str],
    said: tuple[Path, Path],
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # asked of the environment again
    for number, file in enumerate(said, start=1):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )
    if folder is not None:
        os.chdir(folder)
    function(*arguments)
