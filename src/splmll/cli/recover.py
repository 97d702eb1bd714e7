"""``splmll recover``: all labels of rows for which people looked only at the landmarks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer


def recover(
    model: Annotated[Path, typer.Argument(help="What `splmll fit` wrote.", metavar="MODEL")],
    file: Annotated[
        Path,
        typer.Argument(
            help="A table with a column for each landmark: 1, 0, or nothing where unknown.",
            metavar="FILE",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="A .csv, .parquet or .jsonl file for the tags.",
            show_default="CSV to standard output",
        ),
    ] = None,
    formulas: Annotated[
        bool,
        typer.Option("--formulas", help="Leave CSV cells that a spreadsheet would compute alone."),
    ] = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print JSON: one object for each row, or the summary with --out."
        ),
    ] = False,
) -> None:
    """Complete all labels from those of the landmarks, without looking at the rows themselves.

    `splmll landmarks MODEL` says which columns the file needs. A landmark that is given keeps its
    value.

    Examples
    --------
        splmll recover model landmarks.csv --out tags.csv
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.cli._show import show_written
    from splmll.tagging import Tagger
    from splmll.tagging.files import read_landmarks
    from splmll.tagging.output import check_output, prediction_writer

    if out is not None:
        check_output(out, file)
    tagger = Tagger.load(model)
    answers = read_landmarks(file, tagger.landmark_names)
    with prediction_writer(
        out, tagger.reading, tagger.label_names, as_json=json, formulas=formulas
    ) as writer:
        labels = tagger.recover(answers)
        writer.write(labels, None, {})
    if out is not None:
        show_written(Counter(labels.to_numpy().sum(axis=1).tolist()), out, as_json=json)
