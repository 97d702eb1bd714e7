"""Commands of ``splmll`` as tests run them: in this process, which is quick, or in another."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from splmll.cli import main
from warm_processes import run_apart


def trouble(said: str) -> str:
    """Return what is said from an error on; lines before it tell what was being done."""
    start = said.find("splmll: ")
    return said[start:] if start >= 0 else ""


def here(capfd, *arguments: object) -> tuple[int, str, str]:
    """Run a command in this process; return its status and what it printed."""
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    printed = capfd.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


def apart(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, which has the imports behind it."""
    return run_apart(main, [*map(str, arguments)], environment={**os.environ, "COLUMNS": "100"})


def typed(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as from a shell, in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-m", "splmll", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100", **environment},
        timeout=300,
    )
