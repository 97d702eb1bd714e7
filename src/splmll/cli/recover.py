"""``splmll recover``: all labels of rows for which people looked only at the landmarks."""

from __future__ import annotations

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
            help="A .csv or .parquet file for the tags.", show_default="CSV to standard output"
        ),
    ] = None,
) -> None:
    """Complete all labels from those of the landmarks, without looking at the rows themselves.

    `splmll landmarks MODEL` says which columns the file needs. A landmark that is given keeps its
    value.

    Examples
    --------
        splmll recover model landmarks.csv --out tags.csv
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.tagging import Tagger
    from splmll.tagging.files import read_landmarks
    from splmll.tagging.output import check_output, prediction_writer

    if out is not None:
        check_output(out)
    tagger = Tagger.load(model)
    answers = read_landmarks(file, tagger.landmark_names)
    with prediction_writer(out, tagger.reading, tagger.label_names) as writer:
        writer.write(tagger.recover(answers), None, {})
