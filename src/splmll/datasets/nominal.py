"""Categories of a table as columns of zeros and ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from splmll.datasets.dataset import Dataset
from splmll.exceptions import DatasetError


def with_numbers_only(data: Dataset, leave_out: Sequence[str] = ()) -> Dataset:
    """Return the data set with a float64 array for X.

    A category of two values becomes one column, which is 1 for the second of them; a category of
    more values becomes one column for each, also for values that no row has. So files that
    declare the same categories get the same columns.

    Parameters
    ----------
    data : Dataset
        As an ARFF reader returns it: the categories are pandas' own.
    leave_out : sequence of str
        Features to leave out.

    Returns
    -------
    Dataset
        New columns are called ``feature=value``. A missing value is NaN.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from splmll.datasets import Dataset
    >>> from splmll.datasets.nominal import with_numbers_only
    >>> colours = pd.Categorical(["red", "blue"], categories=["red", "green", "blue"])
    >>> flags = Dataset(pd.DataFrame({"area": [1.5, 2.0], "colour": colours}), np.eye(2),
    ...                 ["area", "colour"], ["a", "b"])
    >>> with_numbers_only(flags).feature_names
    ['area', 'colour=red', 'colour=green', 'colour=blue']
    >>> with_numbers_only(flags).X.tolist()
    [[1.5, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 1.0]]
    """
    if not isinstance(data.X, pd.DataFrame):
        return data
    names: list[str] = []
    columns: list[np.ndarray] = []
    for name in data.feature_names:
        if name in leave_out:
            continue
        cells = data.X[name]
        if isinstance(cells.dtype, pd.CategoricalDtype):
            values = list(cells.cat.categories)
            codes = cells.cat.codes.to_numpy()
            for code in range(len(values)) if len(values) != 2 else (1,):
                names.append(f"{name}={values[code]}")
                columns.append(np.where(codes < 0, np.nan, codes == code))
        elif pd.api.types.is_numeric_dtype(cells.dtype):
            names.append(name)
            columns.append(cells.to_numpy(dtype=np.float64))
        else:
            raise DatasetError(
                f"the feature {name!r} is text, which has no natural numbers; leave it out",
                path=data.name,
            )
    return replace(data, X=np.column_stack(columns), feature_names=names, column_kinds={})
