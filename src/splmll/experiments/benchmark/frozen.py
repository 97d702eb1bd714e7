"""The results of the benchmark as one tidy table, and the one that comes with the library.

A line is one measure of one cell: data set, method, search, seed, threshold rule. What did not
finish has a status and no value.
"""

from __future__ import annotations

import gzip
import io
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from splmll.atomic import atomic_write
from splmll.experiments.store import Store
from splmll.metrics import MEASURES

FILE = "frozen.csv.gz"
#: The rule that the benchmark fits for all methods, on scores of rows that were not trained on.
TUNED_RULE = "micro_f1"
#: What the table holds: these by the scores alone, and those for two rules of labels.
SCORE_MEASURES = ("ranking_loss", "average_precision", "one_error", "coverage", "ndcg_at_5")
LABEL_MEASURES = ("hamming_loss", "micro_f1", "macro_f1", "subset_accuracy", "jaccard")

COLUMNS = (
    "data",
    "method",
    "measure",
    "rule",
    "seed",
    "value",
    "search",
    "status",
    "seconds",
    "memory_mb",
    "n_train",
    "n_test",
    "versions",
)
# A line with the same of these replaces an older one.
CELL = ["data", "method", "search", "seed"]
DIGITS = 6
LEFT_OUT = "left out"


def frozen_results(path: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Return the results of the benchmark that come with the library.

    Parameters
    ----------
    path : path-like, optional
        Another table of the same form, such as ``results.csv.gz`` of a benchmark's folder.

    Returns
    -------
    table : DataFrame
        Columns data, method, measure, rule ("scores", "tuned" or "own"), seed, value, search,
        status, seconds (of CPU time for fit and prediction), memory_mb, n_train, n_test and
        versions.

    Examples
    --------
    >>> from splmll.experiments import frozen_results
    >>> table = frozen_results()
    >>> cell = table[(table["data"] == "emotions") & (table["method"] == "ML-kNN")]
    >>> sorted(cell["rule"].unique())
    ['own', 'scores', 'tuned']
    """
    return _shipped().copy() if path is None else _read(Path(path).read_bytes())


@cache
def _shipped() -> pd.DataFrame:
    file = files(__package__) / FILE
    return _read(file.read_bytes()) if file.is_file() else pd.DataFrame(columns=list(COLUMNS))


def _read(content: bytes) -> pd.DataFrame:
    table = pd.read_csv(io.BytesIO(gzip.decompress(content)), keep_default_na=True)
    absent = [column for column in COLUMNS if column not in table.columns]
    if absent:
        raise ValueError(
            f"The table has no column {absent[0]!r}: give one that `splmll benchmark` wrote."
        )
    return table[list(COLUMNS)]


def read_own_results(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read results of one's own, to stand beside the benchmark's.

    Parameters
    ----------
    path : path-like
        A CSV file with the columns data, method, measure (names of
        :data:`splmll.metrics.MEASURES`) and value. The columns rule ("tuned" or "own" for measures
        of labels), seed, seconds and memory_mb may be left out.

    Returns
    -------
    table : DataFrame
        In the form of :func:`frozen_results`.
    """
    mine = pd.read_csv(path)
    for column in ("data", "method", "measure", "value"):
        if column not in mine:
            raise ValueError(
                f"{path} has no column {column!r}: a table of results has data, method, measure "
                "and value. To compare methods on a table of rows, leave out --with-published."
            )
    unknown = set(mine["measure"]) - set(MEASURES)
    if unknown:
        raise ValueError(f"There is no measure {min(unknown)!r}; known are {', '.join(MEASURES)}.")
    known = set(frozen_results()["data"])
    strange = set(mine["data"]) - known
    if strange:
        raise ValueError(
            f"The benchmark has no results on {min(strange)!r}; it has {', '.join(sorted(known))}."
        )
    of_labels = mine["measure"].map(lambda name: MEASURES[name].needs == "labels")
    if "rule" not in mine:
        mine["rule"] = np.where(of_labels, "tuned", "scores")
    usual: dict[str, Any] = {"seed": 0, "search": "none", "status": "done", "versions": ""}
    for column in COLUMNS:
        if column not in mine:
            mine[column] = usual.get(column, np.nan)
    return mine[list(COLUMNS)]


def tidy(store: Store) -> pd.DataFrame:
    """Return the benchmark's cells in a store as a tidy table.

    Parameters
    ----------
    store : Store
        Of a :class:`splmll.experiments.benchmark.Benchmark`.

    Returns
    -------
    table : DataFrame
        As :func:`frozen_results` returns it.
    """
    results = store.results()
    results = results[results["protocol"] == "benchmark"]
    tuned = store.recompute(LABEL_MEASURES, threshold=TUNED_RULE, keys=results["key"])
    by_key = tuned.set_index("key")
    lines = []
    for cell in results.to_dict("records"):
        facts = {
            "data": cell["data"],
            "method": cell["method"],
            "seed": cell["seed"],
            "search": cell["search"],
            "status": cell["status"],
            "seconds": round(cell["processor_seconds"], 3),
            "memory_mb": round(cell["peak_memory_mb"], 1),
            "n_train": cell["n_train"],
            "n_test": cell["n_test"],
            "versions": versions_words(cell["versions"], cell["method"]),
        }
        lines += [
            {**facts, "measure": name, "rule": "scores", "value": cell[name]}
            for name in SCORE_MEASURES
        ]
        for name in LABEL_MEASURES:
            value = by_key.loc[cell["key"], name] if cell["key"] in by_key.index else np.nan
            lines.append({**facts, "measure": name, "rule": "tuned", "value": value})
            lines.append({**facts, "measure": name, "rule": "own", "value": cell[name]})
    table = pd.DataFrame(lines, columns=list(COLUMNS))
    table["value"] = table["value"].astype(float).round(DIGITS)
    return table.sort_values(["search", "data", "method", "seed"], kind="stable", ignore_index=True)


def unfinished(cells: pd.DataFrame, search: str) -> pd.DataFrame:
    """Return the lines of cells that were left out because they would take too long.

    Parameters
    ----------
    cells : DataFrame
        Columns data and method.
    search : str
        "none" or "grid".

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.benchmark.frozen import unfinished
    >>> lines = unfinished(pd.DataFrame({"data": ["delicious"], "method": ["CLR"]}), "none")
    >>> len(lines), lines["status"].unique().tolist()
    (15, ['left out'])
    """
    measures = pd.DataFrame(
        [(name, "scores") for name in SCORE_MEASURES]
        + [(name, rule) for name in LABEL_MEASURES for rule in ("tuned", "own")],
        columns=["measure", "rule"],
    )
    lines = cells.merge(measures, how="cross").assign(seed=0, search=search, status=LEFT_OUT)
    return lines.reindex(columns=list(COLUMNS))


def versions_words(versions: str, method: str = "") -> str:
    """Return the versions that matter, in one line; those of a peer's own package for it alone.

    Examples
    --------
    >>> from splmll.experiments.benchmark.frozen import versions_words
    >>> versions_words('{"splmll": "1.0", "numpy": "2.0", "catboost": "1.2"}')
    'splmll 1.0, numpy 2.0'
    >>> versions_words('{"splmll": "1.0", "numpy": "2.0", "catboost": "1.2"}', "CatBoost")
    'splmll 1.0, numpy 2.0, catboost 1.2'
    """
    import json

    told: dict[str, Any] = json.loads(versions)
    wanted = ("splmll", "scikit-learn", "numpy", "scipy", "torch", "python", method.lower())
    return ", ".join(f"{name} {told[name]}" for name in wanted if name in told)


def merge(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Return both tables as one; a cell that both have is the new one.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.benchmark.frozen import merge
    >>> cell = {"data": "a", "method": "BR", "search": "none", "seed": 0, "measure": "micro_f1"}
    >>> old, new = (pd.DataFrame([{**cell, "value": value}]) for value in (0.1, 0.2))
    >>> merge(old, new)["value"].tolist()
    [0.2]
    """
    if old.empty or new.empty:
        return (new if old.empty else old).reset_index(drop=True)
    replaced = pd.MultiIndex.from_frame(new[CELL])
    kept = old[~pd.MultiIndex.from_frame(old[CELL]).isin(replaced)]
    joined = pd.concat([kept, new], ignore_index=True)
    order = [name for name in ("search", "data", "method", "seed") if name in joined]
    return joined.sort_values(order, kind="stable", ignore_index=True)


def add_results(table: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Merge a table into that of a file, as the file is now: another run may have added to it.

    Parameters
    ----------
    table : DataFrame
        As :func:`tidy` returns it.
    path : path-like
        The file; it need not exist.

    Returns
    -------
    path : Path
    """
    path = Path(path)
    return write_results(merge(frozen_results(path), table) if path.exists() else table, path)


def write_results(table: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write a tidy table as a compressed CSV file; the same table gives the same bytes.

    Parameters
    ----------
    table : DataFrame
        As :func:`tidy` returns it.
    path : path-like
        The file.

    Returns
    -------
    path : Path
    """
    unknown = set(table["measure"]) - set(MEASURES)
    if unknown:
        raise ValueError(f"There is no measure {min(unknown)!r}; known are {', '.join(MEASURES)}.")
    path = Path(path)
    text = table[list(COLUMNS)].to_csv(index=False, lineterminator="\n")
    with atomic_write(path) as part:
        part.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    return path
