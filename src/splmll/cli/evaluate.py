"""``splmll evaluate``: how well a tagger does on rows whose tags are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splmll.cli._options import Model


def evaluate(
    model: Model,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A file with the same columns as the training file.",
            metavar="[FILE]",
            show_default="what the fit measured",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="List every label, not only the best and worst.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Measure a model on rows with tags that it has not learned from.

    Without a file, show again what `splmll fit` measured.

    Examples
    --------
        splmll evaluate model test.csv

        splmll evaluate model --all

        splmll evaluate model test.csv --json
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.cli._measured import show_measured
    from splmll.cli._show import show_json
    from splmll.names import listed
    from splmll.tagging import Tagger
    from splmll.tagging.files import read_alike

    tagger = Tagger.load(model)
    measured = tagger.measured
    if file is not None:
        measured = tagger.evaluate(read_alike(file, tagger.reading, tagger.column_kinds))
    if json:
        show_json(measured.to_dict())
        return
    show_measured(measured, tagger.method, every_label=every)
    if measured.unknown_labels:
        typer.echo(
            "Not measured, because the model has never seen them: "
            f"{listed(measured.unknown_labels)}.",
            err=True,
        )
