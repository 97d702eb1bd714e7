"""What is fuzzed: every reader and the request parser, each as a function of some bytes.

A target ends quietly whatever it is given, or something is wrong: a reader returns a data set or
raises DatasetError, and the service answers with a status below 500.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from splmll.datasets import Dataset, read_dataset
from splmll.datasets.chunks import read_chunks
from splmll.exceptions import DatasetError
from splmll.serving import create_app
from splmll.tagging import Tagger, read_examples

BODIES = ("application/json", "text/csv", "multipart/form-data; boundary=b")
PATHS = ("/predict", "/explain", "/recover")


def _file(content: bytes, suffix: str, use: Callable[[Path], Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"fuzzed{suffix}"
        path.write_bytes(content)
        with suppress(DatasetError):
            use(path)


def _reader(suffix: str, options: dict[str, Any], content: bytes) -> None:
    def read(path: Path) -> None:
        data = read_dataset(path, **options)
        assert isinstance(data, Dataset)
        assert data.X.shape[0] == data.Y.shape[0]

    _file(content, suffix, read)


def _lear(content: bytes) -> None:
    """The same bytes as features and as labels."""
    _file(content, ".hvecs", lambda path: read_dataset(path, annotations=path))


def _chunks(content: bytes) -> None:
    _file(content, ".csv", lambda path: [chunk.n_rows for chunk in read_chunks(path, 3)])


def _examples(content: bytes) -> None:
    _file(content, ".csv", lambda path: read_examples(path, ["tags"]))


@cache
def _app() -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    kinds = {"x": "numeric", "y": "numeric"}
    data = Dataset(X, (X > 0).astype(int), ["x", "y"], ["right", "up"], column_kinds=kinds)
    with tempfile.TemporaryDirectory() as folder:
        Tagger.fit(data, "SPL-MLL (linear)").save(f"{folder}/model")
        return create_app({"m": f"{folder}/model"})


def _request(content: bytes) -> None:
    """The first byte chooses what is asked and how; up to a line end a query, then the body."""
    choice = content[0] if content else 0
    query, _, body = content[1:].partition(b"\n")

    async def ask() -> int:
        transport = httpx.ASGITransport(_app())
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            response = await client.post(
                PATHS[choice % 3],
                params=query.decode("latin-1") if choice & 128 else None,
                content=body,
                headers={
                    "Content-Type": BODIES[choice // 3 % 3],
                    "Accept": "text/csv" if choice & 64 else "*/*",
                },
            )
            return response.status_code

    status = asyncio.run(ask())
    assert status < 500, status


TARGETS: dict[str, Callable[[bytes], None]] = {
    "csv": partial(_reader, ".csv", {"label_prefix": "is_"}),
    "tags": partial(_reader, ".csv", {"label_column": "tags"}),
    "parquet": partial(_reader, ".parquet", {"label_prefix": "is_"}),
    "arff": partial(_reader, ".arff", {}),
    "libsvm": partial(_reader, ".svm", {}),
    "extreme": partial(_reader, ".txt", {"format": "extreme"}),
    "mat": partial(_reader, ".mat", {}),
    "hvecs": _lear,
    "packed": partial(_reader, ".csv", {"label_prefix": "is_"}),
    "chunks": _chunks,
    "examples": _examples,
    "request": _request,
}
