"""Compare three methods on your own table: the same rows and columns, only the method differs.

Each method gets the pipeline that fits the columns, and is measured on three folds. Every unit of
work goes into a store, so that a run that was stopped goes on where it was.

It prints::

    method   Micro-F1 ↑    Macro-F1 ↑    Ranking loss ↓
    -------  ------------  ------------  --------------
    BR       0.942±0.005+  0.943±0.004+  0.003±0.001*
    ML-kNN   0.822±0.014   0.814±0.023   0.029±0.002
    SPL-MLL  0.972±0.003*  0.974±0.003*  0.004±0.001+

    tickets. Protocol: cross-validation. Mean ± standard deviation over 1 repetition of 3
    folds, seed 0. Preprocessing: none. Threshold: each method's own rule. Hyper-parameter
    search: none. ↑ larger is better, ↓ smaller is better. * best, + second best.

    seconds for a fit: BR 0.71, ML-kNN 0.06, SPL-MLL 4.15
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
print(comparison_table(results, ["micro_f1", "macro_f1", "ranking_loss"]).to_text())
seconds = results.groupby("method")["fit_seconds"].mean()
print("\nseconds for a fit:", ", ".join(f"{name} {value:.2f}" for name, value in seconds.items()))
