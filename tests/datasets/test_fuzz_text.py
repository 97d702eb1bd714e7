"""Damaged text files: a reader gives a sound data set or a DatasetError, and nothing else.

Each test takes small sound files apart with ``RUNS`` programs of random mutations.
"""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzz_runs import RUNS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from splmll.datasets.arff import read_arff
from splmll.datasets.dataset import Dataset
from splmll.datasets.extreme import read_extreme
from splmll.datasets.libsvm import NAMES_PREFIX, read_libsvm
from splmll.exceptions import DatasetError

pytestmark = pytest.mark.slow

MULAN_DENSE = [
    b"@relation toy\n@attribute a numeric\n@attribute 'b c' {0,1}\n@attribute l1 {0,1}\n"
    b'@attribute "l2" {NO,YES}\n@data\n0.5,1,0,YES\n-2e3,0,1,NO\n% c\n\n7,1,1,YES\n',
    b"@RELATION toy\n@ATTRIBUTE l1 {-1,1}\n@ATTRIBUTE a REAL\n@ATTRIBUTE t string\n"
    b"@ATTRIBUTE k {red,'light blue'}\n@ATTRIBUTE l2 integer\n@DATA\n"
    b"1,1.5,'it\\'s 50\\% off',red,0\n-1,2,plain,'light blue',1 % c\n1,?,?,?,?\n",
]
MULAN_SPARSE = [
    b"@relation toy\n@attribute a numeric\n@attribute b {0,1}\n@attribute l1 {0,1}\n"
    b"@attribute l2 {YES,NO}\n@data\n{0 0.5,1 1,2 1}\n{ }\n{1 1, 3 NO}\n{0 -2e3}\n{2 1}\n",
    b"@relation toy\n@attribute l1 {0,1}\n@attribute k {red,'light blue'}\n"
    b"@attribute t string\n@attribute l2 numeric\n@data\n{0 1,1 'light blue',2 \"a b\"}\n"
    b"{}\n{1 ?,3 ?}\n{2 'x'} % c\n",
]
MEKA = [
    b"@relation 'toy: -C 2'\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@attribute a numeric\n"
    b"@data\n1,0,0.5\n0,1,2\n1,1,-1\n",
    b'@relation "toy: -split 3 -c -1"\n@attribute a numeric\n@attribute b {1,0}\n'
    b"@attribute l {0,1}\n@data\n{0 3,2 1}\n{1 0}\n{0 1,1 1,2 1}\n",
]
XML = [
    b'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">'
    b'\n<label name="l1"><label name="b c"/></label>\n<label name="l2"></label>\n</labels>',
    b'<!DOCTYPE labels [<!ENTITY e "l1"><!ENTITY f "&e;&e;&e;">]>\n<labels><label name="&f;"/>'
    b"</labels>\n",
    b"<?xml version='1.0' encoding='latin-1'?><!-- c --><labels><label name='l1'/>"
    b"<label name='l&#50;'/></labels>",
]
LIBSVM = [
    b"1,3 1:0.5 4:2 # c\n 2:1 3:-1e2\n2 1:7\n\n# c\n3,1 2:0.25\n",
    b"sea,sky 0:1 2:3\nsky 1:1\n0:4 1:5\nsea 2:1.5\n",
    NAMES_PREFIX.encode() + b'{"features": ["a", "b, c"], "labels": ["x", "y"]}\n'
    b"0,1 1:0.5\n1 1:2 2:3\n1:0\n",
]
EXTREME = [b"4 5 3\n0,2 0:0.5 3:1\n 1:2 4:3\n1 2:1e-3\n2,1 0:1 1:1\n"]

TOKENS = [
    b"?", b"'", b'"', b"\\", b"%", b"{", b"}", b",", b",,", b":", b" ", b"\t", b"\n", b"\r\n",
    b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3\xa9", b"\xe2\x80\xa8", b"\x0b",
    b"\x85", b"\xd9\xa3", b"-", b"+", b".", b"_", b"0", b"1", b"-1", b"2", b"1e999", b"1e400",
    b"nan", b"inf", b"-Infinity", b"0x10", b"1_0", b"12345678901234567890", b"9" * 400,
    b"9" * 5000, b"18446744073709551616", b"2147483648", b"-C 3", b"-C -99999999999", b"#",
    b"@data\n", b"@attribute z numeric\n", b"@attribute a numeric\n", b"@attribute z string\n",
    b"@attribute z {}\n", b"@attribute z date\n", b"@relation", b"@", b"<", b">", b"&", b"&amp;",
    b"&e;", b"<label/>", b"<label name='l1'/>", b"</labels>", b"<label>" * 500, b"]]>",
    b"<![CDATA[", b"<!--", b"encoding='utf-16'", b"utf-7", b"rot13", b"idna", b"big5", b"[" * 3000,
    b"null", b"[]", b'"\\ud800"', b"'\\ud800'",
    b"\\ud800", b"\\u0000", b"\\u12", b"YES", b"qid:1", b"1:1:1", b"{0 1}",
]  # fmt: skip


def mutate(content: bytes, program: int) -> bytes:
    """Apply up to six random mutations; the program is their seed."""
    choose = random.Random(program)
    for _ in range(choose.randrange(7)):
        size = len(content)
        kind = choose.randrange(8)
        a, b = sorted((choose.randrange(size + 1), choose.randrange(size + 1)))
        if kind == 0 and size:  # flip bits of one byte
            place = choose.randrange(size)
            flipped = content[place] ^ (1 << choose.randrange(8))
            content = content[:place] + bytes([flipped]) + content[place + 1 :]
        elif kind == 1:  # delete a short piece
            content = content[:a] + content[min(b, a + choose.randrange(1, 9)) :]
        elif kind == 2:  # repeat a short piece
            piece = content[a : min(b, a + choose.randrange(1, 30))]
            content = content[:b] + piece * choose.randrange(1, 4) + content[b:]
        elif kind in (3, 4):  # put in a token that means something somewhere
            content = content[:a] + choose.choice(TOKENS) + content[a:]
        elif kind == 5:  # cut off
            content = content[: max(a, b)]
        else:
            lines = content.splitlines(keepends=True)
            if lines and kind == 6:  # swap two lines
                i, j = choose.randrange(len(lines)), choose.randrange(len(lines))
                lines[i], lines[j] = lines[j], lines[i]
            elif lines:  # repeat or drop a line
                i = choose.randrange(len(lines))
                lines[i : i + 1] = [lines[i]] * choose.choice((0, 2))
            content = b"".join(lines)
    return content


def check_sound(dataset: Dataset) -> None:
    X, Y = dataset.X, dataset.Y
    assert X.shape[0] == Y.shape[0] > 0
    assert X.shape[1] == len(dataset.feature_names) > 0
    assert Y.shape[1] == len(dataset.label_names) > 0
    assert len(set(dataset.feature_names)) == X.shape[1]
    assert len(set(dataset.label_names)) == Y.shape[1]
    labels = Y.data if sparse.issparse(Y) else Y[~np.isnan(Y)]
    assert np.isin(labels, (0, 1)).all()
    if isinstance(X, pd.DataFrame):
        assert list(X.columns) == dataset.feature_names == list(dataset.column_kinds)
    else:
        assert X.dtype == np.float64
        assert not np.isinf(X.data if sparse.issparse(X) else X).any()


def run(seeds: list[bytes], file: Path, read: Callable[[], Dataset]) -> None:
    """Mutate, write, read ``RUNS`` times; some must get through, and some must not."""
    outcomes = {"read": 0, "refused": 0}
    for content in seeds:
        file.write_bytes(content)
        try:
            check_sound(read())
        except DatasetError:
            assert b"ENTITY" in content  # the one seed that must never be read

    @settings(
        max_examples=RUNS,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**63))
    def try_one(program: int) -> None:
        # Overwriting one open file: to create or empty it anew takes longer than the reading.
        writer.seek(0)
        writer.truncate(writer.write(mutate(seeds[program % len(seeds)], program)))
        writer.flush()
        refusal = None
        try:
            check_sound(read())
        except DatasetError as problem:
            refusal = problem
        if refusal is not None:  # it must say in which file something is wrong
            assert refusal.path is not None
            assert Path(refusal.path).parent == file.parent
        outcomes["read" if refusal is None else "refused"] += 1

    with file.open("r+b") as writer:
        try_one()
    # Otherwise the mutations are too tame or too wild to say anything about the reader.
    assert outcomes["read"] + outcomes["refused"] >= RUNS
    assert outcomes["read"] >= RUNS / 20
    assert outcomes["refused"] >= RUNS / 10


def test_mulan_dense(tmp_path: Path) -> None:
    file = tmp_path / "toy.arff"
    run(
        MULAN_DENSE,
        file,
        lambda: read_arff(file, ["l1", "l2"], allow_unknown=True, allow_missing=True),
    )


def test_mulan_sparse(tmp_path: Path) -> None:
    file = tmp_path / "toy.arff"
    (tmp_path / "labels.xml").write_text(
        '<labels><label name="l2"/><label name="l1"/></labels>', encoding="utf-8"
    )
    run(
        MULAN_SPARSE,
        file,
        lambda: read_arff(file, tmp_path / "labels.xml", allow_unknown=True, allow_missing=True),
    )


def test_meka(tmp_path: Path) -> None:
    file = tmp_path / "toy.arff"
    run(MEKA, file, lambda: read_arff(file))


def test_xml(tmp_path: Path) -> None:
    arff, file = tmp_path / "toy.arff", tmp_path / "toy.xml"
    arff.write_bytes(MULAN_DENSE[0])
    run(XML, file, lambda: read_arff(arff))


def test_libsvm(tmp_path: Path) -> None:
    file = tmp_path / "toy.svm"
    run(LIBSVM, file, lambda: read_libsvm(file))


def test_extreme(tmp_path: Path) -> None:
    file = tmp_path / "toy.txt"
    run(EXTREME, file, lambda: read_extreme(file))
