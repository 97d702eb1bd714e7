"""What the report tells of runs that gave no result: the error, and the traceback on request."""

from __future__ import annotations

import html
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from splmll.experiments.tables import NOT_DONE


@dataclass(frozen=True)
class Failure:
    """The runs of one method on one data set that gave no result.

    Parameters
    ----------
    anchor : str
        Name of the place on the page.
    runs : DataFrame
        The runs.
    """

    anchor: str
    runs: pd.DataFrame

    @property
    def words(self) -> str:
        """What happened, each kind once."""
        lines = dict.fromkeys(_error_words(run) for run in self.runs.to_dict("records"))
        return "; ".join(lines)

    def to_html(self, number: int) -> str:
        """Return the runs with their error, and the traceback of the first that has one."""
        first = self.runs.iloc[0]
        runs = ", ".join(
            f"repetition {run['repetition']} fold {run['fold']} (seed {run['seed']})"
            for run in self.runs.to_dict("records")
        )
        title = f"{first['method']} on {first['data']}: {self.words}"
        tracebacks = list(self.runs["traceback"].dropna()) if "traceback" in self.runs else []
        trace = f"<pre>{html.escape(str(tracebacks[0]))}</pre>" if tracebacks else ""
        return (
            f'<details class="more" id="{self.anchor}"><summary>{html.escape(title)}</summary>'
            f'<p class="note">{html.escape(runs)}</p>{trace}</details>'
        )


def failures_of(failed: pd.DataFrame, anchor: str) -> dict[tuple[str, str], Failure]:
    """Return the failures by data set and method.

    Parameters
    ----------
    failed : DataFrame
        The runs that gave no result.
    anchor : str
        Beginning of the names of their places, unique on the page.

    Returns
    -------
    failures : dict of (str, str) to Failure

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.report.failures import failures_of
    >>> run = {"data": "yeast", "method": "LP", "repetition": 0, "fold": 0, "seed": 0,
    ...        "status": "timeout", "error": "more than 60 s"}
    >>> failures_of(pd.DataFrame([run]), "first")["yeast", "LP"].words
    'ran out of time (more than 60 s)'
    """
    by_method = failed.groupby(["data", "method"], sort=False)
    return {
        (str(data), str(method)): Failure(f"{anchor}-failure{position}", runs)
        for position, ((data, method), runs) in enumerate(by_method)
    }


def _error_words(run: dict[Hashable, Any]) -> str:
    error = run.get("error")
    words = NOT_DONE[run["status"]]
    return words if pd.isna(error) or not error else f"{words} ({error})"
