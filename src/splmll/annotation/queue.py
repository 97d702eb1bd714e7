"""The queue of an annotator: which row, which question, what follows from the answers so far.

The model chooses rows and questions, the store keeps the answers; this is where the two meet.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from splmll.annotation.store import AnswerStore, Counts, RowAnswers
from splmll.annotation.table import AnnotationTable
from splmll.tagging import Tagger
from splmll.tagging.rows import dense

RULE = "(stop rule)"  # the annotator of rows in which there was nothing to ask
_LOOK_AHEAD = 64  # rows that are looked at together when there was nothing to ask in one
_MOST_REASONS = 3  # answers that are named for what they imply
_LEAST_CHANGE = 0.01  # of a probability, for an answer to be a reason


@dataclass(frozen=True)
class Implied:
    """A label that nobody has answered and that holds by what is known.

    Attributes
    ----------
    label : str
        The label.
    probability : float
        That it holds, given the row and the answers.
    before : float
        The same without the answers.
    holds : bool
        Whether it counts as a label of the row. False only where the answers have changed that.
    because : list of (str, bool, float)
        Answers that changed the probability most: label, answer, and by how much. Empty where the
        row itself says it.
    """

    label: str
    probability: float
    before: float
    holds: bool
    because: list[tuple[str, bool, float]]


@dataclass(frozen=True)
class Task:
    """A row, and what to ask about it.

    Attributes
    ----------
    row : int
        Its number, from 0.
    cells : dict of str to str
        Its content: texts first.
    question : str or None
        The label to ask about; None where enough is known.
    probability : float
        That this label holds, by what is known.
    expected_errors : float
        How many labels of the row are expected to be wrong if nothing more is asked.
    answered : dict of str to bool
        Labels that are known.
    disputed : set of str
        Labels about which annotators disagree.
    implied : list of Implied
        What follows for other labels, the surest first.
    counts : Counts
        How far the work is.
    saved : int
        Labels of finished rows that nobody had to answer.
    undone : str or None
        The label whose answer was just taken back.
    """

    row: int
    cells: dict[str, str]
    question: str | None
    probability: float
    expected_errors: float
    answered: dict[str, bool]
    disputed: set[str]
    implied: list[Implied]
    counts: Counts
    saved: int
    undone: str | None = field(default=None)


class AnnotationQueue:
    """Rows in the order in which a model learns most from them, question by question.

    Every method may be called from several threads. A new model takes over with :meth:`use`.

    Parameters
    ----------
    tagger : Tagger
        The model; its method must be SPL-MLL.
    table : AnnotationTable
        The rows.
    store : AnswerStore
        Where answers are kept.
    enough : float, optional
        A row is done when fewer wrong labels than this are expected in it; by default the rule of
        :meth:`splmll.SPLMLL.ask`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from splmll.annotation import AnnotationQueue, AnnotationTable, AnswerStore
    >>> from splmll.tagging import Tagger, read_examples
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     tags = ["oil", "pump", "oil;pump", "door"] * 10
    ...     notes = pd.DataFrame({"body": [f"we saw {each} again" for each in tags], "tags": tags})
    ...     notes.to_csv(folder / "notes.csv", index=False)
    ...     data, reading = read_examples(folder / "notes.csv", ["tags"], text=["body"])
    ...     tagger = Tagger.fit(data, reading=reading)
    ...     new = pd.DataFrame({"body": ["something leaks", "we saw oil"]})
    ...     new.to_csv(folder / "new.csv", index=False)
    ...     with AnswerStore(folder / "answers.sqlite") as store:
    ...         queue = AnnotationQueue(
    ...             tagger, AnnotationTable.read(folder / "new.csv", tagger), store, enough=0.0
    ...         )
    ...         task = queue.next("ann")
    ...         after = queue.answer("ann", task.row, task.question, "yes")
    ...         after.row == task.row, after.answered == {task.question: True}
    (True, True)
    """

    def __init__(
        self,
        tagger: Tagger,
        table: AnnotationTable,
        store: AnswerStore,
        *,
        enough: float | None = None,
    ) -> None:
        self.table, self.store, self.enough = table, store, enough
        store.open_table(table.digests, {"table": str(table.path.absolute())})
        self._lock = threading.Lock()
        self.use(tagger)

    def use(self, tagger: Tagger) -> None:
        """Let a model choose from here on; it must take the columns of the table."""
        mind = _Mind(tagger, self.table, self.enough)
        with self._lock:
            self._mind = mind

    @property
    def tagger(self) -> Tagger:
        """The model that chooses."""
        return self._mind.tagger

    # What annotators do ----------------------------------------------------

    def next(self, annotator: str) -> Task | None:
        """Return the task of an annotator: the row they have, or the next one.

        Parameters
        ----------
        annotator : str
            Who wants to work.

        Returns
        -------
        task : Task or None
            None where all rows are done or with others.
        """
        mind = self._mind
        while True:
            row = self.store.lease(annotator, mind.order)
            if row is None:
                return None
            task = self._task(mind, annotator, row)
            if task.question is not None:
                return task
            if task.answered and self.store.answers(row).known:
                self.store.finish(annotator, row, by_rule=True)
            else:
                self._pass_over(mind, row)

    def answer(
        self, annotator: str, row: int, label: str, given: str, *, token: str | None = None
    ) -> Task | None:
        """Keep an answer and return the next task, of this row or another.

        Parameters
        ----------
        annotator, row, label, given, token
            As in :meth:`AnswerStore.answer`.

        Returns
        -------
        task : Task or None
        """
        self._mind.check_label(label)
        self.store.answer(annotator, row, label, given, token=token)
        return self.next(annotator)

    def finish(self, annotator: str, row: int, *, token: str | None = None) -> Task | None:
        """Note that enough was asked about a row, and return the next task."""
        self.store.finish(annotator, row, token=token)
        return self.next(annotator)

    def undo(self, annotator: str, *, token: str | None = None) -> Task | None:
        """Take back what an annotator did last, and return the task that it was.

        Returns
        -------
        task : Task or None
            The row again, with the question whose answer was taken back. The next task where there
            is nothing to take back.
        """
        undone = self.store.undo(annotator, token=token)
        if undone is None:
            return self.next(annotator)
        self.store.hold(annotator, undone.row)
        return self._task(self._mind, annotator, undone.row, again=undone.label)

    def task(self, annotator: str, row: int) -> Task:
        """Return what there is to ask about a certain row."""
        return self._task(self._mind, annotator, row)

    def known(self) -> np.ndarray:
        """Return all that is known: what the table says, and over it the answers.

        Returns
        -------
        known : ndarray of shape (n_rows, n_labels)
            NaN where a label is not known.
        """
        return known_labels(self.table, self.store, self.tagger.label_names)

    # Pieces ----------------------------------------------------------------

    def _task(self, mind: _Mind, annotator: str, row: int, again: str | None = None) -> Task:
        found = self.store.answers(row)
        known = mind.overlay(row, found)
        look = mind.look(row, known, found.skipped.get(annotator, set()))
        question, probability = look.question, look.probability
        if again is not None and again in mind.place:
            question, probability = again, float(look.probabilities[mind.place[again]])
        counts = self.store.counts()
        return Task(
            row=row,
            cells=self.table.cells(row),
            question=question,
            probability=probability,
            expected_errors=look.expected_errors,
            answered={mind.names[k]: bool(known[k]) for k in np.flatnonzero(~np.isnan(known))},
            disputed=found.disputed,
            implied=mind.implied(row, known, found, look),
            counts=counts,
            saved=counts.finished * len(mind.names) - counts.answers_in_finished,
            undone=again,
        )

    def _pass_over(self, mind: _Mind, row: int) -> None:
        """Note rows in which there is nothing to ask, this one and those that follow."""
        finished = self.store.finished()
        ahead = [each for each in mind.order if each not in finished and each != row]
        untouched = [each for each in ahead if not self.store.answers(each).known][:_LOOK_AHEAD]
        silent = mind.silent(untouched)
        self.store.finish_all(RULE, [row, *silent])


def known_labels(
    table: AnnotationTable, store: AnswerStore, label_names: Sequence[str]
) -> np.ndarray:
    """Return what a table and the answers about it say: 1, 0, NaN where nothing.

    Parameters
    ----------
    table : AnnotationTable
        The rows.
    store : AnswerStore
        Answers, which count before what the table says.
    label_names : sequence of str
        The labels, in the order of ``table.given``.

    Returns
    -------
    known : ndarray of shape (n_rows, n_labels)
    """
    place = {name: number for number, name in enumerate(label_names)}
    known = table.given.copy()
    for row, found in store.all_answers():
        for label, holds in found.known.items():
            if label in place:
                known[row, place[label]] = holds
    return known


@dataclass(frozen=True, eq=False)
class _Look:
    """What a model says about one row, given the answers."""

    question: str | None
    probability: float
    expected_errors: float
    probabilities: np.ndarray
    labels: np.ndarray


class _Mind:
    """A model and the rows as it sees them; never changed, so threads may share it."""

    def __init__(self, tagger: Tagger, table: AnnotationTable, enough: float | None) -> None:
        self.tagger, self.table, self.enough = tagger, table, enough
        self.names = list(tagger.label_names)
        self.place = {name: number for number, name in enumerate(self.names)}
        if not tagger.has_landmarks:
            raise ValueError(
                f"The method {tagger.method} of this model cannot ask; fit one with SPL-MLL."
            )
        self.model = tagger.pipeline[-1]
        self.features = tagger.features(table.features)
        # Rows of which everything is known are not asked about.
        open_rows = np.flatnonzero(np.isnan(table.given).any(axis=1))
        ranked = self.model.rank_rows(self.features[open_rows]) if len(open_rows) else []
        self.order = [int(open_rows[number]) for number in ranked]

    def check_label(self, label: str) -> None:
        if label not in self.place:
            raise ValueError(f"There is no label {label!r}; give one that the model knows.")

    def overlay(self, row: int, found: RowAnswers) -> np.ndarray:
        known = self.table.given[row].copy()
        for label, holds in found.known.items():
            if label in self.place:
                known[self.place[label]] = holds
        return known

    def look(self, row: int, known: np.ndarray, skipped: set[str]) -> _Look:
        """Return what to ask about a row, and what is believed of its labels."""
        X = self.features[[row]]
        asked = self.model.ask(X, known[None, :], n=1 + len(skipped), enough=self.enough)
        names = [self._name(each) for each in asked.labels[0]]
        question = next((name for name in names if name is not None and name not in skipped), None)
        probabilities = self.model.complete(X, known[None, :], return_scores=True)[0]
        labels = dense(self.model.complete(X, known[None, :]))[0] != 0
        probability = 0.0 if question is None else float(probabilities[self.place[question]])
        expected = float(asked.expected_errors[0])
        return _Look(question, probability, expected, probabilities, labels)

    def silent(self, rows: Sequence[int]) -> list[int]:
        """Return those of some rows in which there is nothing to ask."""
        if not rows:
            return []
        asked = self.model.ask(
            self.features[list(rows)], self.table.given[list(rows)], n=1, enough=self.enough
        )
        return [row for row, labels in zip(rows, asked.labels) if labels[0] is None]

    def implied(self, row: int, known: np.ndarray, found: RowAnswers, look: _Look) -> list[Implied]:
        """Return the open labels that hold, or that the answers have ruled out, the surest first.

        An answer is a reason as far as the probability would be another one without it.
        """
        answered = [self.place[label] for label in found.known if label in self.place]
        without = np.repeat(known[None, :], 1 + len(answered), axis=0)
        without[0] = self.table.given[row]
        for number, label in enumerate(answered, start=1):
            without[number, label] = np.nan
        X = self.features[[row] * len(without)]
        scores = self.model.complete(X, without, return_scores=True)
        held_before = dense(self.model.complete(X[:1], without[:1]))[0] != 0
        shown = np.flatnonzero(np.isnan(known) & (look.labels | held_before))
        implied = []
        for label in shown:
            change = look.probabilities[label] - scores[1:, label]
            strongest = np.argsort(-np.abs(change), kind="stable")[:_MOST_REASONS]
            implied.append(
                Implied(
                    label=self.names[label],
                    probability=float(look.probabilities[label]),
                    before=float(scores[0, label]),
                    holds=bool(look.labels[label]),
                    because=[
                        (self.names[answered[k]], bool(known[answered[k]]), float(change[k]))
                        for k in strongest
                        if abs(change[k]) >= _LEAST_CHANGE
                    ],
                )
            )
        return sorted(implied, key=lambda each: (not each.holds, -each.probability))

    def _name(self, label: Any) -> str | None:
        if label is None or isinstance(label, str):
            return label
        return self.names[int(label)]
