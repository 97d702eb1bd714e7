"""What came out of an experiment, on disk: one SQLite file, and array files with the scores.

A unit's row appears in one step, after its arrays are in place, so that a process killed at any
moment leaves nothing half-written. One run at a time works on a store; others can read it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from splmll.atomic import FolderInUse, atomic_write, flush_folder, locked_folder
from splmll.experiments.unit import Unit, UnitArrays, UnitResult, measures_for
from splmll.metrics import MEASURES, evaluate

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 2
# "SPLM" as a number marks the file as a store, in the place SQLite has for that.
APPLICATION_ID = 0x53504C4D

# Seconds to wait for another process that is writing.
BUSY_TIMEOUT = 60.0

_COLUMNS = {
    "key": "TEXT PRIMARY KEY",
    "data": "TEXT NOT NULL",
    "method": "TEXT NOT NULL",
    "protocol": "TEXT NOT NULL",
    "protocol_description": "TEXT NOT NULL",
    "repetition": "INTEGER NOT NULL",
    "fold": "INTEGER NOT NULL",
    "seed": "INTEGER NOT NULL",
    "preprocessing": "TEXT NOT NULL",
    "threshold": "TEXT NOT NULL",
    "search": "TEXT NOT NULL",
    "search_description": "TEXT NOT NULL",
    "settings": "TEXT NOT NULL",
    "settings_hash": "TEXT NOT NULL",
    "status": "TEXT NOT NULL",
    "error": "TEXT",
    "traceback": "TEXT",
    "measures": "TEXT NOT NULL",
    "search_seconds": "REAL",
    "fit_seconds": "REAL",
    "predict_seconds": "REAL",
    "processor_seconds": "REAL",
    "peak_memory_mb": "REAL",
    "n_train": "INTEGER",
    "n_test": "INTEGER",
    "n_labels": "INTEGER",
    "n_features": "INTEGER",
    "versions": "TEXT NOT NULL",
    "host": "TEXT NOT NULL",
    "started": "TEXT NOT NULL",
    "finished": "TEXT NOT NULL",
}
_SCHEMA = f"""
CREATE TABLE units ({", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())});
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""


class StoreError(ValueError):
    """A file is not a store, or not one that this version can read."""


class Store:
    """The results of an experiment.

    Parameters
    ----------
    path : path-like
        The SQLite file, or a folder in which it is ``results.sqlite``. It is made where there is
        none. The scores are in the folder ``<name of the file>-scores`` beside it.

    Notes
    -----
    A store must not lie on a network drive, for which SQLite's write-ahead log is not made:
    experiments on several machines go through Dask, where one process alone writes.

    Examples
    --------
    >>> import tempfile
    >>> from splmll.experiments.protocol import PROTOCOLS
    >>> from splmll.experiments.store import Store
    >>> from splmll.experiments.unit import Unit, UnitResult
    >>> unit = Unit("ML-kNN", "emotions", PROTOCOLS["held-out"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     store.record(unit, UnitResult.failure("timeout", "took too long"))
    ...     store.results()[["data", "method", "status"]]
           data  method   status
    0  emotions  ML-kNN  timeout
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        path = Path(path)
        self.path = path / FILE_NAME if path.is_dir() or not path.suffix else path
        self.folder = self.path.with_name(f"{self.path.stem}-scores")
        if not self.path.exists():
            self._create()
        self._check()
        self.folder.mkdir(exist_ok=True)

    # What was found out ------------------------------------------------------------------------

    def results(self, keys: Iterable[str] | None = None) -> pd.DataFrame:
        """Return a table with one row for every unit that was finished or failed.

        Parameters
        ----------
        keys : iterable of str, optional
            Only these units, in this order; by default all, in the order of their names.

        Returns
        -------
        results : DataFrame
            Beside facts about the unit, one column for each of
            :data:`splmll.metrics.MEASURES`, NaN where the unit has no result.
        """
        query = (
            f"SELECT {', '.join(_COLUMNS)} FROM units "
            "ORDER BY data, method, protocol, repetition, fold, key"
        )
        kinds = {"INTEGER": "Int64", "REAL": "float64"}  # a unit that failed may not know them
        known = {name: kinds[kind] for name, kind in _COLUMNS.items() if kind in kinds}
        with self._reading() as connection:
            frame = pd.read_sql(query, connection, dtype=known)
        if keys is not None:
            there = set(frame["key"])
            asked = [key for key in keys if key in there]
            frame = frame.set_index("key", drop=False).loc[asked].reset_index(drop=True)
        for name in ("error", "traceback"):
            words = frame[name].astype(object)
            frame[name] = words.where(words.notna(), None)
        before = frame.columns.get_loc("measures")
        values = [json.loads(text) for text in frame.pop("measures")]
        measures = pd.DataFrame(values, frame.index, list(MEASURES), dtype=np.float64)
        return pd.concat([frame.iloc[:, :before], measures, frame.iloc[:, before:]], axis=1)

    def arrays(self, key: str) -> UnitArrays:
        """Return true labels, scores and predicted labels of a unit.

        Parameters
        ----------
        key : str
            The column ``key`` of `results`.
        """
        path = self._array_file(key)
        if not path.exists():
            raise KeyError(
                f"There are no scores of a unit {key!r}: take a key of results() whose status is "
                "'done'."
            )
        with np.load(path, allow_pickle=False) as stored:
            content = dict(stored)
        return UnitArrays(**{**content, "offset": float(content["offset"])})

    def recompute(
        self,
        measures: str | Iterable[str] | None = None,
        *,
        threshold: float | str | None = None,
        keys: Iterable[str] | None = None,
        **options: Any,
    ) -> pd.DataFrame:
        """Compute measures anew from the stored scores, without training.

        Parameters
        ----------
        measures : str or iterable of str, optional
            Names in :data:`splmll.metrics.MEASURES`; by default all.
        threshold : float or str, optional
            A number predicts labels anew with this fixed threshold on the scale of the method's
            own. A rule of :data:`splmll.thresholds.RULES` is fitted on the validation rows, which
            only the protocols ``"paper"`` and ``"benchmark"`` have: on test rows it would flatter.
            By default the labels that were predicted.
        keys : iterable of str, optional
            Only these units; by default all.
        **options
            Options of :func:`splmll.metrics.evaluate`, such as ``ties="half"``.

        Returns
        -------
        results : DataFrame
            As `results`, only units with a result, and NaN for other measures.
        """
        asked = list(MEASURES) if measures is None else measures
        asked = [asked] if isinstance(asked, str) else list(asked)
        frame = self.results(keys)
        frame = frame[frame["status"] == "done"].reset_index(drop=True)
        frame[list(MEASURES)] = np.nan
        for number, key in enumerate(frame["key"]):
            arrays = self.arrays(key)
            labels = arrays.labels if threshold is None else arrays.cut(threshold)
            possible = measures_for(arrays.truth.shape[1])
            values = evaluate(
                arrays.truth,
                arrays.scores,
                labels,
                [name for name in asked if name in possible or name not in MEASURES],
                **options,
            )
            for name, value in values.items():
                frame.loc[number, name] = value
        if threshold is not None:
            frame["threshold"] = str(threshold)
        return frame

    def statuses(self) -> dict[str, str]:
        """Return the status of every unit that is over, by key."""
        with self._reading() as connection:
            return dict(connection.execute("SELECT key, status FROM units").fetchall())

    # What is being done ------------------------------------------------------------------------

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Keep other runs away for as long as the block, or its process, lasts."""
        try:
            with locked_folder(self.folder, wait=False):
                yield
        except FolderInUse:
            raise StoreError(
                f"Another run is at work on {self.path}: wait until it ends, or name another "
                "place. To use more processors, give one run more jobs."
            ) from None

    def record(self, unit: Unit, result: UnitResult) -> None:
        """Write down what came out of a unit, in one step."""
        line = {
            **unit.columns(),
            "settings": _json(unit.settings if result.settings is None else result.settings),
            "measures": _json(
                {name: None if np.isnan(v) else float(v) for name, v in result.measures.items()}
            ),
            "versions": _json(result.versions),
            "host": _json(result.host),
        }
        line |= {name: getattr(result, name) for name in _COLUMNS if name not in line}
        with self._writing() as connection:
            for left in self.folder.glob(f"*{unit.key}*"):  # by processes that were killed
                left.unlink(missing_ok=True)
            if result.arrays is not None:
                # A row that is on the disk has its arrays there, too.
                with atomic_write(self._array_file(unit.key)) as part, part.open("wb") as file:
                    there = {k: v for k, v in vars(result.arrays).items() if v is not None}
                    np.savez_compressed(file, allow_pickle=False, **there)
            connection.execute(
                f"INSERT OR REPLACE INTO units ({', '.join(_COLUMNS)}) "
                f"VALUES ({', '.join('?' * len(_COLUMNS))})",
                [line[name] for name in _COLUMNS],
            )

    def forget(self, method: str, keys: Collection[str] | None = None) -> int:
        """Remove results of a method, so that the next run makes them anew.

        Parameters
        ----------
        method : str
            Its name.
        keys : collection of str, optional
            Only these units; by default all of the method.

        Returns
        -------
        n_removed : int
        """
        with self._writing() as connection:
            lines = connection.execute("SELECT key FROM units WHERE method = ?", (method,))
            found = [line for line in lines if keys is None or line[0] in keys]
            connection.executemany("DELETE FROM units WHERE key = ?", found)
        for (key,) in found:
            self._array_file(key).unlink(missing_ok=True)
        return len(found)

    # The file ------------------------------------------------------------------------------------

    def _create(self) -> None:
        """Make an empty store under another name and give it its name in one step."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}.part")
        try:
            with closing(sqlite3.connect(part)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(_SCHEMA)
            os.link(part, self.path)  # fails if another process was faster, where a move would not
            flush_folder(self.path.parent)
        except FileExistsError:
            pass
        finally:
            part.unlink(missing_ok=True)

    def _check(self) -> None:
        """Refuse other files; they are only opened for reading."""
        # Not by reading the first bytes: closing a plain file would drop the locks that SQLite
        # holds on it for other threads of this process, and two processes could write at once.
        try:
            with closing(
                sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)
            ) as connection:
                connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT * 1000:.0f}")
                (application,) = connection.execute("PRAGMA application_id").fetchone()
                (version,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, or not to be read
                raise
            application = version = None
        if application != APPLICATION_ID:
            raise StoreError(
                f"{self.path} is not a store of results; it was left as it is. Name a folder or a "
                "file that is not there yet."
            )
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was written in version {version} of the format, this is version "
                f"{SCHEMA_VERSION}; use the version of splmll that wrote it, or another file."
            )

    def _array_file(self, key: str) -> Path:
        return self.folder / f"{key}.npz"

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        # Connections are opened for one task each: they may not be shared by threads or processes.
        with closing(
            sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, isolation_level=None)
        ) as connection:
            # Safe with a write-ahead log: a power cut can only undo the last units.
            connection.execute("PRAGMA synchronous = NORMAL")
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as connection:
            connection.execute("BEGIN IMMEDIATE")  # what is read here cannot change any more
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
