"""Options that several commands have, each with one name, one meaning and one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# Models and what is written ---------------------------------------------------------------------

Model = Annotated[Path, typer.Argument(help="A model written by `splmll fit`.", metavar="MODEL")]
TagsFile = Annotated[
    Path | None,
    typer.Option(
        help="A .csv, .parquet or .jsonl file for the tags.", show_default="CSV to standard output"
    ),
]
Scores = Annotated[
    bool, typer.Option("--scores", help="Also write the score of each label, from 0 to 1.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="A column to copy, such as an id; can be repeated.", metavar="COLUMN"),
]
Cut = Annotated[
    float | None,
    typer.Option(
        help="Score from which a label is predicted, from 0 to 1.",
        min=0.0,
        max=1.0,
        show_default="the model's own rule",
    ),
]
Formulas = Annotated[
    bool,
    typer.Option(
        "--formulas", help="Do not escape CSV cells that a spreadsheet would treat as formulas."
    ),
]
RowsAsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON: one object per row, or the summary with --out."),
]

# Tables with tags -------------------------------------------------------------------------------

TaggedTable = Annotated[
    Path,
    typer.Argument(help="A CSV, TSV or Parquet table, or an ARFF or LIBSVM file.", metavar="FILE"),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        help="The column of tags. Or columns of 0 and 1: repeat the option for each, or give a "
        "prefix with a star such as 'is_*'.",
        metavar="COLUMN",
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        help="A column of texts; can be repeated.",
        metavar="COLUMN",
        show_default="columns of several words",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(help="A column to leave out, such as an id; can be repeated.", metavar="COLUMN"),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="The separator between two tags.", show_default="the first of ; | , used"),
]
MinCount = Annotated[
    int | None,
    typer.Option(
        help="Leave out tags with fewer rows than this.",
        min=1,
        metavar="N",
        show_default="keep all",
    ),
]
Jobs = Annotated[
    int | None, typer.Option(help="Number of folds trained in parallel.", show_default="1")
]

# Services ---------------------------------------------------------------------------------------

Port = Annotated[int, typer.Option(help="The port; 0 picks a free one.", min=0, max=65535)]
Host = Annotated[str, typer.Option(help="The interface; 0.0.0.0 for all, best with a token.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        help="A file with the token that clients must send.",
        show_default="the variable SPLMLL_TOKEN, if set",
    ),
]
