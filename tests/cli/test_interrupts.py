"""Ctrl-C in the middle of a command, and a reader that goes away: what is left on the disk."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import numpy as np
import pandas as pd
import pytest

from splmll.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and terminals of POSIX")
INTERRUPTED = 130
PATIENCE = 120  # seconds until a test gives up


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A table whose fit takes long, one whose prediction does, and a model."""
    folder = tmp_path_factory.mktemp("interrupts")
    X = np.random.default_rng(0).normal(size=(3000, 4))
    table = pd.DataFrame(X, columns=list("abcd")).assign(
        is_p=(X[:, 0] > 0).astype(int), is_q=(X[:, 1] > X[:, 2]).astype(int)
    )
    table.to_csv(folder / "train.csv", index=False)
    (folder / "long.csv").write_text("a,b,c,d\n" + "1.5,-2,0.25,3\n" * 1_500_000)
    with pytest.raises(SystemExit) as end:
        main(f"fit {folder}/train.csv --labels is_* -m BR --out {folder}/model".split())
    assert not end.value.code
    return folder


def start(*arguments: object, **options: object) -> subprocess.Popen:
    command = [sys.executable, "-m", "splmll", *map(str, arguments)]
    # In a session of its own, so that nothing but this process gets the signal. A suite that runs
    # in the background ignores it, and its children would inherit that.
    return subprocess.Popen(
        command,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


@contextlib.contextmanager
def ended(process: subprocess.Popen):
    try:
        yield
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def read_until(terminal: int, words: bytes) -> bytes:
    seen = b""
    while words not in seen:
        part = os.read(terminal, 1024)
        assert part, seen
        seen += part
    return seen


def read_rest(terminal: int) -> bytes:
    seen = b""
    # Linux says EIO where the other side of a terminal is closed.
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 1024):
            seen += part
    return seen


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("earlier", [False, True], ids=["new", "over an earlier model"])
def test_fit(folder, tmp_path, earlier) -> None:
    out = tmp_path / "model"
    if earlier:
        out.mkdir()
        for file in (folder / "model").iterdir():
            (out / file.name).write_bytes(file.read_bytes())
    before = contents(tmp_path)
    # Progress is for terminals, so one is made: it tells when the fit has begun.
    terminal, side = os.openpty()
    command = ["fit", folder / "train.csv", "--labels", "is_*", "--out", out]
    process = start(
        *command, stdout=subprocess.PIPE, stderr=side, env={**os.environ, "TERM": "xterm"}
    )
    os.close(side)
    with ended(process):
        read_until(terminal, b"learns from 3,000 rows")
        process.send_signal(signal.SIGINT)
        rest = read_rest(terminal)
        assert process.wait(PATIENCE) == INTERRUPTED
    os.close(terminal)
    assert b"Stopped" in rest
    assert b"Traceback" not in rest
    assert process.stdout.read() == b""
    assert contents(tmp_path) == before
    assert sorted(tmp_path.iterdir()) == ([out] if earlier else [])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_predict(folder, tmp_path, suffix) -> None:
    out = tmp_path / f"tags{suffix}"
    out.write_text("earlier")
    command = ["predict", folder / "model", folder / "long.csv", "--scores", "--out", out]
    process = start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with ended(process):
        while not any(file.stat().st_size for file in tmp_path.glob(".tags*")):
            assert process.poll() is None, "it ended before it could be stopped"
            sleep(0.01)
        process.send_signal(signal.SIGINT)
        said, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == INTERRUPTED
    assert said == b""
    assert complaint == b"splmll: Stopped; what was finished is kept.\n"
    assert list(tmp_path.iterdir()) == [out]
    assert out.read_text() == "earlier"


@pytest.mark.slow
def test_a_reader_that_has_seen_enough(folder) -> None:
    process = start(
        "predict", folder / "model", folder / "long.csv",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with ended(process):
        assert process.stdout.readline() == b"is_p,is_q\n"
        process.stdout.close()
        complaint = process.stderr.read()
        assert process.wait(PATIENCE) == 1
    assert complaint == b""
