"""Data sets of raw texts: a training and a test table, as TF-IDF of their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from splmll.datasets.dataset import Dataset
from splmll.datasets.tabular import read_table


def read_text_parts(
    train: Any,
    test: Any,
    *,
    text: Sequence[str],
    labels: str,
    ngrams: tuple[int, int] = (1, 1),
    ignore: Sequence[str] = (),
    name: str,
) -> tuple[Dataset, Dataset]:
    r"""Read the two parts of a data set of texts.

    The features are TF-IDF weights with logarithmic counts (``sublinear_tf``) of the words, or
    runs of words, that at least two training texts have. Nothing is learnt from the test part.

    Parameters
    ----------
    train, test : path-like
        CSV files.
    text : sequence of str
        Columns whose texts, one after the other, are the text of a row.
    labels : str
        Column that lists the labels, with a semicolon between two.
    ngrams : tuple of int
        Shortest and longest run of words that is a feature.
    ignore : sequence of str
        Columns that are neither.
    name : str
        Name of the data set.

    Returns
    -------
    train, test : Dataset
        With a CSR array for X, and the texts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets.text_sets import read_text_parts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     train, test = Path(folder) / "train.csv", Path(folder) / "test.csv"
    ...     _ = train.write_text("note,tags\nred sea,sea\nred sky,sky\nblue sea,sea\n")
    ...     _ = test.write_text("note,tags\nred sky at sea,sea;sky\n")
    ...     train, test = read_text_parts(train, test, text=["note"], labels="tags", name="notes")
    >>> train.feature_names, test.X.nnz, test.texts.tolist()
    (['red', 'sea'], 2, ['red sky at sea'])
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    tables = [
        read_table(
            path, label_column=labels, label_delimiter=";", text=text, ignore=ignore, name=name
        )
        for path in (train, test)
    ]
    texts = [
        np.array([" ".join(cells) for cells in table.X[list(text)].to_numpy()], dtype=object)
        for table in tables
    ]
    words = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=ngrams)
    X = [words.fit_transform(texts[0]), words.transform(texts[1])]
    names = words.get_feature_names_out().tolist()
    first, second = (
        Dataset(
            X=sparse.csr_array(X[part]),
            Y=tables[part].Y,
            feature_names=names,
            label_names=tables[part].label_names,
            name=name,
            texts=texts[part],
        )
        for part in (0, 1)
    )
    return first, second
