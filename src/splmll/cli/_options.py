"""Options that several commands have, each with one name, one meaning and one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# Models and what is written ---------------------------------------------------------------------

Model = Annotated[Path, typer.Argument(help="What `splmll fit` wrote.", metavar="MODEL")]
TagsFile = Annotated[
    Path | None,
    typer.Option(
        help="A .csv, .parquet or .jsonl file for the tags.", show_default="CSV to standard output"
    ),
]
Scores = Annotated[bool, typer.Option("--scores", help="Also how sure each label is, from 0 to 1.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="A column to copy, such as an id; may be given again.", metavar="COLUMN"),
]
Cut = Annotated[
    float | None,
    typer.Option(
        help="Score from which a label counts, from 0 to 1.",
        min=0.0,
        max=1.0,
        show_default="the model's own rule",
    ),
]
Formulas = Annotated[
    bool,
    typer.Option("--formulas", help="Leave CSV cells that a spreadsheet would compute alone."),
]
RowsAsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON: one object for each row, or the summary with --out."),
]

# Tables with tags -------------------------------------------------------------------------------

TaggedTable = Annotated[
    Path, typer.Argument(help="A CSV, TSV or Parquet table; or ARFF, LIBSVM.", metavar="FILE")
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        help="The column of tags. Or columns of 0 and 1: give the option again for each, or a "
        "prefix with a star such as 'is_*'.",
        metavar="COLUMN",
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        help="A column of texts; may be given again.",
        metavar="COLUMN",
        show_default="columns of several words",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        help="A column to leave out, such as an id; may be given again.", metavar="COLUMN"
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What stands between two tags.", show_default="the first of ; | , used"),
]
MinCount = Annotated[
    int | None,
    typer.Option(
        help="Leave out tags that fewer rows have.", min=1, metavar="N", show_default="keep all"
    ),
]
Jobs = Annotated[int | None, typer.Option(help="Folds trained at the same time.", show_default="1")]

# Services ---------------------------------------------------------------------------------------

Port = Annotated[int, typer.Option(help="The port; 0 takes any that is free.", min=0, max=65535)]
Host = Annotated[str, typer.Option(help="The interface; 0.0.0.0 for all, with a token.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        help="A file with the token that clients must send.",
        show_default="the variable SPLMLL_TOKEN, if there is one",
    ),
]
