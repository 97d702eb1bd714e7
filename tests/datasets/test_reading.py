"""One door for all formats: the right reader by suffix, by content, or by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from scipy.io import savemat

from splmll.datasets import Dataset, DatasetError, read_dataset
from splmll.datasets.checks import existing_file

# The same two rows in every format.
X = np.array([[1.0, 0.0], [0.0, 2.0]])
Y = np.array([[1, 1], [0, 1]])
ARFF = (
    "@relation 'toy: -C 2'\n@attribute l0 {0,1}\n@attribute l1 {0,1}\n@attribute a numeric\n"
    "@attribute b numeric\n@data\n1,1,1,0\n0,1,0,2\n"
)
CSV = "a,b,l0,l1\n1,0,1,1\n0,2,0,1\n"
LIBSVM = "0,1 1:1\n1 2:2\n"
EXTREME = "2 2 2\n0,1 0:1\n1 1:2\n"


def save(folder: Path, name: str) -> tuple[Path, dict[str, object]]:
    file = folder / name
    kind = name.split(".")[1]
    prefix: dict[str, object] = {"label_prefix": "l"}
    if kind == "parquet":
        table = pa.table({"a": X[:, 0], "b": X[:, 1], "l0": Y[:, 0], "l1": Y[:, 1]})
        pq.write_table(table, file)
        return file, prefix
    if kind == "mat":
        savemat(file, {"X": X, "Y": Y})
        return file, {"features": "X", "labels": "Y"}
    if kind == "hvecs":
        other = folder / "annot.hvecs"
        for target, matrix in ((file, X), (other, Y)):
            target.write_bytes(np.insert(matrix, 0, 2, axis=1).astype("<u2").tobytes())
        return file, {"annotations": other}
    text = {
        "arff": ARFF,
        "csv": CSV,
        "tsv": CSV.replace(",", "\t"),
        "svm": LIBSVM,
        "libsvm": LIBSVM,
        "extreme": EXTREME,
    }[kind]
    file.write_text(text)
    return file, prefix if kind in ("csv", "tsv") else {}


def assert_same(data: Dataset) -> None:
    dense = [m.toarray() if sparse.issparse(m) else m for m in (data.X, data.Y)]
    np.testing.assert_array_equal(dense[0], X)
    np.testing.assert_array_equal(dense[1], Y)


@pytest.mark.parametrize("kind", ["arff", "csv", "tsv", "parquet", "svm", "libsvm", "mat", "hvecs"])
def test_by_suffix(tmp_path: Path, kind: str) -> None:
    file, options = save(tmp_path, f"toy.{kind}")
    assert_same(read_dataset(file, **options))
    assert_same(read_dataset(file.rename(tmp_path / f"toy.{kind.upper()}"), **options))


@pytest.mark.parametrize("kind", ["arff", "parquet", "libsvm", "extreme", "mat"])
def test_by_content(tmp_path: Path, kind: str) -> None:
    file, options = save(tmp_path, f"toy.{kind}")
    assert_same(read_dataset(file.rename(tmp_path / "toy.txt"), **options))


@pytest.mark.parametrize("kind", ["arff", "csv", "tsv", "parquet", "libsvm", "extreme", "mat"])
def test_by_name(tmp_path: Path, kind: str) -> None:
    file, options = save(tmp_path, f"toy.{kind}")
    if kind == "tsv":
        options = {**options, "delimiter": "\t"}
    assert_same(read_dataset(file.rename(tmp_path / "toy"), format=kind, **options))


def test_unknown(tmp_path: Path) -> None:
    file = tmp_path / "poem.txt"
    file.write_text("shall I compare thee\n")
    with pytest.raises(DatasetError, match=r"poem\.txt: .*arff, csv, tsv, parquet, libsvm"):
        read_dataset(file)
    with pytest.raises(DatasetError, match="no format 'xls'; the formats are arff"):
        read_dataset(file, format="xls")
    file.write_text("# nothing but a comment\n")
    with pytest.raises(DatasetError, match="pass format="):
        read_dataset(file)


def test_missing_folder_empty(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such file"):
        read_dataset(tmp_path / "none.csv", label_prefix="l")
    with pytest.raises(DatasetError, match="folder"):
        read_dataset(tmp_path)
    empty = tmp_path / "empty.csv"
    empty.touch()
    with pytest.raises(DatasetError, match="empty"):
        read_dataset(empty, label_prefix="l")


def test_hvecs_need_annotations(tmp_path: Path) -> None:
    file, _ = save(tmp_path, "x.hvecs")
    with pytest.raises(DatasetError, match="annotations="):
        read_dataset(file)


def test_a_file_that_may_not_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, _ = save(tmp_path, "toy.arff")

    def forbidden(self: Path, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", forbidden)
    with pytest.raises(DatasetError, match=r"cannot be opened \(Permission denied\); check"):
        existing_file(file)
