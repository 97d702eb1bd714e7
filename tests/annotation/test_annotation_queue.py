"""The queue: the model's order and questions, the stop rule, what follows, and taking back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from annotated_notes import N_ROWS, Made

from splmll.annotation import AnnotationQueue, AnnotationTable, AnswerStore
from splmll.annotation.retraining import retrain, training_data
from splmll.tagging import Tagger, read_examples
from splmll.tagging.scoring import plain_scores


def truly(made: Made, row: int, label: str) -> str:
    return "yes" if label in made.truth[row] else "no"


def test_rows_and_questions_are_those_of_the_model(made: Made, store: AnswerStore) -> None:
    table, model = made.table, made.tagger.pipeline[-1]
    queue = AnnotationQueue(made.tagger, table, store, enough=0.0)
    features = made.tagger.features(table.features)
    order = model.rank_rows(features)
    known = np.full(len(made.tagger.label_names), np.nan)
    task = queue.next("ann")
    assert task is not None
    assert task.row == order[0]
    while task is not None and task.row == order[0]:
        asked = model.ask(features[[task.row]], known[None, :])
        assert task.question == made.tagger.label_names[asked.labels[0, 0]]
        assert task.expected_errors == pytest.approx(asked.expected_errors[0])
        scores = model.complete(features[[task.row]], known[None, :], return_scores=True)[0]
        place = made.tagger.label_names.index(task.question)
        assert task.probability == pytest.approx(scores[place])
        known[place] = truly(made, task.row, task.question) == "yes"
        task = queue.answer("ann", task.row, task.question, truly(made, task.row, task.question))
    assert not np.isnan(known).any()
    assert task is not None
    assert task.row == order[1]


def test_the_stop_rule_ends_rows_and_saves_questions(made: Made, store: AnswerStore) -> None:
    n_labels = len(made.tagger.label_names)
    queue = AnnotationQueue(made.tagger, made.table, store, enough=0.1)
    task, asked, last = queue.next("ann"), 0, None
    while task is not None:
        assert task.expected_errors >= 0.1
        last = task
        task = queue.answer("ann", task.row, task.question, truly(made, task.row, task.question))
        asked += 1
    assert last is not None
    counts = store.counts()
    assert counts.answers == asked
    assert counts.finished + last.silent == N_ROWS
    assert 0 < asked < N_ROWS * n_labels / 2
    # Rows that nobody was asked about have few errors expected in them, or nothing uncertain.
    model, features = made.tagger.pipeline[-1], made.tagger.features(made.table.features)
    expected = model.ask(features).expected_errors
    p = model.answer_model_.probabilities(
        plain_scores(model, features), np.full((N_ROWS, n_labels), np.nan)
    )
    certain = (np.maximum(p, 1 - p) >= 0.95).all(axis=1)
    assert last.silent == ((expected < 0.1) | certain).sum()
    # What the page says at the end: every label of every row that nobody had to answer.
    done = queue.task("ann", last.row)
    assert done.saved == N_ROWS * n_labels - asked


def test_a_skipped_label_is_not_asked_again_of_the_same_annotator(
    made: Made, store: AnswerStore
) -> None:
    queue = AnnotationQueue(made.tagger, made.table, store, enough=0.0)
    task = queue.next("ann")
    assert task is not None
    row, asked = task.row, []
    while task is not None and task.row == row:
        asked.append(task.question)
        task = queue.answer("ann", row, task.question, "skip")
    assert sorted(asked) == sorted(made.tagger.label_names)
    assert store.answers(row).known == {}
    assert row in store.finished()


def test_what_is_implied_has_its_reasons(made: Made, store: AnswerStore) -> None:
    table, model, names = made.table, made.tagger.pipeline[-1], made.tagger.label_names
    queue = AnnotationQueue(made.tagger, table, store, enough=0.0)
    task = queue.next("ann")
    assert task is not None
    row, first = task.row, task.question
    task = queue.answer("ann", row, first, "yes")
    assert task is not None
    features = made.tagger.features(table.features)[[row]]
    known = np.full((1, len(names)), np.nan)
    before = model.complete(features, known, return_scores=True)[0]
    known[0, names.index(first)] = 1
    after = model.complete(features, known, return_scores=True)[0]
    labels = model.complete(features, known)[0]
    held = {names[k] for k in np.flatnonzero(labels)} - {first}
    assert {each.label for each in task.implied if each.holds} == held
    for each in task.implied:
        place = names.index(each.label)
        assert each.probability == pytest.approx(after[place])
        assert each.before == pytest.approx(before[place])
        change = after[place] - before[place]
        if abs(change) >= 0.01:
            assert each.because == [(first, True, pytest.approx(change))]
        else:
            assert each.because == []


def test_undo_returns_to_the_row_that_was_left(made: Made, store: AnswerStore) -> None:
    queue = AnnotationQueue(made.tagger, made.table, store, enough=0.0)
    task = queue.next("ann")
    assert task is not None
    after = queue.finish("ann", task.row)
    assert after is not None
    assert after.row != task.row
    back = queue.undo("ann")
    assert back is not None
    assert (back.row, back.question) == (task.row, task.question)
    again = queue.next("ann")
    assert again is not None
    assert again.row == task.row


def test_labels_of_the_table_count_and_answers_come_before_them(
    made: Made, store: AnswerStore, tmp_path: Path
) -> None:
    rows = pd.read_csv(made.folder / "new.csv", dtype=str, keep_default_na=False)
    rows["tags"] = [
        ";".join(sorted(tags)) if row < 10 else "" for row, tags in enumerate(made.truth)
    ]
    rows.to_csv(tmp_path / "new.csv", index=False)
    table = AnnotationTable.read(tmp_path / "new.csv", made.tagger)
    labelled = [row for row in range(10) if made.truth[row]]
    queue = AnnotationQueue(made.tagger, table, store, enough=0.0)
    assert not np.isnan(queue.known()[labelled]).any()
    assert np.isnan(queue.known()[10:]).all()
    seen = set()
    task = queue.next("ann")
    while task is not None:
        seen.add(task.row)
        task = queue.finish("ann", task.row)
    assert seen == set(range(N_ROWS)) - set(labelled)
    label = made.tagger.label_names[0]
    holds = label in made.truth[labelled[0]]
    queue.answer("ann", labelled[0], label, "no" if holds else "yes")
    assert queue.known()[labelled[0], 0] == (not holds)


def test_a_model_without_landmarks_cannot_ask(made: Made, store: AnswerStore) -> None:
    data, reading = read_examples(made.folder / "notes.csv", ["tags"], text=["body"], ignore=["id"])
    other = Tagger.fit(data, "BR", reading=reading)
    with pytest.raises(ValueError, match="BR of this model cannot ask"):
        AnnotationQueue(other, made.table, store)


# Learning again ---------------------------------------------------------------------------------


def test_retraining_learns_from_answers_and_examples(made: Made, tmp_path: Path) -> None:
    place = tmp_path / "model"
    made.tagger.save(place)
    answers = tmp_path / "answers.sqlite"
    label = made.tagger.label_names[1]
    with AnswerStore(answers) as store:
        queue = AnnotationQueue(made.tagger, made.table, store, enough=0.0)
        for row in range(4):
            queue.answer("ann", row, label, truly(made, row, label))
        data = training_data(made.table, queue.known(), made.tagger, made.folder / "notes.csv")
    assert data.X.shape[0] == 124
    assert np.isnan(data.Y).sum() == 4 * (len(made.tagger.label_names) - 1)
    said: list[str] = []
    new = made.folder / "new.csv"
    retrain(place, new, answers, made.folder / "notes.csv", on_progress=lambda w, s: said.append(w))
    fitted = Tagger.load(place)
    assert said
    assert fitted.n_rows == 124
    assert fitted.label_names == made.tagger.label_names
    assert fitted.reading == made.tagger.reading
    # Four answers alone are too few, and the model stays as it was.
    with pytest.raises(ValueError, match="4 rows are too few"):
        retrain(place, new, answers)
    assert Tagger.load(place).n_rows == 124
