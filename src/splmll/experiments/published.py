"""The numbers printed in the paper: its Tables 1 to 4, and under which protocol they were measured.

They stand beside measured numbers and are never mixed with them. The paper names neither the base
learners nor the thresholds of the compared methods. Its numbers of tmc2007 belong to training rows:
measured there, ML-kNN agrees with its printed row, and on test rows it is far from it.
"""

from __future__ import annotations

from importlib.resources import as_file, files

import pandas as pd

#: Data sets at hand in place of printed ones that are not available, and how the two differ.
STAND_INS: dict[str, tuple[str, str]] = {
    "espgame-densehue": (
        "espgame",
        "features: printed for 1000 DenseSift features, here 100 of DenseHue",
    ),
    "corel5k": ("pascal07", "data: printed for pascal07, here another set of pictures"),
}

#: The paper's rows of SPL-MLL belong to its own system; this library's has no printed row.
PRINTED_NAMES: dict[str, str] = {
    "SPL-MLL as published": "SPL-MLL",
    "SPL-MLL (linear) as published": "SPL-MLL (linear)",
    "SPL-MLL as released": "SPL-MLL",
    "SPL-MLL": "",
    "SPL-MLL (linear)": "",
}

# Protocols that test on the test rows of the standard split.
_ON_TEST_ROWS = ("held-out", "paper")


def published() -> pd.DataFrame:
    """Return every number of the paper's Tables 2, 3 and 4.

    Returns
    -------
    numbers : DataFrame
        One line for each, with the columns table, data, method, measure, mean, std and protocol.
        Methods have the names of :data:`splmll.methods.METHODS` (the paper calls C2AE DC2AE),
        measures those of :data:`splmll.metrics.MEASURES`. The protocol is the one that was
        established by measuring: "held-out" (the test rows of the standard split),
        "resubstitution" (the training rows) or "unknown".

    Examples
    --------
    >>> from splmll.experiments.published import published
    >>> numbers = published().set_index(["table", "data", "method", "measure"])
    >>> float(numbers.loc[(2, "scene", "ML-kNN", "average_precision"), "mean"])
    0.851
    >>> numbers.loc[(2, "tmc2007", "ML-kNN", "average_precision"), "protocol"]
    'resubstitution'
    """
    key = ["table", "data", "method", "protocol"]
    rows = read_table("published.csv").melt(
        key, var_name="measure", value_name="printed", ignore_index=False
    )
    numbers = rows.sort_index(kind="stable").dropna().reset_index(drop=True)
    numbers[["mean", "std"]] = numbers["printed"].str.split("±", expand=True).astype(float)
    return numbers[["table", "data", "method", "measure", "mean", "std", "protocol"]]


def published_datasets() -> pd.DataFrame:
    """Return the paper's Table 1: rows, features, labels, cardinality and domain of its data sets.

    The features of espgame and pascal07 are DenseSift.

    Examples
    --------
    >>> from splmll.experiments.published import published_datasets
    >>> table = published_datasets()
    >>> int(table.loc["yeast", "labels"]), table.loc["yeast", "domain"]
    (14, 'biology')
    """
    return read_table("published_datasets.csv").set_index("data")


def read_table(name: str) -> pd.DataFrame:
    """Return a table that stands beside this module."""
    with as_file(files(__package__).joinpath(name)) as path:
        return pd.read_csv(path, encoding="utf-8")


def printed_beside(cells: pd.DataFrame, numbers: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """Return measured cells with the printed number that stands beside each.

    The cells, one in each line, have the columns data, method and measure, and were measured by the
    protocol; the numbers are what `published` returns. The result has the columns printed and
    printed_std, NaN where nothing is printed, and caveat: in which way the printed number was
    measured otherwise, empty if it was not or is unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.published import printed_beside, published
    >>> cell = {"data": "tmc2007", "method": "SPL-MLL as published", "measure": "micro_f1"}
    >>> line = printed_beside(pd.DataFrame([cell]), published(), "held-out").iloc[0]
    >>> float(line["printed"]), line["caveat"]
    (0.944, 'protocol: printed for training rows')
    """
    key = ["data", "method", "measure"]
    wanted = [*key, "mean", "std", "protocol"]
    if absent := [column for column in wanted if column not in numbers.columns]:
        raise ValueError(
            f"The printed numbers have no column {absent[0]!r}; pass what published() returns."
        )
    known = numbers[wanted].drop_duplicates()
    if known.duplicated(key).any():
        twice = known[known.duplicated(key)].iloc[0]
        raise ValueError(
            f"Two different numbers are printed for {twice['method']} on {twice['data']}, "
            f"{twice['measure']}; pass the numbers of one table."
        )
    stand_ins = [_stand_in(name) for name in cells["data"]]
    methods = [PRINTED_NAMES.get(name, name) for name in cells["method"]]
    meant = cells[key].assign(data=[name for name, _ in stand_ins], method=methods)
    found = meant.merge(known, "left", key).set_axis(cells.index)
    caveats = [
        "" if pd.isna(printed) else _joined(_protocol_caveat(protocol, printed), caveat)
        for printed, (_, caveat) in zip(found["protocol"], stand_ins)
    ]
    return cells.assign(printed=found["mean"], printed_std=found["std"], caveat=caveats)


def _stand_in(data: str) -> tuple[str, str]:
    """Return the printed data set that this one stands for; it may also be a sample of one."""
    whole, _, sample = data.partition(", ")
    name, caveat = STAND_INS.get(whole, (whole, ""))
    if not sample:
        return name, caveat
    rows = f"rows: printed for the whole data set, here a sample of {sample}"
    return name, _joined(caveat, rows)


def _protocol_caveat(measured: str, printed: str) -> str:
    """What is different about the rows a printed number was measured on, if that is known."""
    if printed == "resubstitution" and measured != "resubstitution":
        return "protocol: printed for training rows"
    if printed == "held-out" and measured not in _ON_TEST_ROWS:
        return "protocol: printed for the test rows of the standard split"
    return ""


def _joined(*caveats: str) -> str:
    return "; ".join(filter(None, caveats))
