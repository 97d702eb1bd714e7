"""Annotating with few questions: a queue of rows, and the answers in one SQLite file.

:class:`AnnotationQueue` asks questions and :class:`AnswerStore` keeps the answers; ``splmll
annotate`` shows both on a page.
"""

from splmll.annotation.queue import AnnotationQueue, Implied, Task, known_labels
from splmll.annotation.store import AnswerStore, Counts, Entry, RowAnswers
from splmll.annotation.table import AnnotationTable

__all__ = [
    "AnnotationQueue",
    "AnnotationTable",
    "AnswerStore",
    "Counts",
    "Entry",
    "Implied",
    "RowAnswers",
    "Task",
    "known_labels",
]
