"""Labels, predictions and names as they are handed to a display, brought into one form.

Nothing here changes what it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from splmll.arrays import dense


def label_matrix(Y: Any) -> np.ndarray:
    """Return labels as an array of 0, 1 and NaN, a column for each; a vector is one label.

    Examples
    --------
    >>> from splmll.plots.label_input import label_matrix
    >>> label_matrix([0, 1])
    array([[0.],
           [1.]])
    """
    labels = score_matrix(Y)
    if not np.all((labels == 0) | (labels == 1) | np.isnan(labels)):
        raise ValueError("Labels must be 0 or 1 (or NaN): pass a 0/1 matrix as Y.")
    return labels


def score_matrix(scores: Any) -> np.ndarray:
    """Return scores or probabilities as a dense array with a column for each label.

    Examples
    --------
    >>> from splmll.plots.label_input import score_matrix
    >>> score_matrix([0.2, 0.9]).shape
    (2, 1)
    """
    values = np.asarray(dense(scores), dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def same_columns(Y: Any, other: Any) -> Any:
    """Return a table with its columns in the order of the labels, where both have names.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.plots.label_input import same_columns
    >>> list(same_columns(pd.DataFrame(columns=["a", "b"]), pd.DataFrame(columns=["b", "a"])))
    ['a', 'b']
    """
    both = isinstance(Y, pd.DataFrame) and isinstance(other, pd.DataFrame)
    return other[list(Y.columns)] if both and set(Y.columns) == set(other.columns) else other


def check_same_shape(labels: np.ndarray, other: np.ndarray, what: str) -> None:
    """Raise ValueError where rows or labels differ in number."""
    if labels.shape != other.shape:
        raise ValueError(
            f"{what} of shape {other.shape} for labels of shape {labels.shape}: both need one row "
            "per example and one column per label."
        )


def last_estimator(estimator: Any) -> Any:
    """Return the estimator that predicts in the end: of a search its best, of a pipeline its last.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from splmll.methods import MLkNN
    >>> from splmll.plots.label_input import last_estimator
    >>> last_estimator(make_pipeline(StandardScaler(), MLkNN()))
    MLkNN()
    """
    if hasattr(estimator, "best_estimator_"):
        return last_estimator(estimator.best_estimator_)
    return last_estimator(estimator[-1]) if hasattr(estimator, "steps") else estimator


def label_names_of(n_labels: int, *sources: Any, given: Sequence[str] | None = None) -> list[str]:
    """Return the names of labels: those given, or of the first source that has them, or numbers.

    Parameters
    ----------
    n_labels : int
        How many labels there are.
    *sources : DataFrame, estimator or other object
        What may know the names: a table by its columns, an estimator by the table it was
        fitted on.
    given : sequence of str, optional
        Names that count before all others.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.plots.label_input import label_names_of
    >>> label_names_of(2, None, pd.DataFrame(columns=["sea", "boat"]))
    ['sea', 'boat']
    >>> label_names_of(2)
    ['0', '1']
    """
    known = (given, *(_names_in(source) for source in sources), range(n_labels))
    names = [str(name) for name in next(each for each in known if each is not None)]
    if len(names) != n_labels:
        raise ValueError(f"{len(names)} label names for {n_labels} labels: give one for each.")
    return names


def _names_in(source: Any) -> Any:
    if isinstance(source, pd.DataFrame):
        return source.columns
    if isinstance(source, pd.Series):
        return None if source.name is None else [source.name]
    # An estimator that was fitted on a table, or a Tagger.
    last = last_estimator(source)
    names = getattr(last, "label_names_in_", None)
    return getattr(last, "label_names", None) if names is None else names
