"""What is fuzzed: every reader, model files and requests, each as a function of some bytes.

A target ends quietly whatever it is given, or something is wrong: a reader returns a data set or
raises DatasetError, a model is refused with ModelFileError or can be used, and the service answers
with a status below 500.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import signal
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import uvicorn
from uvicorn.server import ServerState

from splmll.annotation.label_studio import read_annotations
from splmll.annotation.store import AnswerStore
from splmll.annotation.table import AnnotationTable
from splmll.datasets import Dataset, read_dataset
from splmll.datasets.chunks import read_chunks
from splmll.exceptions import DatasetError
from splmll.persistence import ModelFileError, load, save
from splmll.serving import Limits, create_app
from splmll.serving.heads import bounded_protocol
from splmll.tagging import Tagger, read_examples

sys.path.append(str(Path(__file__).parent.parent / "persistence"))
import zoo

BODIES = ("application/json", "text/csv", "multipart/form-data; boundary=b")
PATHS = ("/predict", "/explain", "/recover")
ARFF = b"""@relation t
@attribute a {0,1}
@attribute b {0,1}
@attribute x numeric
@data
1,0,2.5
0,1,3
"""
PAUSE = b"\xff\xff"  # in the bytes of a connection: what follows is sent later
#: Models that are forged, small ones: what compiled code trusts, and ours.
MODELS = (
    *("OneHotEncoder", "OrdinalEncoder", "CountVectorizer", "TfidfVectorizer", "HashingVectorizer"),
    *("KBinsDiscretizer", "SimpleImputer", "DictVectorizer", "FeatureHasher"),
    *("SVC", "SVC sparse", "LinearSVC", "DecisionTreeClassifier", "KNeighborsClassifier"),
    *("IsotonicRegression", "KMeans", "SparseRandomProjection"),
    *("SPLMLL linear", "SPLMLL sparse", "SPLMLL trees", "MLkNN", "Words"),
)
USE_SECONDS = 5  # of the processor; a forged model may be slow, but not crash


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


def _label_xml(content: bytes) -> None:
    """Bytes as the XML file that names the labels of an ARFF file."""

    def read(path: Path) -> None:
        path.with_suffix(".arff").write_bytes(ARFF)
        read_dataset(path.with_suffix(".arff"), labels=path)

    _file(content, ".xml", read)


# Annotations -------------------------------------------------------------------------------------


@cache
def _table() -> AnnotationTable:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text("x,y\n1,2\n3,4\n")
        return AnnotationTable.read(path, _tagger())


def _label_studio(content: bytes) -> None:
    def read(path: Path) -> None:
        with AnswerStore(path.with_suffix(".sqlite")) as store:
            store.open_table(_table().digests)
            read_annotations(path, _table(), store, _tagger().label_names)

    _file(content, ".json", read)


# Models ------------------------------------------------------------------------------------------


@cache
def _models() -> list[tuple[str, bytes, Any]]:
    """For each model: its class, objects and arrays of its file, and rows to use it on."""
    found = []
    for name in MODELS:
        model, rows = zoo.make(name)
        with tempfile.TemporaryDirectory() as folder:
            save(model, f"{folder}/m")
            objects, arrays = (
                next(Path(folder, "m").glob(f"{s}-*")) for s in ("objects", "arrays")
            )
            content = objects.read_bytes() + b"\n" + arrays.read_bytes()
        found.append((type(model).__name__, content, rows))
    return found


def model_seeds() -> list[bytes]:
    """Model files as the target ``model`` takes them."""
    return [content for _, content, _ in _models()]


def _sealed(content: bytes) -> bytes:
    """Return a zip file with correct checksums: objects up to a line end, then arrays."""
    objects, _, arrays = content.partition(b"\n")
    # The manifest is to fit whatever the objects say.
    found = re.search(rb'"class": ?"([^"\\]{1,200})"', objects)
    members = {}
    for start, suffix, data in (("objects", "json", objects), ("arrays", "safetensors", arrays)):
        members[f"{start}-{sha256(data).hexdigest()[:16]}.{suffix}"] = data
    manifest: dict[str, Any] = {
        "format": "splmll model",
        "version": 2,
        "model": found[1].decode("latin-1") if found else None,
        "libraries": {},
        "classes": [],
        "members": {
            name: {"bytes": len(data), "sha256": sha256(data).hexdigest()}
            for name, data in members.items()
        },
    }
    manifest["sha256"] = sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, data in {"manifest.json": json.dumps(manifest).encode(), **members}.items():
            archive.writestr(name, data)
    return written.getvalue()


class _Slow(BaseException):
    """Not an Exception: nothing on the way may take it for one of its own."""


def _too_slow(*_: Any) -> None:
    raise _Slow


def _model(content: bytes) -> None:
    """Load a model that was forged, and use it in every way."""
    rows = {name: rows for name, _, rows in _models()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forged.zip"
        path.write_bytes(_sealed(content))
        try:
            model = load(path)
        except ModelFileError:
            return
    before = signal.signal(signal.SIGVTALRM, _too_slow)
    signal.setitimer(signal.ITIMER_VIRTUAL, USE_SECONDS)
    try:
        zoo.use(model, rows.get(type(model).__name__, zoo.X))
    except _Slow:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _model_zip(content: bytes) -> None:
    """Bytes as a whole model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.zip"
        path.write_bytes(content)
        with suppress(ModelFileError):
            load(path)


# The service -------------------------------------------------------------------------------------


@cache
def _tagger() -> Tagger:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "y"])
    kinds = {"x": "numeric", "y": "numeric"}
    Y = (X.to_numpy() > 0).astype(int)
    data = Dataset(X, Y, ["x", "y"], ["right", "up"], column_kinds=kinds)
    return Tagger.fit(data, "SPL-MLL (linear)")


@cache
def _app() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        _tagger().save(f"{folder}/model")
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


class _Wire(asyncio.Transport):
    """A connection that nobody is at the other end of; what is answered is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.answered += bytes(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def set_protocol(self, protocol: Any) -> None: ...


def _connection(content: bytes) -> None:
    """Bytes as they come over a connection, in pieces; then the client is gone."""
    config = uvicorn.Config(_app(), ws="none", lifespan="off", log_config=None)
    config.load()

    async def talk() -> bytes:
        state, wire = ServerState(), _Wire()
        protocol: Any = bounded_protocol(Limits())
        connection = protocol(config=config, server_state=state, app_state={})
        connection.connection_made(wire)
        for piece in content.split(PAUSE):
            if not wire.closed:
                connection.data_received(piece)
                await asyncio.sleep(0)
        connection.connection_lost(None)
        if state.tasks:
            _, open_ = await asyncio.wait(state.tasks, timeout=10)
            assert not open_, "a request does not end with its connection"
        return wire.answered

    answered = asyncio.run(talk())
    assert not re.search(rb"HTTP/1.1 5\d\d", answered), answered


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
    "xml": _label_xml,
    "label_studio": _label_studio,
    "model": _model,
    "model_zip": _model_zip,
    "request": _request,
    "connection": _connection,
}
