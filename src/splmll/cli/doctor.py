"""``splmll doctor``: problems in a file or a model, before they do harm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from splmll.cli._options import Delimiter

if TYPE_CHECKING:
    from splmll.doctor import Finding

ERRORS_FOUND = 1  # status of the process
_INDENT = "  "
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def doctor(
    subject: Annotated[
        Path,
        typer.Argument(
            help="A table with tags, as for `splmll fit`, or a model that it wrote.",
            metavar="FILE|MODEL",
        ),
    ],
    labels: Annotated[
        list[str] | None,
        typer.Option(help="The column of tags, or columns of 0 and 1.", metavar="COLUMN"),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="A column of texts; can be repeated.", metavar="COLUMN"),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A column to leave out; can be repeated.", metavar="COLUMN"),
    ] = None,
    delimiter: Delimiter = None,
    test: Annotated[
        Path | None,
        typer.Option(help="Test rows with tags.", metavar="FILE"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Find problems in a file or a model, and say what to do about them.

    In a file: labels that are constant, rare, identical or spelled in two ways; rows that are in
    both training and test, repeated or without labels; columns that are constant, empty, ids, on
    very different scales or mistaken for another kind. In a model: landmarks that save or carry
    nothing, labels that are always or never predicted, extreme thresholds, other library versions,
    damage.

    The exit status is 1 if an error was found, and 0 otherwise, even with warnings and notes.

    Examples
    --------
        splmll doctor notes.csv --text body --labels tags

        splmll doctor notes.csv --labels tags --test test.csv --json

        splmll doctor model
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.cli._show import show_json

    is_model = subject.is_dir() or subject.suffix.lower() == ".zip"
    options = {"labels": labels, "text": text, "ignore": ignore, "delimiter": delimiter}
    if is_model:
        found = _of_model(subject, test, [name for name, given in options.items() if given])
    else:
        found = _of_file(subject, test, labels or [], text or [], ignore or [], delimiter)
    counts = {severity: sum(each.severity == severity for each in found) for severity in _STYLES}
    if json:
        show_json(
            {
                "subject": str(subject),
                "kind": "model" if is_model else "data",
                "counts": counts,
                "findings": [each.to_dict() for each in found],
            }
        )
    else:
        _show(found, counts)
    if counts["error"]:
        raise typer.Exit(ERRORS_FOUND)


def _of_model(subject: Path, test: Path | None, given: list[str]) -> list[Finding]:
    from splmll.doctor import examine_model_file
    from splmll.tagging import Tagger
    from splmll.tagging.files import read_alike

    if given:
        options = " and ".join(f"--{name}" for name in given)
        raise ValueError(
            f"{subject}: folders and zip files are read as models, which know their columns; "
            f"leave out {options}, or give a file with rows."
        )
    if test is None:
        return examine_model_file(subject)
    tagger = Tagger.load(subject)
    return examine_model_file(subject, test=read_alike(test, tagger.reading, tagger.column_kinds))


def _of_file(
    subject: Path,
    test: Path | None,
    labels: list[str],
    text: list[str],
    ignore: list[str],
    delimiter: str | None,
) -> list[Finding]:
    from splmll.doctor import examine
    from splmll.tagging import read_examples
    from splmll.tagging.files import read_alike

    data, reading = read_examples(subject, labels, delimiter=delimiter, text=text, ignore=ignore)
    other = None if test is None else read_alike(test, reading, data.column_kinds)
    return examine(data, test=other)


def _show(found: list[Finding], counts: dict[str, int]) -> None:
    import textwrap

    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for each in found:
        console.print(Text(f"{each.severity}: {each.check}", style=_STYLES[each.severity]))
        lines = textwrap.wrap(
            f"{each.what} {each.remedy}",
            console.width - len(_INDENT),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines:
            console.print(Text(f"{_INDENT}{line}"), soft_wrap=True)
        console.print()
    if not found:
        console.print("No problems found.")
        return
    parts = [f"{n} {name}{'s' * (n > 1)}" for name, n in counts.items() if n]
    console.print(f"{', '.join(parts)}.")
