"""Coverage-guided fuzzing of one target, by hand: python tests/fuzz/coverage_guided.py csv 600

Needs atheris (pip install atheris). What it finds is written to the folder ``found`` beside the
corpus; put a small copy of it into ``tests/fuzz/corpus/TARGET``, where ``test_corpus.py`` runs it.
"""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import savemat

HERE = Path(__file__).parent
INSTRUMENTED = ["splmll.datasets", "splmll.serving", "splmll.tagging"]


def seeds() -> dict[str, list[bytes]]:
    """Small files that are right, for the fuzzer to begin with."""
    table = pd.DataFrame({"x": [1.5, 2.0], "t": ["a b c", "d"], "is_a": [1, 0], "is_b": [0, 1]})
    csv = table.to_csv(index=False).encode()
    parquet, mat = io.BytesIO(), io.BytesIO()
    table.to_parquet(parquet)
    X, Y = np.eye(2), np.array([[1, 0], [0, 1]])
    savemat(mat, {"X": X, "Y": Y})
    arff = (
        b"@relation 't: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n"
        b"@data\n1,0,2.5\n{0 1, 2 3}\n"
    )
    hvecs = np.array([2], "<i4").tobytes() + np.array([1, 0], "<f4").tobytes()
    json = b'{"rows": [{"x": 1, "y": -2.5}], "top": 1}'
    form = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        b"x,y\n1,2\n\r\n--b--\r\n"
    )
    return {
        "csv": [csv, csv.replace(b",", b";"), b"\xef\xbb\xbf" + csv],
        "tags": [b"x,tags\n1,a;b\n2,a\n", b'x,tags\n1,"[""a""]"\n'],
        "parquet": [parquet.getvalue()],
        "arff": [arff],
        "libsvm": [b"0,1 1:2.5 3:1\n1 2:1\n"],
        "extreme": [b"2 3 2\n0,1 0:2.5\n1 2:1\n"],
        "mat": [mat.getvalue()],
        "hvecs": [hvecs, hvecs * 2],
        "packed": [gzip.compress(csv)],
        "chunks": [csv, b'a,b\n1,"x\ny"\n'],
        "examples": [b"x,body,tags\n1,the pump leaks,a;b\n2,a new door,b\n"],
        "request": [b"\x00\n" + json, b"\x03\nx,y\n1,2\n", b"\x86top=1&scores=true\n" + form],
    }


def main() -> None:
    # Imported here: where atheris is missing, nothing else of this file is to fail.
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        from targets import TARGETS

    name, seconds = sys.argv[1], sys.argv[2]
    target = TARGETS[name]

    def once(content: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target(content)

    found = HERE / "found" / name
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds()[name]):
            (Path(corpus) / str(number)).write_bytes(seed)
        options = [
            f"-max_total_time={seconds}",
            "-max_len=4096",
            "-timeout=60",
            "-rss_limit_mb=4096",
            f"-artifact_prefix={found}/",
        ]
        atheris.Setup([sys.argv[0], *options, corpus], once)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
