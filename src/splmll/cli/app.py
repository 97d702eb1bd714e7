"""The program ``splmll``: its commands, and how it ends.

Bad input ends with status 2, a failure with 1, in both cases with a line or two that say what to
do; ``--debug`` shows the full traceback.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from rich.console import Console

from splmll import __version__
from splmll.cli.annotate import annotate
from splmll.cli.audit import audit
from splmll.cli.benchmark import benchmark
from splmll.cli.compare import compare
from splmll.cli.complete import complete
from splmll.cli.datasets import datasets
from splmll.cli.doctor import doctor
from splmll.cli.evaluate import evaluate
from splmll.cli.explain import explain
from splmll.cli.export import export
from splmll.cli.fit import fit
from splmll.cli.landmarks import landmarks
from splmll.cli.methods import methods
from splmll.cli.predict import predict
from splmll.cli.recover import recover
from splmll.cli.reproduce import reproduce
from splmll.cli.serve import serve
from splmll.extras import installed_extras, with_remedy

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130

# Typer brings its own copy of Click along, or takes the one installed: its errors tell which.
_UsageProblem: type[Exception] = next(
    each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException"
)

# Files and folders that are not there, or not what they should be.
_WRONG_PLACES = (
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)

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
    "Tag your own table": (
        doctor,
        fit,
        predict,
        evaluate,
        explain,
        landmarks,
        annotate,
        audit,
        complete,
        recover,
        export,
        serve,
    ),
    "Compare methods": (compare, benchmark, reproduce),
    "Look up": (datasets, methods),
}


def _help_of(command: Callable[..., None]) -> str:
    """Return the docstring of a command for a terminal of any width."""
    text, _, examples = inspect.cleandoc(command.__doc__ or "").partition("Examples\n--------\n")
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    return "\n\n".join([*paragraphs, "[bold]Examples[/bold]", *lines])


for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel, help=_help_of(_command))(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        extras = ", ".join(installed_extras()) or "none"
        typer.echo(f"{__version__}\nextras: {extras}")
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
        The arguments after the program name; by default those of this process.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments
    _print_everything()
    hook = sys.unraisablehook
    if not debug:
        # Arrow shows tracebacks of errors that it then reports in an orderly way.
        sys.unraisablehook = lambda _: None
    try:
        status = app(args=[each for each in arguments if each != "--debug"], standalone_mode=False)
        sys.stdout.flush()  # a full disk is noticed here, not when nobody can tell of it any more
    except (typer.Abort, KeyboardInterrupt):
        status = INTERRUPTED
    except typer.Exit as ending:
        status = ending.exit_code
    except _UsageProblem as error:
        status = _tell_usage(error, debug)
    except _WRONG_PLACES as error:
        status = _tell(f"{_file_problem(error)}; check the path.", BAD_INPUT, debug)
    except ModuleNotFoundError as error:
        status = _tell(with_remedy(error, "This command"), BAD_INPUT, debug)
    except (ValueError, ImportError) as error:
        status = _tell(error, BAD_INPUT, debug)
    except OSError as error:
        status = _tell(f"{_file_problem(error)}.", FAILURE, debug)
    except MemoryError as error:
        few = "There is not enough memory. Use fewer rows or columns, or fit with --stream."
        status = _tell(str(error) or few, FAILURE, debug)
    except Exception as error:
        kind = type(error).__name__
        status = _tell(f"{kind}: {error}\nRun again with --debug to see where.", FAILURE, debug)
    finally:
        sys.unraisablehook = hook
    if status == INTERRUPTED:
        _tell("Stopped; what was finished is kept.", INTERRUPTED)
    # A command that ended well returns nothing; one that raised typer.Exit, its status.
    sys.exit(status or 0)


def _print_everything() -> None:
    """Write characters that the terminal cannot show by their numbers: no fit is lost."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _tell_usage(error: Any, debug: bool) -> int:
    """Say what was wrong with the input, and where the options are explained."""
    message = error.format_message()
    if not message:
        return int(error.exit_code)  # the help that `splmll` alone prints is the message
    command = error.ctx.command_path if getattr(error, "ctx", None) else "splmll"
    message = message if message.endswith((".", "?")) else f"{message}."
    return _tell(f"{message} See `{command} --help`.", error.exit_code, debug)


def _file_problem(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error).rstrip(".")


def _tell(what: object, status: int, debug: bool = False) -> int:
    if debug:
        traceback.print_exc()
    else:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        console.print(f"splmll: {what}", markup=False)
    return status
