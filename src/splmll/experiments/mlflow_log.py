"""Results of an experiment as runs of MLflow, for those who compare their experiments there."""

from __future__ import annotations

from typing import Any

import pandas as pd

from splmll.extras import required
from splmll.metrics import MEASURES

_PARAMETERS = (
    "data",
    "method",
    "protocol",
    "repetition",
    "fold",
    "seed",
    "preprocessing",
    "threshold",
    "search",
    "settings",
    "settings_hash",
)
_NUMBERS = (
    "search_seconds",
    "fit_seconds",
    "predict_seconds",
    "peak_memory_mb",
    "n_train",
    "n_test",
    "n_labels",
    "n_features",
)
_TAGS = ("status", "error", "versions", "host", "protocol_description", "search_description")
# Tags that tell which unit, and which attempt at it, a run is.
_IDENTITY = {"splmll.key": "key", "splmll.finished": "finished"}


def log_to_mlflow(
    results: pd.DataFrame, experiment_name: str, tracking_uri: str | None = None
) -> int:
    """Write one MLflow run for every row of a table of results.

    A unit that is there already, with the same time of ending, is not written again.

    Parameters
    ----------
    results : DataFrame
        What :meth:`splmll.experiments.runner.Experiment.run` or
        :meth:`splmll.experiments.store.Store.results` returned.
    experiment_name : str
        Name of the MLflow experiment; it is made where there is none.
    tracking_uri : str, optional
        Where MLflow keeps it, such as ``"sqlite:///mlflow.db"`` or the address of a server; by
        default what MLflow is set to.

    Returns
    -------
    n_written : int
        Number of new runs.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.mlflow_log import log_to_mlflow
    >>> results = pd.read_csv("results.csv")  # doctest: +SKIP
    >>> log_to_mlflow(results, "comparison", "sqlite:///mlflow.db")  # doctest: +SKIP
    12
    """
    mlflow = required("mlflow", "mlflow", "Logging to MLflow")
    entities = required("mlflow.entities", "mlflow", "Logging to MLflow")
    client = mlflow.MlflowClient(tracking_uri=tracking_uri)
    experiment = client.get_experiment_by_name(experiment_name)
    number = (
        client.create_experiment(experiment_name)
        if experiment is None
        else experiment.experiment_id
    )
    logged = _logged_units(client, number)
    n_written = 0
    for row in results.to_dict("records"):
        if (row["key"], row["finished"]) in logged:
            continue
        start, end = (_milliseconds(row[name]) for name in ("started", "finished"))
        run = client.create_run(
            number,
            start_time=start,
            run_name=f"{row['data']} {row['method']} {row['repetition']}.{row['fold']}",
            tags={
                **{f"splmll.{name}": str(row[name]) for name in _TAGS if _is_known(row[name])},
                **{tag: row[name] for tag, name in _IDENTITY.items()},
            },
        )
        client.log_batch(
            run.info.run_id,
            metrics=[
                entities.Metric(name, float(row[name]), end, 0)
                for name in (*MEASURES, *_NUMBERS)
                if _is_known(row[name])
            ],
            params=[entities.Param(name, str(row[name])) for name in _PARAMETERS],
        )
        done = row["status"] == "done"
        client.set_terminated(run.info.run_id, "FINISHED" if done else "FAILED", end)
        n_written += 1
    return n_written


def _logged_units(client: Any, experiment: str) -> set[tuple[str, ...]]:
    found = set()
    token = None
    while True:
        page = client.search_runs([experiment], page_token=token)
        for run in page:
            if all(tag in run.data.tags for tag in _IDENTITY):
                found.add(tuple(run.data.tags[tag] for tag in _IDENTITY))
        token = page.token
        if not token:
            return found


def _milliseconds(time: str) -> int:
    return int(pd.Timestamp(time).timestamp() * 1000)


def _is_known(value: Any) -> bool:
    return not pd.isna(value)
