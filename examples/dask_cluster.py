"""
On a Dask cluster
=================

This example runs an experiment on a cluster, and fits one model on rows that are stored in
several blocks. Here the cluster is two processes on this machine. With the address of another
scheduler, such as "tcp://10.0.0.1:8786", it can be many machines, and nothing else changes. A fit
on Dask arrays never collects the rows in one place: each block is summed where it is stored.
"""

from tempfile import TemporaryDirectory

import dask
import dask.array as da
from distributed import Client, LocalCluster

from splmll import SPLMLL, load_dataset
from splmll.experiments.runner import Experiment
from splmll.metrics import micro_f1


def main() -> None:
    experiment = Experiment("yeast", ["SPL-MLL (linear)", "ML-kNN", "PLST"], repetitions=1)
    X, Y, X_test, Y_test = load_dataset("yeast").split()
    with (
        TemporaryDirectory() as folder,
        dask.config.set(temporary_directory=folder),
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR") as two,
        Client(two),
    ):
        results = experiment.run(folder, scheduler=two.scheduler_address)
        blocks = [da.from_array(part, chunks=(300, -1)) for part in (X, Y)]
        model = SPLMLL("linear", random_state=0).fit(*blocks)
    table = results.set_index("method")[["micro_f1", "ranking_loss"]]
    table.plot.barh(subplots=True, layout=(1, 2), sharex=False, ylabel="", legend=False)
    print(f"{len(results)} units: {results['status'].value_counts().to_dict()}")
    print(table.round(3))
    reached = micro_f1(Y_test, model.predict(X_test))
    print(f"one fit on {blocks[0].numblocks[0]} blocks: micro-F1 {reached:.3f}")


if __name__ == "__main__":  # workers are new processes that read this file
    main()
