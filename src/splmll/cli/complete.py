"""``splmll complete``: all labels of rows for which people have answered some questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splmll.cli._options import Cut, Formulas, Keep, Model, RowsAsJson, Scores, TagsFile


def complete(
    model: Model,
    file: Annotated[
        Path,
        typer.Argument(
            help="A table with the columns of the model and columns of labels: 1, 0, or empty if "
            "not known.",
            metavar="FILE",
        ),
    ],
    out: TagsFile = None,
    scores: Scores = False,
    keep: Keep = None,
    threshold: Cut = None,
    formulas: Formulas = False,
    json: RowsAsJson = False,
) -> None:
    """Fill in all labels from the rows and the known labels.

    The column of a label has its name, with or without the prefix `label:`, which `splmll annotate
    --export` writes; labels that nobody was asked about need no column. Known labels keep their
    values. In a column of tags, an empty cell means that nothing is known about the row.

    Examples
    --------
        splmll complete model answers.csv --out tags.csv

        splmll complete model answers.csv --keep id --scores --threshold 0.7 --out tags.parquet
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    import numpy as np

    from splmll.cli._completed import write_completed
    from splmll.exceptions import DatasetError
    from splmll.names import listed
    from splmll.tagging import Tagger
    from splmll.tagging.files import LABEL_PREFIX, read_features, read_known_labels
    from splmll.tagging.output import check_output

    if out is not None:
        check_output(out)
    tagger = Tagger.load(model)
    rows, table = read_features(file, tagger.column_kinds)
    known = read_known_labels(table, tagger.label_names, tagger.reading, tagger.column_kinds)
    if np.isnan(known).all():
        columns = [f"{LABEL_PREFIX}{name}" for name in tagger.label_names]
        raise DatasetError(
            f"no label is known; add columns such as {listed(columns[:3])} with 1 and 0, or use "
            "`splmll predict`",
            path=file,
        )
    write_completed(
        tagger.complete(rows, known),
        known,
        tagger,
        table,
        out=out,
        keep=keep or [],
        scores=scores,
        threshold=threshold,
        json=json,
        formulas=formulas,
    )
