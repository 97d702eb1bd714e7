"""Rows and answers as tasks for Label Studio, and its annotations as answers.

A task holds the columns of a row as its data and the predicted labels as a prediction: a list of
choices, as the tag ``Choices`` of Label Studio writes them. An annotation says yes to its choices
and no to all other labels.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from splmll import __version__
from splmll.annotation.store import AnswerStore
from splmll.annotation.table import AnnotationTable
from splmll.atomic import atomic_write
from splmll.datasets.checks import decode, read_bytes
from splmll.exceptions import DatasetError
from splmll.names import listed, suggestion

CONTROL, TEXT = "labels", "text"  # names of the two tags of the labelling interface
_META = "splmll"  # key of what we add to a task
_FORM = "give tasks that Label Studio exported as JSON (not JSON-MIN)"


@dataclass(frozen=True)
class Imported:
    """The result of importing annotations.

    Attributes
    ----------
    rows, annotations : int
        Rows that got answers, and annotations that were new.
    known : int
        Annotations that had been imported before.
    """

    rows: int
    annotations: int
    known: int


def write_tasks(
    path: str | Path,
    table: AnnotationTable,
    label_names: Sequence[str],
    *,
    labels: np.ndarray,
    probabilities: np.ndarray,
    annotated: np.ndarray,
) -> None:
    """Write rows as tasks with predictions, and the labelling interface.

    Parameters
    ----------
    path : path-like
        A file that ends in ``.json``. The interface has the same name and ends in ``.xml``.
    table : AnnotationTable
        The rows.
    label_names : sequence of str
        Names of the labels.
    labels : ndarray of bool of shape (n_rows, n_labels)
        Labels of every row, predicted or answered.
    probabilities : ndarray of shape (n_rows, n_labels)
        Their probabilities.
    annotated : ndarray of bool of shape (n_rows,)
        Rows that people have finished: their labels are an annotation, too.
    """
    place = Path(path)
    tasks = [
        _task(table, row, label_names, labels[row], probabilities[row], bool(annotated[row]))
        for row in range(table.n_rows)
    ]
    with atomic_write(place) as part:
        part.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), "utf-8")
    with atomic_write(place.with_suffix(".xml")) as part:
        part.write_text(labelling_interface(table, label_names), "utf-8")


def labelling_interface(table: AnnotationTable, label_names: Sequence[str]) -> str:
    """Return the labelling interface of a project for the tasks, as XML.

    Parameters
    ----------
    table : AnnotationTable
        Its first text is shown.
    label_names : sequence of str
        The choices.

    Returns
    -------
    interface : str
    """
    shown = [*table.texts, *table.columns][0]
    choices = "\n".join(f"    <Choice value={quoteattr(name)}/>" for name in label_names)
    return (
        f"<View>\n  <Text name={quoteattr(TEXT)} value={quoteattr('$' + shown)}/>\n"
        f'  <Choices name={quoteattr(CONTROL)} toName={quoteattr(TEXT)} choice="multiple">\n'
        f"{choices}\n  </Choices>\n</View>\n"
    )


def read_annotations(
    path: str | Path, table: AnnotationTable, store: AnswerStore, label_names: Sequence[str]
) -> Imported:
    """Import the annotations of a Label Studio file as answers.

    A task belongs to the row with the same content. Cancelled annotations are ignored, and
    annotations that were imported before are kept once.

    Parameters
    ----------
    path : path-like
        What Label Studio exported as JSON.
    table : AnnotationTable
        The rows.
    store : AnswerStore
        Where the answers go. Their annotator is the one of the annotation.
    label_names : sequence of str
        All labels; choices must be among them.

    Returns
    -------
    imported : Imported
    """
    tasks = _read(Path(path))
    # Everything is read before anything is kept: a file is imported whole or not at all.
    found = []
    for number, task in enumerate(tasks, start=1):
        annotations = [
            each
            for each in _list(task, "annotations", path, number)
            if not each.get("was_cancelled")
        ]
        if not annotations:
            continue
        row = _row_of(task, table, path, number)
        for each in annotations:
            choices = _choices(each, label_names, path, number)
            token = f"label studio {row} {each.get('id')} {each.get('updated_at')} {choices}"
            found.append((_annotator(each), row, choices, token))
    new = [
        row
        for annotator, row, choices, token in found
        if store.answer_all(
            annotator, row, {name: name in choices for name in label_names}, token=token
        )
    ]
    return Imported(len(set(new)), len(new), len(found) - len(new))


# Pieces -----------------------------------------------------------------------------------------


def _task(
    table: AnnotationTable,
    row: int,
    label_names: Sequence[str],
    labels: np.ndarray,
    probabilities: np.ndarray,
    annotated: bool,
) -> dict[str, Any]:
    chosen = np.flatnonzero(labels)
    result = [
        {
            "from_name": CONTROL,
            "to_name": TEXT,
            "type": "choices",
            "value": {"choices": [label_names[int(k)] for k in chosen]},
        }
    ]
    # How sure the least sure label is: Label Studio sorts tasks by it.
    sure = np.where(labels, probabilities, 1 - probabilities)
    task: dict[str, Any] = {
        "data": {name: values[row] for name, values in table.columns.items()},
        "meta": {_META: {"row": row, "digest": table.digests[row]}},
        "predictions": [
            {
                "model_version": f"splmll {__version__}",
                "score": round(float(np.clip(sure.min(), 0, 1)), 4),
                "result": result,
            }
        ],
    }
    if annotated:
        task["annotations"] = [{"result": result}]
    return task


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        tasks = json.loads(decode(read_bytes(path), "utf-8", path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, DatasetError):
            raise
        raise DatasetError(f"this is not JSON ({error}); {_FORM}", path=path) from error
    if not isinstance(tasks, list) or not all(isinstance(each, dict) for each in tasks):
        raise DatasetError(f"this is not a list of tasks; {_FORM}", path=path)
    return tasks


def _list(task: Mapping[str, Any], name: str, path: Any, number: int) -> list[dict[str, Any]]:
    found = task.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise DatasetError(f"task {number}: {name!r} is not a list of objects; {_FORM}", path=path)
    return found


def _row_of(task: Mapping[str, Any], table: AnnotationTable, path: Any, number: int) -> int:
    marked = task.get("meta")
    marked = marked.get(_META) if isinstance(marked, dict) else None
    if isinstance(marked, dict) and isinstance(marked.get("row"), int):
        row = marked["row"]
        if 0 <= row < table.n_rows and table.digests[row] == marked.get("digest"):
            return int(row)
    data = task.get("data")
    rows = table.find(data) if isinstance(data, dict) else []
    if len(rows) == 1:
        return rows[0]
    problem = (
        f"its data matches {len(rows)} rows ({listed([str(row + 1) for row in rows])}), so it is "
        "not clear which one is meant; export the tasks with --export-label-studio, which marks "
        "them"
        if rows
        else "no row of the table matches its data; give the table from which the tasks were made"
    )
    raise DatasetError(f"task {number}: {problem}", path=path)


def _choices(
    annotation: Mapping[str, Any], label_names: Sequence[str], path: Any, number: int
) -> list[str]:
    known = set(label_names)
    chosen: list[str] = []
    for region in _list(annotation, "result", path, number):
        value = region.get("value")
        names = value.get("choices") if isinstance(value, dict) else None
        if not isinstance(names, list):
            continue  # a region, a comment or another control of the same project
        for name in names:
            if name not in known:
                raise DatasetError(
                    f"task {number}: the choice {name!r} is not a label of the "
                    f"model.{suggestion(str(name), label_names)} Rename it in the project",
                    path=path,
                )
            chosen.append(name)
    return sorted(set(chosen))


def _annotator(annotation: Mapping[str, Any]) -> str:
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("username") or who.get("id")
    return "Label Studio" if who in (None, "") else f"Label Studio {who}"
