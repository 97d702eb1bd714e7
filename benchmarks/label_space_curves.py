"""The five measures against the number of outputs k, for all methods that reduce the label space.

Protocol: held-out, the data set's standard split; every method with its defaults but for k
(landmarks or components), SPLMLL with a linear embedding and a budget of k landmarks. Means over
five seeds for the two methods that draw labels by chance, one seed for all others. One threshold
rule for all, which needs no labels of test rows: the cut at which test rows get as many labels on
average as training rows have.

Every result is written as soon as it is there; what the file already holds is not run again.

    python -m benchmarks.label_space_curves --out out/curves.json
    python -m benchmarks.label_space_curves --out out/curves.json --draw docs/images/label_space.png
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from benchmarks.landmark_quality import split
from splmll import SPLMLL, evaluate
from splmll.catalogue import METHODS
from splmll.metrics import MEASURES, PAPER_MEASURES

COUNTS = {"yeast": (1, 2, 3, 5, 7, 10, 14), "corel5k": (5, 10, 25, 50, 100, 175, 260)}
OURS = "SPLMLL (linear)"
FAMILY = [name for name, method in METHODS.items() if method.group == "label space"]
SEEDS = {"ML-CSSP": 5, "PBR": 5}

# Colour says which method, line says which kind: landmarks, linear components, networks.
LANDMARKS, COMPONENTS, NETWORKS = "-", "--", ":"
LOOK = {
    OURS: ("black", LANDMARKS),
    "MOPLMS": ("tab:red", LANDMARKS),
    "ML-CSSP": ("tab:orange", LANDMARKS),
    "PBR": ("tab:olive", LANDMARKS),
    "PLST": ("tab:blue", COMPONENTS),
    "CPLST": ("tab:cyan", COMPONENTS),
    "FaIE": ("tab:green", COMPONENTS),
    "LEML": ("tab:purple", COMPONENTS),
    "SLEEC": ("tab:brown", COMPONENTS),
    "Deep CPLST": ("tab:cyan", NETWORKS),
    "Deep FaIE": ("tab:green", NETWORKS),
    "C2AE": ("tab:pink", NETWORKS),
}


def make(name: str, k: int, seed: int) -> Any:
    """Return the method with k outputs."""
    if name == OURS:
        return SPLMLL("linear", n_landmarks=k, random_state=seed)
    model = METHODS[name].make()
    known = model.get_params()
    count = "n_landmarks" if "n_landmarks" in known else "n_components"
    seeds = [key for key in known if key in ("random_state", "regressor__random_state")]
    # Thresholds are set below, the same for all; a rule that is tuned would cost five more fits.
    return model.set_params(**{count: k, "threshold": 0.5}, **dict.fromkeys(seeds, seed))


def cut(scores: np.ndarray, cardinality: float) -> np.ndarray:
    """Return the labels above the one threshold that gives rows so many labels on average."""
    wanted = round(cardinality * len(scores))
    return (scores > np.sort(scores, axis=None)[-wanted - 1]).astype(np.int8)


def measure(data: str, name: str, k: int) -> dict:
    X, Y, X_test, Y_test = split(data)
    runs = []
    for seed in range(SEEDS.get(name, 1)):
        scores = make(name, k, seed).fit(X, Y).decision_function(X_test)
        runs.append(evaluate(Y_test, scores, cut(scores, Y.sum() / Y.shape[0])))
    means = {key: float(np.mean([run[key] for run in runs])) for key in PAPER_MEASURES}
    return {"data": data, "method": name, "k": k, "seeds": len(runs), **means}


def draw(rows: list[dict], target: Path) -> None:
    frame = pd.DataFrame(rows)
    figure, grid = plt.subplots(
        len(COUNTS), len(PAPER_MEASURES), figsize=(17, 7.2), layout="constrained", squeeze=False
    )
    for axes, data in zip(grid, COUNTS):
        part = frame[frame["data"] == data]
        for ax, key in zip(axes, PAPER_MEASURES):
            for name, (colour, line) in LOOK.items():
                curve = part[part["method"] == name].sort_values("k")
                width = 2.6 if name == OURS else 1.3
                order = 3 if name == OURS else 2
                ax.plot(
                    curve["k"],
                    curve[key],
                    line,
                    color=colour,
                    linewidth=width,
                    marker=".",
                    label=name,
                    zorder=order,
                )
            ax.set_xscale("log")
            ax.set_xticks(COUNTS[data], [str(k) for k in COUNTS[data]], fontsize=8)
            ax.minorticks_off()
            ax.grid(alpha=0.25)
            ax.set_title(f"{data}: {MEASURES[key].title} {MEASURES[key].arrow}", fontsize=10)
            ax.set_xlabel("landmarks or components")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    figure.savefig(target, dpi=90, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(COUNTS), choices=list(COUNTS))
    parser.add_argument("--methods", nargs="+", default=[OURS, *FAMILY], choices=[OURS, *FAMILY])
    parser.add_argument("--out", type=Path, default=Path("out/curves.json"))
    parser.add_argument("--draw", type=Path, help="draw what is there instead of measuring")
    arguments = parser.parse_args()

    rows: list[dict] = json.loads(arguments.out.read_text()) if arguments.out.exists() else []
    if arguments.draw:
        draw(rows, arguments.draw)
        return
    done = {(row["data"], row["method"], row["k"]) for row in rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    for data in arguments.data:
        for name in arguments.methods:
            for k in COUNTS[data]:
                if (data, name, k) in done:
                    continue
                row = measure(data, name, k)
                rows.append(row)
                temporary = arguments.out.with_suffix(".part")
                temporary.write_text(json.dumps(rows, indent=1))
                temporary.replace(arguments.out)
                print(
                    "  ".join(
                        f"{value:.4f}" if isinstance(value, float) else str(value)
                        for value in row.values()
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main()
