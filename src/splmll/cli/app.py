"""The program ``splmll``: its commands, and how it ends.

Bad input ends with status 2, a failure with 1, in both cases with a line or two that say what to
do; ``--debug`` shows the whole story.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Annotated

import click
import typer
from rich.console import Console

from splmll import __version__
from splmll.cli.compare import compare
from splmll.cli.datasets import datasets
from splmll.cli.evaluate import evaluate
from splmll.cli.explain import explain
from splmll.cli.fit import fit
from splmll.cli.landmarks import landmarks
from splmll.cli.methods import methods
from splmll.cli.predict import predict
from splmll.cli.recover import recover
from splmll.cli.reproduce import reproduce
from splmll.exceptions import DatasetError

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130

app = typer.Typer(
    name="splmll",
    help="Multi-label learning with predictable landmarks.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# In the order of use: one's own table first, then comparisons, then what there is.
_COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Tag your own table": (fit, predict, evaluate, explain, landmarks, recover),
    "Compare methods": (compare, reproduce),
    "Look up": (datasets, methods),
}
for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Multi-label learning with predictable landmarks."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program and end the process with its status.

    Parameters
    ----------
    arguments : list of str, optional
        What was typed behind the program's name; by default that of this process.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    try:
        app(args=[each for each in arguments if each != "--debug"], standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(_tell("Stopped.", INTERRUPTED))
    except KeyboardInterrupt:
        sys.exit(_tell("Stopped; what was finished is kept.", INTERRUPTED))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as ending:
        sys.exit(ending.exit_code)
    except (DatasetError, ValueError, FileNotFoundError, ImportError) as error:
        sys.exit(_tell(error, BAD_INPUT, debug))
    except Exception as error:
        sys.exit(_tell(error, FAILURE, debug))


def _tell(what: object, status: int, debug: bool = False) -> int:
    if debug:
        traceback.print_exc()
    else:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        console.print(f"splmll: {what}", markup=False)
    return status
