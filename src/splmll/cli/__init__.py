"""The command line: ``splmll``, one file for each command, each a thin call into the library."""

from __future__ import annotations

import sys

from splmll.extras import with_remedy

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the program and end the process with its status.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments after the program name; by default those of this process.
    """
    try:
        from splmll.cli.app import main as run
    except ModuleNotFoundError as error:
        sys.exit(f"splmll: {with_remedy(error, 'The command line')}")
    run(arguments)
