"""The annotation queue: the next row and question, and what follows from the answers so far.

The model chooses rows and questions, and the store keeps the answers; the queue connects the two.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from splmll.annotation.store import AnswerStore, Counts, RowAnswers
from splmll.annotation.table import AnnotationTable
from splmll.landmarks.belief import Belief
from splmll.tagging import Tagger
from splmll.tagging.scoring import plain_scores

ENOUGH = 0.5  # wrong labels that may be expected in a row that is done
_CELLS_KEPT = 2**21  # scores that are kept: 16 MB
_MOST_RANKED = 5000  # rows that are put in order at once
SURE = 0.95  # if every open label is so certain either way, no question pays any more
_MOST_LOOKED_AT = 3  # answers of a row that are looked at for reasons, the most surprising
_LEAST_SURPRISE = 0.05  # of them, as a difference to the probability by the features
_BLOCK_CELLS = 2**20  # labels of rows that are looked at together
_MOST_REASONS = 3  # answers that are named for what they imply
_LEAST_CHANGE = 0.01  # of a probability, for an answer to be a reason


@dataclass(frozen=True)
class Implied:
    """A label that nobody has answered, but that is implied by what is known.

    Attributes
    ----------
    label : str
        The label.
    probability : float
        The probability that it applies, given the row and the answers.
    before : float
        The same without the answers.
    holds : bool
        Whether it counts as a label of the row. False only if the answers have changed that.
    because : list of (str, bool, float)
        Answers that changed the probability most: label, answer, and by how much. Empty if the row
        alone implies it.
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
        The label to ask about; None if enough is known.
    probability : float
        The probability that this label applies, given what is known.
    expected_errors : float
        How many labels of the row are expected to be wrong if nothing more is asked.
    answered : dict of str to bool
        Labels that are known.
    disputed : set of str
        Labels about which annotators disagree.
    implied : list of Implied
        What follows for other labels, most certain first.
    counts : Counts
        The progress of the work.
    silent : int
        Rows about which nothing is asked, because the model expects too few errors.
    given : int
        Rows whose labels are all in the table.
    saved : int
        Labels that nobody had to answer, in rows that are done or silent.
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
    silent: int
    given: int
    saved: int
    undone: str | None = None


class AnnotationQueue:
    """Rows ordered by how much a model learns from them, question by question.

    All methods are thread-safe. A new model takes over with :meth:`use`.

    Parameters
    ----------
    tagger : Tagger
        The model; its method must be SPL-MLL.
    table : AnnotationTable
        The rows.
    store : AnswerStore
        Where answers are kept.
    enough : float, default=0.5
        A row is done when fewer wrong labels than this are expected in it, or when every open label
        is 95% certain. 0 asks about every label.

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
        enough: float = ENOUGH,
    ) -> None:
        self.table, self.store, self.enough = table, store, enough
        store.open_table(table.digests, {"table": str(table.path.absolute())})
        self._lock = threading.Lock()
        self.use(tagger)

    def use(self, tagger: Tagger) -> None:
        """Use another model from now on; it must have the columns of the table."""
        done, touched = self.store.finished(), self.store.touched()
        mind = _Mind(tagger, self.table, self.enough, done, touched)
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
            None if all rows are done or with other annotators.
        """
        return self._next(self._mind, annotator)

    def _next(
        self, mind: _Mind, annotator: str, looked_at: int | None = None, look: _Look | None = None
    ) -> Task | None:
        enough = None
        while True:
            row = self.store.lease(annotator, mind.order, enough=enough)
            if row is None:
                return None
            task = self._task(mind, annotator, row, look=look if row == looked_at else None)
            if task.question is not None:
                return task
            enough = row

    def answer(
        self, annotator: str, row: int, label: str, given: str, *, token: str | None = None
    ) -> Task | None:
        """Store an answer and return the next task, for this row or another.

        Parameters
        ----------
        annotator, row, label, given, token
            As in :meth:`AnswerStore.answer`.

        Returns
        -------
        task : Task or None
        """
        mind = self._mind
        mind.check(row, label)
        # What follows is looked up before, so that keeping all of it is one write to the disk.
        found = self.store.answers_with(annotator, row, label, given)
        look = mind.look(row, mind.overlay(row, found), found, annotator)
        self.store.answer(
            annotator,
            row,
            label,
            given,
            token=token,
            enough=look.question is None,
            order=mind.order,
        )
        return self._next(mind, annotator, row, look)

    def finish(self, annotator: str, row: int, *, token: str | None = None) -> Task | None:
        """Mark a row as done, and return the next task."""
        self.store.finish(annotator, row, token=token, order=self._mind.order)
        return self.next(annotator)

    def undo(self, annotator: str, *, token: str | None = None) -> Task | None:
        """Undo the last action of an annotator, and return its task.

        Returns
        -------
        task : Task or None
            The row again, with the question whose answer was undone. The next task if there is
            nothing to undo.
        """
        undone = self.store.undo(annotator, token=token)
        if undone is None:
            return self.next(annotator)
        self.store.hold(annotator, undone.row)
        return self._task(self._mind, annotator, undone.row, again=undone.label)

    def task(self, annotator: str, row: int) -> Task:
        """Return the task for a given row."""
        return self._task(self._mind, annotator, row)

    def known(self) -> np.ndarray:
        """Return everything that is known: the table, overridden by the answers.

        Returns
        -------
        known : ndarray of shape (n_rows, n_labels)
            NaN if a label is not known.
        """
        return known_labels(self.table, self.store, self.tagger.label_names)

    # Pieces ----------------------------------------------------------------

    def _task(
        self,
        mind: _Mind,
        annotator: str,
        row: int,
        again: str | None = None,
        look: _Look | None = None,
    ) -> Task:
        found = self.store.answers(row)
        known = mind.overlay(row, found)
        look = look or mind.look(row, known, found, annotator)
        question = again if again in mind.place else look.question
        probability = 0.0
        if question is not None:
            probability = float(look.probabilities[mind.place[question]])
        counts = self.store.counts()
        return Task(
            row=row,
            cells=self.table.cells(row),
            question=question,
            probability=probability,
            expected_errors=look.expected_errors,
            answered={mind.names[k]: bool(known[k]) for k in np.flatnonzero(~np.isnan(known))},
            disputed=found.disputed,
            implied=look.implied,
            counts=counts,
            silent=mind.n_silent,
            given=mind.n_given,
            saved=(counts.finished + mind.n_silent) * len(mind.names) - counts.answers_in_finished,
            undone=again,
        )


def known_labels(
    table: AnnotationTable, store: AnswerStore, label_names: Sequence[str]
) -> np.ndarray:
    """Return what a table and its answers say: 1, 0, or NaN if nothing.

    Parameters
    ----------
    table : AnnotationTable
        The rows.
    store : AnswerStore
        Answers, which take precedence over the table.
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
    expected_errors: float
    probabilities: np.ndarray
    implied: list[Implied]


class _Mind:
    """A model and the rows as it sees them; its choices never change, so threads may share it."""

    def __init__(
        self,
        tagger: Tagger,
        table: AnnotationTable,
        enough: float,
        done: Collection[int],
        touched: set[int],
    ) -> None:
        if not tagger.has_landmarks:
            raise ValueError(
                f"The method {tagger.method} of this model cannot ask questions; fit a model "
                "with SPL-MLL."
            )
        if not hasattr(tagger.pipeline[-1], "answer_model_"):
            raise ValueError(
                "This model was written by an earlier version that did not support questions; "
                "fit it again."
            )
        self.tagger, self.table, self.enough = tagger, table, enough
        self.names = list(tagger.label_names)
        self.place = {name: number for number, name in enumerate(self.names)}
        self.model = tagger.pipeline[-1]
        self.features = tagger.features(table.features)
        # What features say of a row is the same at every question about it.
        self._kept: dict[int, np.ndarray] = {}
        is_open = np.isnan(table.given).any(axis=1)
        is_done = np.zeros(len(is_open), dtype=bool)
        is_done[list(done)] = True
        waiting = np.flatnonzero(is_open & ~is_done)
        asked = self._order(waiting, touched)
        self.n_silent = len(waiting) - len(asked)
        self.n_given = int((~is_open).sum())
        # Those that are done come last: one of them may be opened again.
        self.order = [*asked, *np.flatnonzero(is_open & is_done).tolist()]

    def scores(self, row: int) -> np.ndarray:
        """Return what the features say of a row, shape (1, n_labels)."""
        found = self._kept.get(row)
        if found is None:
            found = plain_scores(self.model, self.features[[row]])
            if len(self._kept) * len(self.names) < _CELLS_KEPT:
                self._kept[row] = found
        return found

    def _order(self, waiting: np.ndarray, touched: set[int]) -> list[int]:
        """Return the rows to ask about, the most useful first.

        Rows in which too few errors are expected for a question are left out, unless someone has
        begun with them.
        """
        if not len(waiting):
            return []
        begun = np.isin(waiting, list(touched))
        asked = waiting[begun | self._pays_at_first(waiting)]
        # Of very many rows some from everywhere are ranked, enough for days.
        ranked = asked[:: max(1, -(-len(asked) // _MOST_RANKED))]
        if len(ranked):
            ranked = ranked[self.model.rank_rows(self.features[ranked])]
            # Those that come first are looked at together: one by one it takes longer.
            first = ranked[: max(1, _CELLS_KEPT // len(self.names))]
            scores = plain_scores(self.model, self.features[first])
            self._kept = {int(row): scores[[number]] for number, row in enumerate(first)}
        return [*ranked.tolist(), *np.setdiff1d(asked, ranked).tolist()]

    def _pays_at_first(self, rows: np.ndarray) -> np.ndarray:
        """Return whether there is something to ask about rows that nobody has begun with."""
        answering, step = self.model.answer_model_, max(1, _BLOCK_CELLS // len(self.names))
        found = []
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            scores = plain_scores(self.model, self.features[part])
            belief = answering.belief(scores, self.table.given[part])
            found.append(self._pays(answering.expected_errors(scores, belief), belief))
        return np.concatenate(found)

    def check(self, row: int, label: str) -> None:
        """Refuse a row that the table does not have, or a label that the model does not know."""
        if not 0 <= row < self.table.n_rows:
            raise ValueError(f"There is no row {row}: the table has {self.table.n_rows} rows.")
        if label not in self.place:
            raise ValueError(f"There is no label {label!r}; give a label of the model.")

    def overlay(self, row: int, found: RowAnswers) -> np.ndarray:
        """Return what is known of a row: what the table says, and over it the answers."""
        known = self.table.given[row].copy()
        for label, holds in found.known.items():
            if label in self.place:
                known[self.place[label]] = holds
        return known

    def look(self, row: int, known: np.ndarray, found: RowAnswers, annotator: str) -> _Look:
        """Return what to ask about a row, and what follows from what is known."""
        answering, scores = self.model.answer_model_, self.scores(row)
        skipped = found.skipped.get(annotator, set())
        belief = answering.belief(scores, known[None, :])
        errors = answering.expected_errors(scores, belief)
        question = None
        if self._pays(errors, belief)[0]:
            wanted = min(1 + len(skipped), len(known))
            asked = answering.next_questions(belief, wanted)[0]
            names = (self.names[k] for k in asked if k >= 0)
            question = next((name for name in names if name not in skipped), None)
        # An answer is a reason as far as things would be otherwise without it.
        reasons = self._surprising(scores[0], known, found)
        without = np.repeat(known[None, :], 2 + len(reasons), axis=0)
        without[1] = self.table.given[row]
        for number, label in enumerate(reasons, start=2):
            without[number, label] = np.nan
        labels, values = answering.complete(np.repeat(scores, len(without), axis=0), without)
        shown = np.flatnonzero(np.isnan(known) & ((labels[0] != 0) | (labels[1] != 0)))
        implied = [
            Implied(
                label=self.names[label],
                probability=float(values[0, label]),
                before=float(values[1, label]),
                holds=bool(labels[0, label]),
                because=self._reasons(reasons, known, values[0, label] - values[2:, label]),
            )
            for label in shown
        ]
        implied.sort(key=lambda each: (not each.holds, -each.probability))
        return _Look(question, float(errors[0]), values[0], implied)

    def _pays(self, errors: np.ndarray, belief: Belief) -> np.ndarray:
        """Return whether a question pays, row by row: the stop rule."""
        if self.enough == 0:
            return np.ones(len(errors), dtype=bool)
        p = belief.probabilities()
        certain = (np.maximum(p, 1 - p) >= SURE).all(axis=1)
        return (errors >= self.enough) & ~certain

    def _surprising(self, scores: np.ndarray, known: np.ndarray, found: RowAnswers) -> list[int]:
        """Return the labels whose answers the features foretold least: others change nothing."""
        answered = np.array([self.place[name] for name in found.known if name in self.place], int)
        expected = self.model.answer_model_.curve.probabilities(scores[None, :])[0]
        surprise = np.abs(known[answered] - expected[answered])
        order = np.argsort(-surprise, kind="stable")[:_MOST_LOOKED_AT]
        return answered[order][surprise[order] >= _LEAST_SURPRISE].tolist()

    def _reasons(
        self, answered: list[int], known: np.ndarray, change: np.ndarray
    ) -> list[tuple[str, bool, float]]:
        strongest = np.argsort(-np.abs(change), kind="stable")[:_MOST_REASONS]
        return [
            (self.names[answered[k]], bool(known[answered[k]]), float(change[k]))
            for k in strongest
            if abs(change[k]) >= _LEAST_CHANGE
        ]
