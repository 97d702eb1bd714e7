"""Coverage-guided fuzzing of targets, by hand: python tests/fuzz/coverage_guided.py 600 csv mat

Needs atheris (pip install "splmll[fuzz]"). Each target runs for so many seconds in a process of its
own; where that finds something, another takes over. What is found is written to the folder
``found`` beside the corpus; put a small copy of it into ``tests/fuzz/corpus/TARGET``, where
``test_corpus.py`` runs it.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import savemat

HERE = Path(__file__).parent
INSTRUMENTED = [
    *("splmll.datasets", "splmll.serving", "splmll.tagging"),
    *("splmll.persistence", "splmll.annotation"),
]
LONGEST = {"model": 32768, "model_zip": 16384}
LONGEST_OTHERS = 4096
MORE_MEMORY = 2 * 2**30  # bytes of address space beyond what a process begins with
MOST_FINDINGS = 8  # after so many a target needs a person
# Every input becomes a file: on a disk, writing it takes longer than reading it.
MEMORY_FILES = Path("/dev/shm")


def seeds(target: str) -> list[bytes]:
    """Small files that are right, for the fuzzer to begin with."""
    from targets import PAUSE, model_seeds

    table = pd.DataFrame({"x": [1.5, 2.0], "t": ["a b c", "d"], "is_a": [1, 0], "is_b": [0, 1]})
    csv = table.to_csv(index=False).encode()
    if target == "parquet":
        packings = ("snappy", "none", "gzip", "zstd")
        return [table.to_parquet(compression=None if p == "none" else p) for p in packings]
    if target == "mat":
        mats = [io.BytesIO() for _ in range(3)]
        X, Y = np.eye(2), np.array([[1, 0], [0, 1]])
        savemat(mats[0], {"X": X, "Y": Y})
        savemat(mats[1], {"X": X, "Y": Y}, do_compression=True)
        savemat(mats[2], {"X": sparse.csc_array(X), "Y": Y.astype(bool)})
        return [each.getvalue() for each in mats]
    if target == "model":
        return model_seeds()
    if target == "model_zip":
        from splmll.methods import MLkNN
        from splmll.persistence import save

        with tempfile.TemporaryDirectory() as folder:
            save(MLkNN(n_neighbors=7), f"{folder}/m.zip")
            with zipfile.ZipFile(f"{folder}/m.zip") as archive:
                assert archive.namelist()
            return [Path(f"{folder}/m.zip").read_bytes()]
    arff = (
        b"@relation 't: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n"
        b"@data\n1,0,2.5\n{0 1, 2 3}\n"
    )
    words = (
        b"@relation 't: -C -1'\n@attribute s string\n@attribute c {'a b',c}\n@attribute y {0,1}\n"
    )
    hvecs = np.array([2, 1, 0], "<u2").tobytes()
    json = b'{"rows": [{"x": 1, "y": -2.5}], "top": 1}'
    form = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        b"x,y\n1,2\n\r\n--b--\r\n"
    )
    head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    task = (
        b'[{"data": {"x": 1, "y": 2}, "annotations": [{"id": 3, "completed_by": {"email": "a@b"},'
        b' "result": [{"type": "choices", "value": {"choices": ["up"]}}]}]}]'
    )
    return {
        "csv": [csv, csv.replace(b",", b";"), b"\xef\xbb\xbf" + csv],
        "tags": [b"x,tags\n1,a;b\n2,a\n", b'x,tags\n1,"[""a""]"\n'],
        "arff": [arff, words + b"@data\n'it''s',c,1\n?,'a b',0\n"],
        "libsvm": [b"0,1 1:2.5 3:1\n1 2:1\n", b'# features: ["a"]\n0 1:1 # x\n'],
        "extreme": [b"2 3 2\n0,1 0:2.5\n1 2:1\n", b"1 3 2\n 0:2.5\n"],
        "hvecs": [hvecs, hvecs * 2, np.array([2, 1, 0, 2, 0, 1], "<u2").tobytes()],
        "packed": [gzip.compress(csv)],
        "chunks": [csv, b'a,b\n1,"x\ny"\n'],
        "examples": [b"x,body,tags\n1,the pump leaks,a;b\n2,a new door,b\n"],
        "xml": [
            b'<?xml version="1.0"?>\n<labels><label name="a"><label name="b"/></label></labels>'
        ],
        "label_studio": [task],
        "request": [b"\x00\n" + json, b"\x03\nx,y\n1,2\n", b"\x86top=1&scores=true\n" + form],
        "connection": [
            b"GET /labels HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2,
            head + b"Content-Length: %d\r\n\r\n" % len(json) + PAUSE + json,
            head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(json), json),
        ],
    }[target]


def fuzz(target: str, seconds: int, corpus: Path) -> None:
    """Fuzz a target in this process, which ends with it."""
    # Imported here: where atheris is missing, nothing else of this file is to fail.
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        from targets import TARGETS

    if not any(corpus.iterdir()):
        for number, seed in enumerate(seeds(target)):
            (corpus / str(number)).write_bytes(seed)

    def once(content: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TARGETS[target](content)

    once(next(corpus.iterdir()).read_bytes())  # everything that is imported on the way is there
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MORE_MEMORY,) * 2)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST.get(target, LONGEST_OTHERS)}",
        "-timeout=60",
        "-rss_limit_mb=4096",
        f"-artifact_prefix={HERE / 'found' / target}/",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], once)
    atheris.Fuzz()


def watch(target: str, seconds: int) -> None:
    """Fuzz a target in one process after the other, and say how far that came."""
    (HERE / "found" / target).mkdir(parents=True, exist_ok=True)
    began, runs, findings, before = time.monotonic(), 0, 0, _processor_seconds()
    with tempfile.TemporaryDirectory() as corpus, tempfile.TemporaryFile("w+") as log:
        while (left := seconds - round(time.monotonic() - began)) > 0 and findings < MOST_FINDINGS:
            log.seek(0)
            log.truncate()
            command = [sys.executable, __file__, str(left), target, "--corpus", corpus]
            done = subprocess.run(command, stdout=log, stderr=log)
            log.seek(0)
            said = log.read()
            runs += max([0, *(int(number) for number in re.findall(r"^#(\d+)\t", said, re.M))])
            if done.returncode:
                findings += 1
                print(said[-3000:], flush=True)
        reached = re.findall(r"cov: \d+ ft: \d+", said) if seconds > 0 else []
    print(
        f"{target}: {runs} inputs in {time.monotonic() - began:.0f} s "
        f"({_processor_seconds() - before:.0f} s of the processor), {findings} findings, "
        f"{reached[-1] if reached else 'nothing reached'}",
        flush=True,
    )


def _processor_seconds() -> float:
    """Return what the processes that ended so far have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=int, help="for each target")
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--corpus", type=Path, help="of the one target that is fuzzed right here")
    given = parser.parse_args()
    if MEMORY_FILES.is_dir():
        os.environ.setdefault("TMPDIR", str(MEMORY_FILES))
    for target in given.targets:
        if given.corpus is None:
            watch(target, given.seconds)
        else:
            fuzz(target, given.seconds, given.corpus)


if __name__ == "__main__":
    main()
