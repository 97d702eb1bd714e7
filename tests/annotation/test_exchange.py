"""Answers in and out: a table that `splmll fit` takes, tasks of Label Studio, suspects."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from annotated_notes import N_ROWS, Made

from command_runs import here
from splmll.annotation import AnswerStore, known_labels
from splmll.annotation.label_studio import read_annotations, write_tasks
from splmll.annotation.suspects import SuspectQueue, read_suspects, write_suspects
from splmll.exceptions import DatasetError
from splmll.tagging import Tagger


@pytest.fixture
def answered(made: Made, tmp_path: Path) -> Path:
    """A file in which two annotators have answered all rows but the last five, mostly."""
    path = tmp_path / "answers.sqlite"
    with AnswerStore(path) as store:
        store.open_table(
            made.table.digests,
            {"table": str(made.folder / "new.csv"), "model": str(made.folder / "model")},
        )
        for row in range(N_ROWS - 5):
            for number, label in enumerate(made.tagger.label_names):
                if (row + number) % 4:
                    given = "yes" if label in made.truth[row] else "no"
                    store.answer("ann" if row % 2 else "bob", row, label, given)
    return path


def test_exported_answers_can_be_fitted_and_completed(
    made: Made, answered: Path, tmp_path: Path, capfd: Any
) -> None:
    out = tmp_path / "answers.csv"
    status, said, _ = here(capfd, "annotate", "--answers", answered, "--export", out)
    assert status == 0
    with out.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    with (made.folder / "new.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = made.tagger.label_names
    for row, line in enumerate(lines):
        assert {name: line[name] for name in rows[row]} == rows[row]
        for number, label in enumerate(names):
            known = row < N_ROWS - 5 and (row + number) % 4
            expected = str(int(label in made.truth[row])) if known else ""
            assert line[f"label:{label}"] == expected
    # The command that it says learns from them, blanks as unknown.
    command = shlex.split(said.partition("Learn from them: splmll ")[2].splitlines()[0])
    command[-1] = str(tmp_path / "other")
    status, _, problem = here(capfd, *command)
    assert status == 0, problem
    learned = Tagger.load(tmp_path / "other")
    assert learned.n_rows == N_ROWS
    assert learned.label_names == names
    assert learned.column_kinds == made.tagger.column_kinds
    # Completed, every answer stands, whatever the threshold.
    for threshold in ("0", "1"):
        status, printed, _ = here(
            capfd, "complete", made.folder / "model", out, "--keep", "id", "--scores",
            "--threshold", threshold, "--json",
        )  # fmt: skip
        assert status == 0
        completed = [json.loads(line) for line in printed.splitlines()]
        assert [each["id"] for each in completed] == [line["id"] for line in rows]
        for line, each in zip(lines, completed):
            for label in names:
                given = line[f"label:{label}"]
                if given:
                    assert (label in each["tags"]) == (given == "1")
                    assert each["scores"][label] == int(given)
                else:
                    assert (label in each["tags"]) == (each["scores"][label] >= float(threshold))


def test_recover_keeps_scores_and_threshold(made: Made, tmp_path: Path, capfd: Any) -> None:
    landmarks = made.tagger.landmark_names
    answers = pd.DataFrame({"id": ["a", "b"], landmarks[0]: [1, 0]})
    for name in landmarks[1:]:
        answers[name] = [None, 1]
    answers.to_csv(tmp_path / "landmarks.csv", index=False)
    arguments = ("recover", made.folder / "model", tmp_path / "landmarks.csv", "--keep", "id",
                 "--scores", "--json")  # fmt: skip
    status, printed, _ = here(capfd, *arguments)
    assert status == 0
    first = [json.loads(line) for line in printed.splitlines()]
    assert [each["id"] for each in first] == ["a", "b"]
    for each in first:  # one scale: what is ticked is what the line at 0.5 says
        assert set(each["tags"]) == {name for name, score in each["scores"].items() if score >= 0.5}
    _, printed, _ = here(capfd, *arguments, "--threshold", "0")
    every = [json.loads(line) for line in printed.splitlines()]
    assert landmarks[0] not in every[1]["tags"]  # it was answered
    assert set(every[0]["tags"]) == set(made.tagger.label_names)


def test_predict_takes_a_threshold(made: Made, capfd: Any) -> None:
    arguments = ("predict", made.folder / "model", made.folder / "new.csv", "--json", "--scores")
    status, printed, _ = here(capfd, *arguments, "--threshold", "0.3")
    assert status == 0
    for line in map(json.loads, printed.splitlines()):
        assert set(line["tags"]) == {name for name, s in line["scores"].items() if s >= 0.3}
    status, _, problem = here(capfd, *arguments, "--threshold", "0.3", "--explain")
    assert status == 2
    assert "leave out --threshold" in problem


def test_complete_without_any_answer_is_refused(made: Made, capfd: Any) -> None:
    status, _, problem = here(capfd, "complete", made.folder / "model", made.folder / "new.csv")
    assert status == 2
    assert "'label:" in problem
    assert "splmll predict" in problem


def test_a_different_table_is_refused(
    made: Made, answered: Path, tmp_path: Path, capfd: Any
) -> None:
    rows = (made.folder / "new.csv").read_text("utf-8").replace("north", "south", 1)
    (tmp_path / "other.csv").write_text(rows, "utf-8")
    status, _, problem = here(
        capfd, "annotate", tmp_path / "other.csv", "--answers", answered,
        "--export", tmp_path / "out.csv",
    )  # fmt: skip
    assert status == 2
    assert "about another table" in problem
    assert not (tmp_path / "out.csv").exists()
    status, _, problem = here(
        capfd, "annotate", "--answers", tmp_path / "none.sqlite", "--export", tmp_path / "out.csv"
    )
    assert status == 2
    assert "there are no answers yet" in problem
    assert not (tmp_path / "none.sqlite").exists()


# Label Studio -----------------------------------------------------------------------------------


def test_tasks_hold_rows_predictions_and_finished_answers(
    made: Made, answered: Path, tmp_path: Path, capfd: Any
) -> None:
    with AnswerStore(answered) as store:
        store.finish("ann", 3)
        known = known_labels(made.table, store, made.tagger.label_names)
    out = tmp_path / "tasks.json"
    status, _, problem = here(
        capfd, "annotate", "--answers", answered, "--export-label-studio", out
    )
    assert status == 0, problem
    tasks = json.loads(out.read_text("utf-8"))
    assert len(tasks) == N_ROWS
    completed = made.tagger.complete(made.table.features, known).labels
    for row, task in enumerate(tasks):
        assert task["data"]["id"] == f"n{row}"
        [prediction] = task["predictions"]
        [choices] = prediction["result"]
        assert choices["type"] == "choices"
        tags = list(completed.columns[completed.iloc[row] == 1])
        assert choices["value"]["choices"] == tags
        assert 0 <= prediction["score"] <= 1
        assert ("annotations" in task) == (row == 3)
    # The interface has the names that the results refer to.
    interface = ElementTree.parse(out.with_suffix(".xml")).getroot()
    control = interface.find("Choices")
    assert control is not None
    assert control.get("name") == choices["from_name"]
    assert control.get("toName") == choices["to_name"] == interface.find("Text").get("name")
    assert [each.get("value") for each in control] == made.tagger.label_names


def annotation(id: int, choices: list[str], **others: Any) -> dict[str, Any]:
    region = {"from_name": "labels", "to_name": "text", "type": "choices",
              "value": {"choices": choices}}  # fmt: skip
    return {"id": id, "completed_by": {"email": "ann@example.org"}, "result": [region], **others}


def test_annotations_of_label_studio_become_answers_once(
    made: Made, store: AnswerStore, tmp_path: Path
) -> None:
    table, names = made.table, made.tagger.label_names
    store.open_table(table.digests)
    labels = np.zeros((N_ROWS, len(names)), dtype=bool)
    out = tmp_path / "tasks.json"
    write_tasks(out, table, names, labels=labels, probabilities=labels * 1.0,
                annotated=np.zeros(N_ROWS, dtype=bool))  # fmt: skip
    tasks = json.loads(out.read_text("utf-8"))
    tasks[2]["annotations"] = [annotation(7, ["oil", "door"])]
    tasks[4]["annotations"] = [annotation(8, [])]
    tasks[5]["annotations"] = [annotation(9, ["oil"], was_cancelled=True)]
    del tasks[4]["meta"]  # found by its data
    out.write_text(json.dumps(tasks[::-1]), "utf-8")
    imported = read_annotations(out, table, store, names)
    assert (imported.rows, imported.annotations, imported.known) == (2, 2, 0)
    assert store.answers(2).known == {name: name in ("oil", "door") for name in names}
    assert store.answers(4).known == dict.fromkeys(names, False)
    assert store.answers(5).known == {}
    assert store.finished() == {2, 4}
    assert {each.annotator for each in store.history()} == {"Label Studio ann@example.org"}
    # The same file again adds nothing; a corrected annotation does.
    entries = len(store.history())
    assert read_annotations(out, table, store, names).known == 2
    assert len(store.history()) == entries
    tasks[2]["annotations"] = [annotation(7, ["pump"], updated_at="2024-05-02")]
    out.write_text(json.dumps(tasks), "utf-8")
    assert read_annotations(out, table, store, names).annotations == 1
    assert store.answers(2).known == {name: name == "pump" for name in names}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON"),
        ('{"data": {}}', "not a list of tasks"),
        ('[{"data": {"body": "x"}, "annotations": [{"result": []}]}]', "no row of the table"),
        ('[{"data": {"id": "n1"}, "annotations": 3}]', "not a list of objects"),
        (
            '[{"data": {"id": "n1"}, "annotations": [{"result": [{"value": '
            '{"choices": ["oill"]}}]}]}]',
            "'oill' is not a label of the model. Did you mean 'oil'?",
        ),
    ],
)
def test_files_that_do_not_fit_are_refused_and_change_nothing(
    made: Made, store: AnswerStore, tmp_path: Path, content: str, words: str
) -> None:
    store.open_table(made.table.digests)
    path = tmp_path / "tasks.json"
    path.write_text(content, "utf-8")
    with pytest.raises(DatasetError) as error:
        read_annotations(path, made.table, store, made.tagger.label_names)
    assert words in str(error.value)
    assert store.history() == []


# Suspects ---------------------------------------------------------------------------------------


def test_suspects_are_judged_worst_first_and_by_one_annotator_each(
    made: Made, store: AnswerStore, tmp_path: Path
) -> None:
    names = made.tagger.label_names
    found = pd.DataFrame(
        {
            "row": [4, 1, 2],
            "label": [names[0], names[1], names[0]],
            "given": [1, 0, 1],
            "probability": [0.01, 0.99, 0.2],
            "reason": ["a, b", "c", "d"],
        }
    )
    write_suspects(tmp_path / "suspects.csv", found)
    assert pd.read_csv(tmp_path / "suspects.csv")["row"].tolist() == [5, 2, 3]
    suspects = read_suspects(tmp_path / "suspects.csv", made.table, names)
    store.open_table(made.table.digests)
    queue = SuspectQueue(suspects, made.table, store, names)
    ann, bob = queue.next("ann"), queue.next("bob")
    assert ann is not None
    assert bob is not None
    assert (ann.suspect.row, ann.suspect.reason, bob.suspect.row) == (4, "a, b", 1)
    after = queue.answer("ann", 4, names[0], "change")
    assert after is not None
    assert after.suspect.row == 2  # the second is with bob
    assert queue.answer("bob", 1, names[1], "keep") is None  # the third is with ann
    assert queue.answer("ann", 2, names[0], "skip") is None
    left = queue.next("bob")
    assert left is not None
    assert (left.suspect.row, left.judged, left.total) == (2, 2, 3)
    assert store.answers(4).known == {names[0]: False}
    assert store.answers(1).known == {names[1]: False}
    with pytest.raises(ValueError, match="is not a suspect"):
        queue.answer("bob", 0, names[0], "keep")
    with pytest.raises(ValueError, match="'yes' is not an answer; give one of keep, change, skip"):
        queue.answer("bob", 2, names[0], "yes")
    assert store.answers(2).known == {}


def test_the_table_itself_is_no_training_table(made: Made, tmp_path: Path, capfd) -> None:
    table = made.folder / "new.csv"
    status, _, said = here(
        capfd, "annotate", table, "--model", made.folder / "model", "--train", table,
        "--answers", tmp_path / "answers.sqlite",
    )  # fmt: skip
    assert status == 2
    assert "this is the table to annotate, whose tags are used anyway; leave out --train" in said
    assert list(tmp_path.iterdir()) == []


def test_suspects_of_another_table_are_refused(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "suspects.csv"
    path.write_text("row,label,given,probability,reason\n99,oil,1,0.5,x\n", "utf-8")
    with pytest.raises(DatasetError, match="there is no row 99"):
        read_suspects(path, made.table, made.tagger.label_names)
