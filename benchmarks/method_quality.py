"""The compared methods on real data, with the paper's printed numbers beside the measured ones.

Protocol: *held-out*, Mulan's standard split (espgame-densehue has none: a seeded random tenth of
the rows is the test part), or with --protocol resubstitution the training rows themselves, which
only stand beside printed numbers that were obtained so. Every method with its defaults; nothing is
tuned on test rows. Means and standard deviations over seeds; methods without randomness run once.

Every result is written as soon as it is there; what the file already holds is not run again.

    python -m benchmarks.method_quality --data emotions yeast --out out/methods.json
    python -m benchmarks.method_quality --out out/methods.json --table
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.landmark_quality import split
from splmll import evaluate
from splmll.experiments.published import published
from splmll.methods import METHODS
from splmll.metrics import MEASURES

FIVE = ("ranking_loss", "hamming_loss", "average_precision", "micro_f1", "macro_f1")
PRINTED_DATA = {"espgame-densehue": "espgame"}  # the paper's espgame has other features


def measure(name: str, data: str, seeds: int, protocol: str) -> dict:
    """Fit a method with several seeds and measure it."""
    runs, seconds = [], []
    # Also that of a network inside, but not that of a base learner, which is logistic regression.
    parameters = METHODS[name].make().get_params()
    random = [key for key in parameters if key in ("random_state", "regressor__random_state")]
    # Base learners without a seed make a method with a random_state as good as deterministic, but
    # running it again only costs time.
    for seed in range(seeds if random else 1):
        X, Y, X_test, Y_test = split(data)
        if protocol == "resubstitution":
            X_test, Y_test = X, Y
        model = METHODS[name].make(**dict.fromkeys(random, seed))
        start = time.perf_counter()
        model.fit(X, Y)
        scores, predicted = model.decision_function(X_test), model.predict(X_test)
        seconds.append(time.perf_counter() - start)
        runs.append(evaluate(Y_test, scores, predicted))
    return {
        "data": data,
        "method": name,
        "protocol": protocol,
        "seeds": len(runs),
        "seconds": float(np.mean(seconds)),
        # The most this process ever held: run one method a time to read it as the method's.
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        **{key: float(np.mean([run[key] for run in runs])) for key in FIVE},
        **{f"{key}_std": float(np.std([run[key] for run in runs])) for key in FIVE},
    }


def line(row: dict) -> str:
    cells = "  ".join(f"{row[key]:.4f}±{row[key + '_std']:.4f}" for key in FIVE)
    return (
        f"{row['data']:16s} {row['method']:10s} {row['protocol']:14s} {cells}  "
        f"{row['seeds']} seeds  {row['seconds']:.1f} s  {row['peak_gb']:.1f} GB"
    )


def table(rows: list[dict], protocol: str) -> str:
    """Markdown: measured ± over seeds, and in brackets what the paper prints."""
    printed = published().set_index(["data", "method", "measure"])["mean"]
    printed = printed[~printed.index.duplicated()]
    head = " | ".join(f"{MEASURES[key].title} {MEASURES[key].arrow}" for key in FIVE)
    lines = [f"| data | method | {head} |", "| --- | --- |" + " --- |" * len(FIVE)]
    order = {name: number for number, name in enumerate(METHODS)}
    frame = pd.DataFrame([row for row in rows if row["protocol"] == protocol])
    frame["order"] = frame["method"].map(order)
    data_order = frame["data"].drop_duplicates().tolist()
    frame["data_order"] = frame["data"].map(data_order.index)
    for row in frame.sort_values(["data_order", "order"]).to_dict("records"):
        cells = []
        for key in FIVE:
            cell = f"{row[key]:.3f}".replace("0.", ".", 1)
            if row["seeds"] > 1:
                cell += f" ± {row[key + '_std']:.3f}".replace("0.", ".", 1)
            where = (PRINTED_DATA.get(row["data"], row["data"]), row["method"], key)
            if where in printed.index:
                cell += f" ({printed[where]:.3f})".replace("0.", ".", 1)
            cells.append(cell)
        lines.append(f"| {row['data']} | {row['method']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["emotions", "scene", "yeast", "tmc2007"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--protocol", default="held-out", choices=("held-out", "resubstitution"))
    parser.add_argument("--out", type=Path, default=Path("out/methods.json"))
    parser.add_argument("--table", action="store_true", help="print what is there as Markdown")
    arguments = parser.parse_args()

    rows: list[dict] = json.loads(arguments.out.read_text()) if arguments.out.exists() else []
    done = {(row["data"], row["method"], row["protocol"]) for row in rows}
    if arguments.table:
        print(table(rows, arguments.protocol))
        return
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    for data in arguments.data:
        for name in arguments.methods:
            if (data, name, arguments.protocol) in done:
                continue
            row = measure(name, data, arguments.seeds, arguments.protocol)
            rows.append(row)
            temporary = arguments.out.with_suffix(".part")
            temporary.write_text(json.dumps(rows, indent=1))
            temporary.replace(arguments.out)
            print(line(row), flush=True)


if __name__ == "__main__":
    main()
