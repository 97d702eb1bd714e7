"""The command line: ``splmll``, one file for each command, each a thin call into the library."""

from splmll.cli.app import main

__all__ = ["main"]
