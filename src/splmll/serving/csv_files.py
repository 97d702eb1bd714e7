"""CSV in and out of the service, read and written as the command line does it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from splmll.exceptions import DatasetError
from splmll.serving.errors import ServiceError
from splmll.serving.limits import Limits
from splmll.tagging.files import iterate_rows, read_landmarks
from splmll.tagging.formulas import without_formula
from splmll.tagging.output import prediction_writer

if TYPE_CHECKING:
    from splmll.serving.model import Explained, Scored, ServedModel

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"


def read_csv_rows(content: bytes, model: ServedModel, kind: str, limits: Limits) -> Any:
    """Return the rows of a CSV file as the model takes them.

    Parameters
    ----------
    content : bytes
        The file; columns that the model does not know are ignored.
    model : ServedModel
        The model.
    kind : {"predict", "explain", "recover"}
        What is asked of it.
    limits : Limits
        How many rows it may have.

    Returns
    -------
    payload : Rows or ndarray
    """
    if content.startswith((_GZIP, _PARQUET)):
        # Packed, a small file may hold more than memory does.
        raise ServiceError(
            415, "packed_file", "The file is compressed (gzip or Parquet); send plain CSV."
        )
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ServiceError(
            422,
            "invalid_csv",
            f"The CSV file is not UTF-8 text (byte {error.start + 1}); save it as UTF-8.",
        ) from None
    with _file(content) as path:
        if kind == "recover":
            answers = read_landmarks(path, model.landmarks())
            limits.check_rows(len(answers))
            return answers.to_numpy(dtype=float)
        parts: list[pd.DataFrame] = []
        total = 0
        for frame, _ in iterate_rows(
            path, model.tagger.reading, model.reader.kinds, rows=limits.rows
        ):
            total += len(frame)
            limits.check_rows(total)
            parts.append(frame)
        return model.reader.of_frame(pd.concat(parts, ignore_index=True))


def rows_as_csv(rows: list[dict[str, Any]], model: ServedModel, kind: str) -> str:
    """Return rows as a CSV file that the service accepts."""
    columns = model.landmarks() if kind == "recover" else model.reader.columns
    return pd.DataFrame(rows, columns=columns).to_csv(index=False, lineterminator="\n")


def predictions_as_csv(
    found: Scored,
    model: ServedModel,
    threshold: float | None,
    *,
    scores: bool = False,
    formulas: bool = False,
) -> bytes:
    """Return predictions as ``splmll predict`` writes them."""
    names = model.label_names
    labels = pd.DataFrame(found.above(threshold).astype(int), columns=names)
    sure = pd.DataFrame(found.scores, columns=names) if scores else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tags.csv"
        with prediction_writer(path, model.tagger.reading, names, formulas=formulas) as writer:
            writer.write(labels, sure, {})
        return path.read_bytes()


def explanations_as_csv(
    found: Explained,
    model: ServedModel,
    threshold: float | None,
    top: int | None,
    *,
    formulas: bool = False,
) -> bytes:
    """Return explanations as one line for each row and label, best label of a row first."""
    predicted = found.scored.above(threshold)
    n_labels = len(model.label_names)
    order = np.argsort(-found.totals, axis=1, kind="stable")[:, : top or n_labels]
    row = np.repeat(np.arange(len(order)), order.shape[1])
    label = order.ravel()
    names = [name if formulas else without_formula(name) for name in model.label_names]
    table = pd.DataFrame(
        {
            "row": row + 1,
            "label": np.asarray(names, dtype=object)[label],
            "score": found.totals[row, label],
            "predicted": predicted[row, label].astype(int),
            "base": found.base[label],
        }
    )
    added = pd.DataFrame(
        found.contributions[row, :, label],
        columns=[f"landmark:{name}" for name in model.landmarks()],
    )
    whole = pd.concat([table, added], axis=1)
    if not formulas:
        whole = whole.rename(columns=without_formula)
    return whole.to_csv(index=False, lineterminator="\n", float_format="%.6g").encode()


@contextmanager
def _file(content: bytes) -> Iterator[Path]:
    """Give a file with the content; errors about it name no place that the client never saw."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_bytes(content)
        try:
            yield path
        except DatasetError as error:
            message = str(error).removeprefix(f"{path}").lstrip(":, ")
            raise ServiceError(
                422, "invalid_csv", f"The CSV file: {message.rstrip('.')}."
            ) from None
