"""Labels that any other estimator can be given as they come, also with more than 256 columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from splmll.datasets import Dataset, read_dataset, write_dataset
from splmll.datasets.batches import read_batches

N = 257
# Row i has nothing but label i and feature i, so a learner that mixes up columns shows it.
MATRIX = np.eye(N, dtype=np.uint8)
NAMES = [f"l{number:03d}" for number in range(N)]


def read(kind: str, folder: Path) -> tuple[object, object]:
    toy = Dataset(MATRIX.astype(float), MATRIX, [f"x{n:03d}" for n in range(N)], NAMES)
    if kind == "sparse arff":
        toy = Dataset(sparse.csr_array(toy.X), toy.Y, toy.feature_names, NAMES)
    options: dict[str, object] = {}
    if kind in ("arff", "sparse arff", "csv", "parquet", "libsvm", "batches"):
        suffix = {"sparse arff": "arff", "batches": "libsvm"}.get(kind, kind)
        file = write_dataset(toy, folder / f"toy.{suffix}", **options)
        if kind == "batches":
            (batch,) = read_batches(file)
            return batch
        if suffix in ("csv", "parquet"):
            options = {"label_prefix": "label:"}
    elif kind == "tags":
        file = folder / "toy.csv"
        rows = [f"{','.join(map(str, row))},{name}" for row, name in zip(MATRIX, NAMES)]
        file.write_text("\n".join([",".join([*toy.feature_names, "tags"]), *rows]))
        options = {"label_column": "tags"}
    elif kind == "extreme":
        file = folder / "toy.txt"
        file.write_text(f"{N} {N} {N}\n" + "".join(f"{n} {n}:1\n" for n in range(N)))
    elif kind == "mat":
        file = folder / "toy.mat"
        savemat(file, {"X": MATRIX, "Y": MATRIX})
        options = {"features": "X", "labels": "Y"}
    else:
        file = folder / "toy.hvecs"
        file.write_bytes(np.insert(MATRIX.astype("<u2"), 0, N, axis=1).tobytes())
        options = {"annotations": file}
    data = read_dataset(file, **options)
    return data.X, data.Y


@pytest.mark.parametrize(
    "kind",
    ["arff", "sparse arff", "csv", "tags", "parquet", "libsvm", "extreme", "mat", "hvecs",
     "batches"],
)  # fmt: skip
def test_peers_learn_the_right_columns(tmp_path: Path, kind: str) -> None:
    X, Y = read(kind, tmp_path)
    tree = DecisionTreeClassifier(random_state=0)
    found = OneVsRestClassifier(tree).fit(X, Y).predict(X)
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_array_equal(found, MATRIX)
    # This one takes dense labels only, whoever they come from.
    dense = Y.toarray() if sparse.issparse(Y) else Y
    np.testing.assert_array_equal(MultiOutputClassifier(tree).fit(X, dense).predict(X), MATRIX)
