"""From columns to features as the pipeline of a tagger does it, without a table for every request.

scikit-learn looks at every column of a table several times, which takes longer than the model for
a few rows. The steps are called one by one instead, after a check that the result is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from splmll.arrays import dense
from splmll.serving.describe import example_row
from splmll.serving.rows import RowReader, Rows
from splmll.tagging import Tagger, Words

Part = Callable[[Rows], Any]


class Features:
    """What turns the rows of requests into the features of a tagger's method.

    Parameters
    ----------
    tagger : Tagger
        The model.
    reader : RowReader
        Its columns.

    Attributes
    ----------
    direct : bool
        Whether the steps are called one by one. Otherwise rows become a table for the pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from splmll.datasets import Dataset
    >>> from splmll.serving.features import Features
    >>> from splmll.serving.rows import RowReader
    >>> from splmll.tagging import Tagger
    >>> X = pd.DataFrame({"site": ["north", "south"] * 20, "hours": [1.0, 3.0] * 20})
    >>> Y = np.array([[1, 0], [0, 1]] * 20)
    >>> data = Dataset(X, Y, ["site", "hours"], ["cold", "warm"],
    ...                column_kinds={"site": "categorical", "hours": "numeric"})
    >>> tagger = Tagger.fit(data, "BR")
    >>> reader = RowReader(tagger)
    >>> features = Features(tagger, reader)
    >>> features.direct, features(reader.read([{"site": "south", "hours": 3}]))
    (True, array([[0., 1., 1.]]))
    """

    def __init__(self, tagger: Tagger, reader: RowReader) -> None:
        self._steps = [step for _, step in tagger.pipeline.steps[:-1]]
        self._reader = reader
        self._parts = _parts(self._steps, reader)
        self.direct = self._parts is not None and self._is_same(tagger)

    def __call__(self, rows: Rows) -> Any:
        """Return the features of rows, dense or sparse as the method knows them."""
        return self._by_parts(rows) if self.direct else self._by_table(rows)

    def _by_parts(self, rows: Rows) -> Any:
        assert self._parts is not None
        if not self._steps:
            return rows.numbers
        found = [part(rows) for part in self._parts]
        if self._steps[0].sparse_output_:
            return sparse.hstack([sparse.csr_array(each) for each in found], format="csr")
        parts = [dense(each) for each in found]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _by_table(self, rows: Rows) -> Any:
        numbers = pd.DataFrame(rows.numbers, columns=self._reader.numeric)
        words = pd.DataFrame(rows.words, columns=self._reader.wordy, dtype=object)
        X: Any = pd.concat([numbers, words], axis=1)[self._reader.columns]
        for step in self._steps:
            X = step.transform(X)
        return X

    def _is_same(self, tagger: Tagger) -> bool:
        """Try both ways on a row like those of training, and on one in which all is missing."""
        if not self._steps:
            return True
        rows = self._reader.read([example_row(tagger), dict.fromkeys(self._reader.columns)])
        ours, theirs = self._by_parts(rows), self._by_table(rows)
        if sparse.issparse(ours) != sparse.issparse(theirs) or ours.shape != theirs.shape:
            return False
        difference = abs(ours - theirs)
        return bool(difference.max() == 0) if difference.shape[1] else True


def _parts(steps: list[Any], reader: RowReader) -> list[Part] | None:
    """Return one function for each group of columns; None where there is a step we do not know."""
    if not steps:
        return []
    if len(steps) != 1 or type(steps[0]) is not ColumnTransformer or steps[0].transformer_weights:
        return None
    parts: list[Part] = []
    place = {name: k for names in (reader.numeric, reader.wordy) for k, name in enumerate(names)}
    for _, step, columns in steps[0].transformers_:
        if type(step) is Words:
            parts.append(partial(_texts, step, [place[name] for name in columns]))
        elif type(step) is TfidfVectorizer:  # of models that were written by an earlier version
            parts.append(partial(_texts, step, place[columns]))
        elif type(step) is OneHotEncoder:
            parts.append(partial(_categories, step, [place[name] for name in columns], columns))
        elif _fills_and_scales(step):
            order = [place[name] for name in columns]
            whole = order == list(range(len(reader.numeric)))
            fill, scale = step[0].statistics_, step[1]
            parts.append(
                partial(_numbers, fill, scale.mean_, scale.scale_, None if whole else order)
            )
        elif not (isinstance(step, str) and not len(columns)):
            return None
    return parts


def _fills_and_scales(step: Any) -> bool:
    return (
        type(step) is Pipeline
        and [type(each) for _, each in step.steps] == [SimpleImputer, StandardScaler]
        and step[1].with_mean
        and step[1].with_std
        and not step[0].add_indicator
    )


def _texts(words: Words | TfidfVectorizer, places: list[int] | int, rows: Rows) -> Any:
    return words.transform(rows.words[:, places])


def _categories(encoder: OneHotEncoder, places: list[int], columns: list[str], rows: Rows) -> Any:
    return encoder.transform(pd.DataFrame(rows.words[:, places], columns=columns, dtype=object))


def _numbers(
    fill: np.ndarray, mean: np.ndarray, scale: np.ndarray, order: list[int] | None, rows: Rows
) -> np.ndarray:
    numbers = rows.numbers if order is None else rows.numbers[:, order]
    return (np.where(np.isnan(numbers), fill, numbers) - mean) / scale
