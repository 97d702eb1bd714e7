"""
Compare methods on your own table
=================================

The rows and columns are the same; only the method differs. Each method gets the pipeline that
fits the columns and is measured on three folds. Every finished unit of work goes into a store, so
an interrupted run continues where it stopped.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from tickets import write_tickets

from splmll.experiments.protocol import CrossValidation
from splmll.experiments.runner import Experiment
from splmll.experiments.tables import comparison_table
from splmll.tagging import read_examples
from splmll.tagging.pipeline import build_pipeline

METHODS = ["SPL-MLL", "BR", "ML-kNN"]

with TemporaryDirectory() as folder:
    data, _ = read_examples(write_tickets(Path(folder) / "tickets.csv"), ["tags"], ignore=["id"])
    pipelines = {name: build_pipeline(data, name) for name in METHODS}
    experiment = Experiment(data, pipelines, CrossValidation(n_folds=3))
    results = experiment.run(Path(folder) / "store", isolate=False)
by_method = results.groupby("method")[["micro_f1", "macro_f1"]]
by_method.mean().plot.barh(xerr=by_method.std(), xlim=(0, 1), ylabel="")

# %%
# The table marks the best and second best, and names its protocol, seeds and threshold rule.

print(comparison_table(results, ["micro_f1", "macro_f1", "ranking_loss"]).to_text())
seconds = results.groupby("method")["fit_seconds"].mean()
print("\nseconds per fit:", ", ".join(f"{name} {value:.2f}" for name, value in seconds.items()))
