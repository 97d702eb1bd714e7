"""What is odd about rows but does not prevent learning, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from splmll.datasets import Dataset
from splmll.names import listed
from splmll.tagging.rows import label_counts

FEW_ROWS = 5  # of a label, from which little is learned and by which nothing can be told


def label_notes(data: Dataset) -> Iterator[str]:
    """Yield what is odd about the labels of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.tagging.notes import label_notes
    >>> Y = np.column_stack([np.arange(20) % 2, np.arange(20) == 3])
    >>> list(label_notes(Dataset(np.zeros((20, 1)), Y, ["x"], ["odd", "three"])))
    ["1 label is in fewer than 5 rows, too few to learn it well: 'three'. --min-count 5 leaves ..."]
    """
    rows = label_counts(data.Y)
    rare = [name for name, count in zip(data.label_names, rows) if count < FEW_ROWS]
    if rare:
        are, what = ("label is", "it") if len(rare) == 1 else ("labels are", "them")
        shown = f": {listed(rare)}" if len(rare) <= 3 else ""
        yield (
            f"{len(rare):,} {are} in fewer than {FEW_ROWS} rows, too few to learn {what} "
            f"well{shown}. --min-count {FEW_ROWS} leaves {what} out."
        )
    every = [name for name, count in zip(data.label_names, rows) if count == data.Y.shape[0]]
    if every:
        are = "label is" if len(every) == 1 else "labels are"
        yield f"{len(every):,} {are} in every row, so there is nothing to learn: {listed(every)}."


def word_notes(without_words: np.ndarray | None) -> Iterator[str]:
    """Yield how many rows have no known word; nothing if all have one.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.tagging.notes import word_notes
    >>> list(word_notes(np.array([True, False])))
    ['1 row has no word that the model knows.']
    """
    count = 0 if without_words is None else int(without_words.sum())
    if count:
        yield f"{count:,} {'row has' if count == 1 else 'rows have'} no word that the model knows."
