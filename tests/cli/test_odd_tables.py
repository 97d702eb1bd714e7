"""Tables as spreadsheets write them: read like any other, or refused with a remedy.

Every case goes through fit, doctor and predict, and past the id column: the same table in plain
CSV is fitted and tagged beside it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from command_runs import here, trouble
from splmll.datasets import read_dataset, records
from splmll.exceptions import DatasetError
from splmll.tagging import read_examples

COLUMNS = "id,größe,ort,text,tags"
ROWS = [
    (
        f"n{n}",
        f"{(n % 7) - 3}.5",
        ("Zürich", "Köln")[n % 2],
        f"die Pumpe {n % 3} läuft über, sagt man",
        ("öl;pumpe", "tür", "", "öl")[n % 4],
    )
    for n in range(80)
]


def csv_text(delimiter: str = ",", end: str = "\n", point: str = ".") -> str:
    def cell(value: str) -> str:
        return f'"{value}"' if delimiter in value or "," in value else value

    lines = [COLUMNS.replace(",", delimiter)]
    for row in ROWS:
        values = [row[0], row[1].replace(".", point), *row[2:]]
        lines.append(delimiter.join(map(cell, values)))
    return end.join(lines) + end


def spelled(text: str) -> bytes:
    """The same text with accents as characters of their own, as some systems write it."""
    return unicodedata.normalize("NFD", text).encode()


def mixed(text: str) -> bytes:
    """Every other line in the other spelling: a label must not become two."""
    lines = text.splitlines(keepends=True)
    return b"".join(
        spelled(line) if number % 2 else line.encode() for number, line in enumerate(lines)
    )


READ: dict[str, bytes] = {
    "byte-order mark": b"\xef\xbb\xbf" + csv_text().encode(),
    "Windows line ends": csv_text(end="\r\n").encode(),
    "line ends of old": csv_text(end="\r").encode(),
    "semicolons": csv_text(";").encode(),
    "a spreadsheet": b"\xef\xbb\xbf" + csv_text(";", "\r\n").encode(),
    "tabs": csv_text("\t").encode(),
    "accents of their own": spelled(csv_text()),
    "both spellings": mixed(csv_text()),
}
# Content, and what the message says is wrong and what to do.
REFUSED: dict[str, tuple[bytes, str, str]] = {
    "decimal commas": (
        csv_text(";", point=",").encode(),
        "'größe' contains '-3,5', a number with a decimal comma",
        "write a point in all of them",
    ),
    "NUL bytes": (
        csv_text().replace("Köln", "K\0ln", 1).encode(),
        "contains NUL characters",
        "save it as CSV in UTF-8",
    ),
    "UTF-16": (csv_text().encode("utf-16"), "UTF-16", "save it as CSV in UTF-8"),
    "Latin-1": (csv_text().encode("latin-1"), "UTF-8", ""),
    "a hint for spreadsheets": (
        b"sep=;\r\n" + csv_text(";", "\r\n").encode(),
        "the first line 'sep=;' is a hint for spreadsheets",
        "remove it",
    ),
    "1e200": (
        csv_text().replace("-3.5", "1e200", 1).encode(),
        "row 1: the column 'größe' contains 1e+200",
        "change the unit of the column",
    ),
    "a column in two spellings": (
        csv_text().replace("ort", unicodedata.normalize("NFD", "größe"), 1).encode(),
        "'größe' appears twice",
        "rename one",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "plain.csv").write_text(csv_text(), encoding="utf-8")
    return folder


@pytest.fixture
def run(capfd) -> Callable[..., tuple[int, str, str]]:
    return lambda *arguments: here(capfd, *arguments)


@pytest.fixture
def model(folder, run) -> Path:
    """Fitted once; a method that is quick."""
    place = folder / "model"
    if not place.exists():
        status, _, said = run(
            "fit", folder / "plain.csv", "--labels", "tags", "--ignore", "id",
            "--method", "SPL-MLL (linear)", "--out", place,
        )  # fmt: skip
        assert status == 0, said
    return place


@pytest.mark.parametrize("kind", READ)
def test_read_like_a_plain_table(kind, folder, model, run, tmp_path) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(READ[kind])
    plain, reading = read_examples(folder / "plain.csv", ["tags"], ignore=["id"])
    odd, odd_reading = read_examples(path, ["tags"], ignore=["id"])
    assert plain.label_names == odd.label_names == ["pumpe", "tür", "öl"]
    assert plain.column_kinds == {"größe": "numeric", "ort": "categorical", "text": "text"}
    assert odd_reading == reading
    assert odd.X.equals(plain.X)
    assert (odd.Y == plain.Y).all()

    def tags(file: Path) -> str:
        status, out, said = run("predict", model, file, "--keep", "größe", "--scores")
        assert status == 0, said
        return out

    assert tags(path) == tags(folder / "plain.csv")


@pytest.mark.parametrize("kind", REFUSED)
def test_refused_with_a_remedy(kind, model, run, tmp_path) -> None:
    content, wrong, remedy = REFUSED[kind]
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    for arguments in (
        ["fit", path, "--labels", "tags", "--ignore", "id", "--out", tmp_path / "out"],
        ["doctor", path, "--labels", "tags", "--ignore", "id"],
        ["predict", model, path, "--out", tmp_path / "out.csv"],
    ):
        status, _, said = run(*arguments)
        told = trouble(said)
        assert status == 2, (arguments[0], said)
        assert str(path) in told
        assert wrong in told, arguments[0]
        assert remedy in told, arguments[0]
    assert list(tmp_path.iterdir()) == [path]


def test_a_cell_without_end(model, run, tmp_path, monkeypatch) -> None:
    """As 200 megabytes in one cell: the limit is taken down so that the test is quick."""
    for module in ("columns", "records"):
        monkeypatch.setattr(f"splmll.datasets.{module}.LONGEST_RECORD", 1 << 16)
    monkeypatch.setattr(records, "BLOCK_BYTES", 1 << 12)
    path = tmp_path / "odd.csv"
    path.write_text(csv_text() + 'n9,1.5,Köln,"' + "lang " * 50_000 + '",öl\n', encoding="utf-8")
    for arguments in (
        ["fit", path, "--labels", "tags", "--ignore", "id", "--out", tmp_path / "out"],
        ["predict", model, path, "--out", tmp_path / "out.csv"],
    ):
        status, _, said = run(*arguments)
        assert (status, "close its quotes" in trouble(said)) == (2, True), said


def test_words_that_look_like_decimal_commas_may_be_words(tmp_path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("code;a\n1,5;1\n2,5;0\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="decimal comma"):
        read_dataset(path, labels=["a"])
    assert read_dataset(path, labels=["a"], categorical=["code"]).X["code"].tolist() == [
        "1,5",
        "2,5",
    ]
    # Where something else stands among them they are words anyway.
    path.write_text("code;a\n1,5;1\nA;0\n", encoding="utf-8")
    assert read_dataset(path, labels=["a"]).column_kinds == {"code": "categorical"}


def test_the_service_reads_either_spelling(model) -> None:
    from splmll.serving.rows import RowReader
    from splmll.tagging import Tagger

    reader = RowReader(Tagger.load(model))
    row = {"größe": 1, "ort": "Zürich", "text": "läuft"}
    apart = {"größe": 1, **{k: unicodedata.normalize("NFD", row[k]) for k in ("ort", "text")}}
    assert reader.read([apart]).words.tolist() == reader.read([row]).words.tolist()
