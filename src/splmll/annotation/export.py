"""Answers as a table: the rows with a column for each label, empty if it is not known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

import numpy as np
import pandas as pd

from splmll.annotation.table import AnnotationTable
from splmll.atomic import atomic_write
from splmll.datasets.checks import check_unique
from splmll.tagging import Tagger
from splmll.tagging.files import LABEL_PREFIX
from splmll.tagging.output import check_suffix, check_writable

_PARQUET = (".parquet", ".pq")
_SUFFIXES = (".csv", *_PARQUET)


def answers_frame(
    table: AnnotationTable, known: np.ndarray, label_names: Sequence[str]
) -> pd.DataFrame:
    """Return all rows with their known labels.

    Parameters
    ----------
    table : AnnotationTable
        The rows.
    known : ndarray of shape (n_rows, n_labels)
        1, 0, or NaN if a label is not known; see :func:`splmll.annotation.known_labels`.
    label_names : sequence of str
        Names of the labels.

    Returns
    -------
    frame : DataFrame
        The columns of the table, then ``label:NAME`` for every label.
    """
    cells = {name: pd.Series(values, dtype=object) for name, values in table.columns.items()}
    names = [f"{LABEL_PREFIX}{name}" for name in label_names]
    check_unique([*cells, *names], "column of the result", None)
    labels = pd.DataFrame(known, columns=names).astype("Int8")
    return pd.concat([pd.DataFrame(cells, index=range(table.n_rows)), labels], axis=1)


def write_answers(
    path: str | Path, table: AnnotationTable, known: np.ndarray, label_names: Sequence[str]
) -> None:
    """Write :func:`answers_frame` to a CSV or Parquet file for ``splmll fit``."""
    place = Path(path)
    check_answers_place(place)
    frame = answers_frame(table, known, label_names)
    with atomic_write(place) as part:
        if place.suffix.lower() in _PARQUET:
            frame.to_parquet(part, index=False)
        else:
            frame.to_csv(part, index=False, lineterminator="\n")


def check_answers_place(path: Path) -> None:
    """Raise DatasetError unless answers can be written to such a file."""
    check_suffix(path, _SUFFIXES, "answers are")
    check_writable(path)


def fit_command(path: str | Path, table: AnnotationTable, tagger: Tagger) -> str:
    """Return the command that learns from exported answers in the same way as the model.

    Parameters
    ----------
    path : path-like
        The file with the answers.
    table : AnnotationTable
        The rows.
    tagger : Tagger
        The model that asked.

    Returns
    -------
    command : str
    """
    others = [name for name in table.columns if name not in tagger.column_kinds]
    words = [
        "splmll fit",
        quote(str(path)),
        *(f"--text {quote(name)}" for name in table.texts),
        f"--labels '{LABEL_PREFIX}*'",
        *(f"--ignore {quote(name)}" for name in others),
        "--out model",
    ]
    return " ".join(words)
