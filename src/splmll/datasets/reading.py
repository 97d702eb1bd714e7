"""One door for all file formats.

The suffix of a file, or else its first bytes, say which reader it needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from splmll.datasets.arff import read_arff
from splmll.datasets.checks import existing_file
from splmll.datasets.compressed import open_unpacked, unpacked_name
from splmll.datasets.dataset import Dataset
from splmll.datasets.extreme import read_extreme
from splmll.datasets.hvecs import read_lear
from splmll.datasets.libsvm import read_libsvm
from splmll.datasets.mat import read_mat
from splmll.datasets.tabular import read_table
from splmll.exceptions import DatasetError

_SNIFFED = 4096  # bytes that are looked at

_READERS: dict[str, Callable[..., Dataset]] = {
    "arff": read_arff,
    "csv": read_table,
    "tsv": read_table,
    "parquet": read_table,
    "libsvm": read_libsvm,
    "extreme": read_extreme,
    "mat": read_mat,
    "hvecs": read_lear,
}
_SUFFIXES = {
    ".arff": "arff",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".mat": "mat",
    ".hvecs": "hvecs",
}


# Binary formats, which pack their content themselves.
_UNPACKED_ONLY = ("parquet", "mat", "hvecs")


def read_dataset(path: str | Path, format: str | None = None, **options: Any) -> Dataset:
    r"""Read a data set from a file of any known format.

    Parameters
    ----------
    path : path-like
        The file; for LEAR's `.hvecs` the one with the features. Text formats may be packed with
        gzip, bzip2 or xz (`.gz`, `.bz2`, `.xz`).
    format : str, optional
        "arff", "csv", "tsv", "parquet", "libsvm", "extreme" (the header line has three whole
        numbers), "mat" or "hvecs"; by default the suffix decides, and the content where it cannot.
    **options
        Options of the reader: `read_arff`, `read_table`, `read_libsvm`, `read_extreme`,
        `read_mat` or `read_lear`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets import read_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "toy.csv"
    ...     _ = file.write_text("length,is_red,is_blue\n1.5,1,0\n2.5,0,1\n")
    ...     read_dataset(file, label_prefix="is_").label_names
    ['red', 'blue']
    """
    place = existing_file(path)
    if format is None:
        format = format_of(place)
    if format not in _READERS:
        raise DatasetError(
            f"there is no format {format!r}; the formats are {', '.join(_READERS)}", path=path
        )
    if format == "hvecs" and "annotations" not in options:
        raise DatasetError(
            "an .hvecs file holds features or labels, not both; give the file with the labels as "
            "annotations='..._annot.hvecs'",
            path=path,
        )
    return _READERS[format](path, **options)


def format_of(path: Path) -> str:
    """Return the format that the name of a file tells."""
    plain = unpacked_name(path)
    found = _SUFFIXES.get(plain.suffix.lower()) or _sniff(path)
    if found is None:
        raise DatasetError(
            "neither the name nor the first lines of the file show its format; pass format= one "
            f"of {', '.join(_READERS)}",
            path=path,
        )
    if found in _UNPACKED_ONLY and plain != path:
        raise DatasetError(f"{found} files cannot be read compressed; decompress it", path=path)
    return found


def _sniff(path: Path) -> str | None:
    """Return the format that the first bytes of a file show, if they do."""
    with open_unpacked(path) as file:
        start = file.read(_SNIFFED)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"MATLAB"):
        return "mat"
    lines = [line.strip() for line in start.decode("latin-1").splitlines()]
    lines = [line for line in lines if line and line[0] not in "#%"]
    if not lines:
        return None
    if lines[0].lower().startswith("@relation"):
        return "arff"
    if re.fullmatch(r"\d+\s+\d+\s+\d+", lines[0]):
        return "extreme"
    if re.match(r"(\d[\d.,+-]*\s+)?\d+:[-+.\w]+(\s|$)", lines[0]):
        return "libsvm"
    return None
