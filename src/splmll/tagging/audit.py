"""Labels of a table that are probably wrong or missing, by name and worst first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from splmll.arrays import dense
from splmll.datasets import Dataset
from splmll.tagging.pipeline import DEFAULT_METHOD, build_pipeline
from splmll.tagging.rows import checked_rows
from splmll.tagging.tagger import check_enough_rows


def find_suspects(
    data: Dataset,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
    settings: Mapping[str, Any] | None = None,
    on_progress: Callable[[str, float | None], object] | None = None,
) -> pd.DataFrame:
    """Find labels that are more likely wrong than right, by models that had not seen them.

    Parameters
    ----------
    data : Dataset
        Rows with labels; NaN means not known.
    random_state, n_jobs, settings
        See :func:`splmll.tagging.pipeline.build_pipeline`; the method is SPL-MLL.
    on_progress : callable, optional
        Called with what is being done and the share that is done (None: not known).

    Returns
    -------
    suspects : DataFrame
        As :meth:`splmll.SPLMLL.audit` returns it, with the names of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.tagging.audit import find_suspects
    >>> X = 10 * np.random.default_rng(0).normal(size=(200, 3))
    >>> Y = (X > 0).astype(int)
    >>> Y[5, 1] = 1 - Y[5, 1]
    >>> data = Dataset(X, Y, ["x", "y", "z"], ["right", "up", "near"])
    >>> found = find_suspects(data, settings={"embedding": "linear"})
    >>> ("up", 5) in set(zip(found["label"], found["row"]))
    True
    """

    def tell(what: str) -> None:
        if on_progress is not None:
            on_progress(what, None)

    check_enough_rows(data)
    pipeline = build_pipeline(
        data, DEFAULT_METHOD, random_state=random_state, n_jobs=n_jobs, settings=settings
    )
    X = checked_rows(data.X, data.feature_names, data.column_kinds)
    if len(pipeline.steps) > 1:
        tell("turning columns into features")
        X = pipeline[:-1].fit_transform(X, data.Y)
    tell(f"judging the labels of {X.shape[0]:,} rows by models of the others")
    return pipeline[-1].audit(X, pd.DataFrame(dense(data.Y), columns=list(data.label_names)))
