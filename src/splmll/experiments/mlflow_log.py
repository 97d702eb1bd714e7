"""Results of an experiment as runs of MLflow, for those who compare their experiments there."""

from __future__ import annotations

from typing import Any

import pandas as pd

from splmll.extras import required
from splmll.metrics import MEASURES

# Tags that tell which unit, and which attempt at it, a run is; and what became of it.
_IDENTITY = ["key", "finished"]
_TAGS = ["status", "error", "versions", "host", "protocol_description", "search_description"]
_PARAMETERS = ["data", "method", "protocol", "repetition", "fold", "seed", "preprocessing"]
_PARAMETERS += ["threshold", "search", "settings", "settings_hash"]


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
    number = experiment.experiment_id if experiment else client.create_experiment(experiment_name)
    logged = _logged_units(client, number)
    new = [row for row in results.to_dict("records") if (row["key"], row["finished"]) not in logged]
    for row in new:
        known = {str(name): value for name, value in row.items() if not pd.isna(value)}
        start, end = (int(1000 * pd.Timestamp(row[t]).timestamp()) for t in ("started", "finished"))
        run = client.create_run(
            number,
            start_time=start,
            run_name=f"{row['data']} {row['method']} {row['repetition']}.{row['fold']}",
            tags={
                f"splmll.{name}": str(known[name]) for name in [*_IDENTITY, *_TAGS] if name in known
            },
        )
        client.log_batch(
            run.info.run_id,
            metrics=[
                entities.Metric(name, float(value), end, 0)
                for name, value in known.items()
                if name in MEASURES or name.startswith("n_") or name.endswith(("_seconds", "_mb"))
            ],
            params=[entities.Param(name, str(row[name])) for name in _PARAMETERS],
        )
        status = "FINISHED" if row["status"] == "done" else "FAILED"
        client.set_terminated(run.info.run_id, status, end)
    return len(new)


def _logged_units(client: Any, experiment: str) -> set[tuple[str | None, ...]]:
    found = set()
    token = None
    while True:
        page = client.search_runs([experiment], page_token=token)
        found |= {tuple(run.data.tags.get(f"splmll.{t}") for t in _IDENTITY) for run in page}
        token = page.token
        if not token:
            return found
