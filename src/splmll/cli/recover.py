"""``splmll recover``: all labels of rows for which only the landmarks are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splmll.cli._options import Cut, Formulas, Keep, Model, RowsAsJson, Scores, TagsFile


def recover(
    model: Model,
    file: Annotated[
        Path,
        typer.Argument(
            help="A table with a column for each landmark: 1, 0, or empty if not known.",
            metavar="FILE",
        ),
    ],
    out: TagsFile = None,
    formulas: Formulas = False,
    scores: Scores = False,
    keep: Keep = None,
    threshold: Cut = None,
    json: RowsAsJson = False,
) -> None:
    """Fill in all labels from those of the landmarks, without looking at the rows themselves.

    `splmll landmarks MODEL` shows which columns the file needs. Given landmarks keep their values.

    Examples
    --------
        splmll recover model landmarks.csv --out tags.csv

        splmll recover model landmarks.csv --keep id --scores --threshold 0.7
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    import numpy as np

    from splmll.cli._completed import write_completed
    from splmll.datasets.columns import read_columns
    from splmll.tagging import Tagged, Tagger
    from splmll.tagging.files import read_landmarks
    from splmll.tagging.output import check_output

    if out is not None:
        check_output(out, file)
    tagger = Tagger.load(model)
    landmarks = tagger.landmark_names
    table = read_columns(file)
    answers = read_landmarks(table, landmarks)
    known = np.full((len(answers), len(tagger.label_names)), np.nan)
    known[:, [tagger.label_names.index(name) for name in landmarks]] = answers[landmarks]
    write_completed(
        Tagged(tagger.recover(answers), tagger.recover_scores(answers)),
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
