"""Which embedding for which data: the measurements behind ``embedding="auto"``.

Protocol: the training rows of the standard split, or all rows but a seeded tenth; at most
``--rows`` of them, drawn with seed 0. Measures are those out of fold of ``SPLMLL`` around each
embedding (five folds, or three with one model per label), threshold tuned for micro-F1; no test row
is looked at. Processor seconds of a fit on one thread.

    python -m benchmarks.embedding_choice --data espgame-densehue --rows 10000
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.landmark_selection import split
from benchmarks.measuring import end_with_table, one_thread
from splmll import SPLMLL
from splmll.embeddings import Blend, Kernel, KernelSVM, Linear, Network, OneVsRest, Trees

EMBEDDINGS = {
    "linear": Linear(),
    "svm": OneVsRest(),
    "network": Network(),
    "kernel": Kernel(),
    "kernel svm": KernelSVM(),
    "trees": Trees(),
    "network, kernel": Blend([Network(), Kernel()]),
    "network, kernel, trees": Blend([Network(), Kernel(), Trees()]),
    "all four": Blend([Network(), Kernel(), KernelSVM(), Trees()]),
    "svm, network": Blend([OneVsRest(), Network((256, 64), patience=4, scale="standard")]),
    "auto": "auto",
}
MEASURES = ("ranking_loss", "average_precision", "micro_f1", "macro_f1")


def measured(name: str, embedding: str, most: int) -> dict[str, Any]:
    """Fit one embedding on one data set."""
    X, Y, _, _ = split(name)
    rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:most])
    X, Y = X[rows], Y[rows]
    start = time.process_time()
    model = SPLMLL(EMBEDDINGS[embedding], random_state=0).fit(X, Y)
    seconds = time.process_time() - start
    return {
        "data": name,
        "rows": len(rows),
        "embedding": embedding,
        "landmarks": f"{len(model.landmarks_)} of {Y.shape[1]}",
        **model.measures_.loc["with landmarks", list(MEASURES)].to_dict(),
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["espgame-densehue", "iaprtc12-densehue"])
    parser.add_argument("--embeddings", nargs="+", default=list(EMBEDDINGS), choices=EMBEDDINGS)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--out", type=Path, help="write all lines as JSON")
    options = parser.parse_args()
    lines: list[dict[str, Any]] = []
    with one_thread():
        for name in options.data:
            for embedding in options.embeddings:
                lines.append(measured(name, embedding, options.rows))
                print(json.dumps(lines[-1]), flush=True)
    end_with_table(lines, options.out)


if __name__ == "__main__":
    main()
