"""What ``splmll doctor FILE`` finds: one small file for each finding, and clean ones for none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from splmll.cli import main
from splmll.datasets import Dataset, write_dataset
from splmll.doctor import examine
from splmll.tagging import read_examples

SIDES = ["left", "right"]
WORDS = ["rotor", "hinge", "valve", "pipe", "motor", "cable", "fan", "belt", "screw", "wheel"]


def clean_table(n_rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """A table with nothing wrong: texts, numbers, categories and three tags."""
    rng = np.random.default_rng(seed)
    tags = [
        [tag for tag in ("door", "oil", "pump") if rng.random() < 0.5] or ["oil"]
        for _ in range(n_rows)
    ]
    return pd.DataFrame(
        {
            "body": [" ".join(rng.choice(WORDS, 6)) for _ in range(n_rows)],
            "hours": rng.normal(size=n_rows).round(3),
            "site": rng.choice(["north", "south"], n_rows),
            "tags": [";".join(row) for row in tags],
        }
    )


def two_sides(is_right: np.ndarray) -> np.ndarray:
    """Labels of which every row has one."""
    return np.column_stack([~is_right, is_right]).astype(int)


def doctor(capfd, *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(["doctor", *map(str, arguments)])
    printed = capfd.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


def findings(capfd, path: Path, *options: object) -> dict[str, dict]:
    """Return what the command finds in a file, by check."""
    status, said, _ = doctor(capfd, path, "--json", *options)
    found = json.loads(said)
    assert status == (1 if found["counts"]["error"] else 0)
    return {each["check"]: each for each in found["findings"]}


def in_table(capfd, tmp_path, table: pd.DataFrame, *options: object) -> dict[str, dict]:
    table.to_csv(tmp_path / "table.csv", index=False)
    return findings(capfd, tmp_path / "table.csv", "--labels", "tags", *options)


# Nothing ----------------------------------------------------------------------------------------


def test_nothing_in_a_clean_table(tmp_path, capfd) -> None:
    clean_table().to_csv(tmp_path / "clean.csv", index=False)
    clean_table(seed=1).to_csv(tmp_path / "test.csv", index=False)
    command = [tmp_path / "clean.csv", "--labels", "tags", "--test", tmp_path / "test.csv"]
    assert doctor(capfd, *command) == (0, "No problems found.\n", "")


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_nothing_in_a_clean_matrix(storage) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0, X[:, 1] > 0]).astype(int)
    assert examine(Dataset(storage(X), storage(Y), list("xyz"), ["right", "left", "up"])) == []


def test_nothing_is_changed() -> None:
    rng = np.random.default_rng(0)
    X, Y = sparse.random_array((40, 5), density=0.4, rng=rng, format="csr"), np.eye(40, 2)
    before = X.copy(), Y.copy()
    examine(Dataset(X, Y, list("abcde"), ["p", "q"]))
    assert (X.data == before[0].data).all()
    assert (X.indices == before[0].indices).all()
    assert (before[1] == Y).all()


# Labels -----------------------------------------------------------------------------------------


def test_a_label_in_every_row_and_one_in_none(tmp_path, capfd) -> None:
    table = clean_table().drop(columns="tags")
    rng = np.random.default_rng(3)
    table = table.assign(is_a=rng.integers(0, 2, 120), is_b=1, is_c=0)
    table.to_csv(tmp_path / "t.csv", index=False)
    status, said, _ = doctor(capfd, tmp_path / "t.csv", "--labels", "is_*")
    assert status == 0
    assert "1 label is in no row: 'c'." in said
    assert "1 label is in every row: 'b'." in said


def test_labels_that_are_all_constant_are_an_error(tmp_path, capfd) -> None:
    found = in_table(capfd, tmp_path, clean_table().assign(tags="oil"))["constant-labels"]
    assert found["severity"] == "error"
    assert found["where"] == ["oil"]


def test_rare_labels(tmp_path, capfd) -> None:
    table = clean_table()
    table.loc[:3, "tags"] += ";four"
    table.loc[:4, "tags"] += ";five"
    found = in_table(capfd, tmp_path, table)["rare-labels"]
    assert (found["severity"], found["where"]) == ("warning", ["four"])
    assert "in fewer than 5 rows: 'four' (4)" in found["what"]


def test_labels_that_always_stand_together(tmp_path, capfd) -> None:
    table = clean_table()
    table["tags"] = table["tags"].str.replace("pump", "pump;rotor")
    found = in_table(capfd, tmp_path, table)
    assert set(found) == {"identical-labels"}
    assert found["identical-labels"]["where"] == ["pump", "rotor"]


@pytest.mark.parametrize("other", ["Oil", "o-i l", "oïl", "OIL."])
def test_a_label_spelled_in_two_ways(tmp_path, capfd, other) -> None:
    table = clean_table()
    table.loc[table.index % 2 == 0, "tags"] = table["tags"].str.replace("oil", other)
    found = in_table(capfd, tmp_path, table)["spelled-differently"]
    assert sorted(found["where"]) == sorted(["oil", other])


def test_columns_of_labels_spelled_in_two_ways(tmp_path, capfd) -> None:
    rng = np.random.default_rng(0)
    table = clean_table().drop(columns="tags")
    table = table.assign(**{name: rng.integers(0, 2, 120) for name in ("is_Jazz", "is_jazz")})
    table.to_csv(tmp_path / "t.csv", index=False)
    found = findings(capfd, tmp_path / "t.csv", "--labels", "is_*")
    assert found["spelled-differently"]["where"] == ["Jazz", "jazz"]


def test_a_typing_error(tmp_path, capfd) -> None:
    table = clean_table()
    table["tags"] = table["tags"].str.replace("door", "document 1;painting")
    table.loc[0, "tags"] = "paintng;document 2"
    found = in_table(capfd, tmp_path, table)["typing-errors"]
    assert found["severity"] == "note"
    # "document 2" is no typing error of "document 1".
    assert found["where"] == ["paintng"]
    assert "'paintng' (for 'painting'?)" in found["what"]


def test_tags_that_were_not_taken_apart(tmp_path, capfd) -> None:
    table = clean_table()
    table["tags"] = table["tags"].str.replace(";", " / ")
    found = in_table(capfd, tmp_path, table)["tags-in-one-piece"]
    assert "such as 'door / oil'" in found["what"]
    assert found["remedy"] == "If so, use --delimiter '/'."
    assert "tags-in-one-piece" not in in_table(capfd, tmp_path, table, "--delimiter", "/")


# Rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "severity"), [(9, "error"), (49, "warning"), (50, None)])
def test_few_rows(tmp_path, capfd, n_rows, severity) -> None:
    found = in_table(capfd, tmp_path, clean_table(n_rows)).get("few-rows")
    assert (found and found["severity"]) == severity


@pytest.mark.parametrize(("n_empty", "severity"), [(3, "note"), (61, "warning")])
def test_rows_without_a_label(tmp_path, capfd, n_empty, severity) -> None:
    table = clean_table()
    table.loc[: n_empty - 1, "tags"] = ""
    found = in_table(capfd, tmp_path, table)["rows-without-labels"]
    assert found["severity"] == severity
    assert len(found["where"]) == n_empty
    assert found["where"][0] == "row 1"


def test_repeated_rows_and_their_contradictions(tmp_path, capfd) -> None:
    table = clean_table()
    table = pd.concat([table, table.iloc[[7, 8]]], ignore_index=True)
    table.loc[120, "tags"] = "door" if table.loc[7, "tags"] != "door" else "oil"
    found = in_table(capfd, tmp_path, table)["repeated-rows"]
    assert found["severity"] == "warning"
    assert found["where"] == ["row 8", "row 9", "row 121", "row 122"]
    assert "1 group of them has different labels" in found["what"]


def test_a_repeated_row_of_many_is_a_note() -> None:
    X = np.arange(201.0).reshape(-1, 1) % 200
    [found] = examine(Dataset(X, two_sides(X[:, 0] % 3 > 1), ["x"], SIDES))
    assert (found.severity, found.where) == ("note", ["row 1", "row 201"])


@pytest.mark.parametrize(("n_shared", "severity"), [(2, "warning"), (30, "error")])
def test_rows_of_the_test_file_that_were_learned(tmp_path, capfd, n_shared, severity) -> None:
    table, test = clean_table(), clean_table(seed=1)
    test.iloc[:n_shared] = table.iloc[:n_shared]
    test.to_csv(tmp_path / "test.csv", index=False)
    found = in_table(capfd, tmp_path, table, "--test", tmp_path / "test.csv")["leaking-rows"]
    assert found["severity"] == severity
    assert f"{n_shared} of 120 rows of the test file" in found["what"]


def test_labels_of_the_test_file_alone(tmp_path, capfd) -> None:
    test = clean_table(seed=1)
    test.loc[0, "tags"] = "ghost"
    test.to_csv(tmp_path / "test.csv", index=False)
    found = in_table(capfd, tmp_path, clean_table(), "--test", tmp_path / "test.csv")
    assert found["labels-only-in-test"]["where"] == ["ghost"]


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_a_standard_split_that_leaks(storage) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    X[90] = X[4]
    X[91] = X[95]  # both in the test part: no leak
    X[4, 0] = X[90, 0] = 0.0
    X[4, 1], X[90, 1] = 0.0, -0.0  # equal numbers
    data = Dataset(
        storage(X), two_sides(X[:, 2] > 0), list("xyz"), SIDES, train=np.arange(80),
        test=np.arange(80, 100),
    )  # fmt: skip
    [found] = examine(data)
    assert found.check == "leaking-rows"
    assert found.where == ["row 11"]
    assert "1 of 20 test rows of the standard split" in found.what


def test_arff_files_of_a_split(tmp_path, capfd) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)).round(4)
    X[100:110] = X[:10]
    Y = two_sides(X[:, 0] > 0)
    for name, rows in (("corners-train.arff", slice(100)), ("corners-test.arff", slice(100, 120))):
        part = Dataset(X[rows], Y[rows], ["x", "y"], SIDES, name="corners")
        write_dataset(part, tmp_path / name)
    found = findings(
        capfd, tmp_path / "corners-train.arff", "--test", tmp_path / "corners-test.arff"
    )
    assert set(found) == {"leaking-rows"}
    assert "10 of 20 rows" in found["leaking-rows"]["what"]


# Columns ----------------------------------------------------------------------------------------


def test_a_constant_and_an_empty_column(tmp_path, capfd) -> None:
    table = clean_table().assign(unit="metre", zero=0, remark="")
    table.loc[0, "unit"] = ""  # a gap does not make it vary
    found = in_table(capfd, tmp_path, table)
    assert found["constant-columns"]["where"] == ["unit", "zero"]
    assert found["constant-columns"]["remedy"].endswith("--ignore unit --ignore zero.")
    assert found["missing-values"]["where"] == ["remark"]
    assert "is empty." in found["missing-values"]["what"]


def test_a_constant_feature_of_a_matrix() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    X[:, 1] = 7
    Y = two_sides(X[:, 0] > 0)
    for storage in (np.asarray, sparse.csr_array):
        [found] = examine(Dataset(storage(X), Y, list("xyz"), SIDES))
        assert (found.check, found.where, found.severity) == ("constant-columns", ["y"], "note")


@pytest.mark.parametrize("kind", ["number", "words", "named"])
def test_a_column_of_ids(tmp_path, capfd, kind) -> None:
    ids = {
        "number": ("nth", np.arange(1000, 1120)),
        "words": ("code", [f"note-{k}" for k in range(120)]),
        "named": ("ticketId", np.arange(120) * 7),
    }
    name, values = ids[kind]
    found = in_table(capfd, tmp_path, clean_table().assign(**{name: values}))["id-columns"]
    assert (found["severity"], found["where"]) == ("warning", [name])
    assert f"--ignore {name}" in found["remedy"]


def test_an_id_at_which_a_fit_would_stop(tmp_path, capfd) -> None:
    table = clean_table().assign(id=[f"n{k}" for k in range(120)])
    found = in_table(capfd, tmp_path, table)
    assert set(found) == {"no-words"}
    assert found["no-words"]["severity"] == "error"
    assert "It looks like an id. Leave it out with --ignore id." in found["no-words"]["remedy"]


def test_a_column_that_is_mostly_empty(tmp_path, capfd) -> None:
    table = clean_table()
    table.loc[:70, "hours"] = np.nan
    found = in_table(capfd, tmp_path, table)["missing-values"]
    assert found["where"] == ["hours"]
    assert "more than 50% of the rows" in found["what"]


def test_texts_taken_for_categories(tmp_path, capfd) -> None:
    rng = np.random.default_rng(0)
    titles = [" ".join(rng.choice(WORDS, 2)) for _ in range(300)]
    table = clean_table(300).assign(title=titles)
    found = in_table(capfd, tmp_path, table)["texts-as-categories"]
    assert found["where"] == ["title"]
    assert "--text title" in found["remedy"]
    assert "texts-as-categories" not in in_table(capfd, tmp_path, table, "--text", "title")


def test_dates(tmp_path, capfd) -> None:
    days = [f"{1 + k % 28}/{1 + k % 9}/2025" for k in range(500)]  # 252 different ones
    found = in_table(capfd, tmp_path, clean_table(500).assign(day=days))
    assert found["dates"]["where"] == ["day"]
    assert "are read as texts" in found["dates"]["what"]
    found = in_table(capfd, tmp_path, clean_table().assign(day=days[:40] * 3))
    assert set(found) == {"dates"}
    assert "are read as categories" in found["dates"]["what"]


def test_more_categories_than_are_used(tmp_path, capfd) -> None:
    towns = [f"town{k % 240}" for k in range(500)]
    found = in_table(capfd, tmp_path, clean_table(500).assign(town=towns))["many-categories"]
    assert (found["severity"], found["where"]) == ("note", ["town"])
    assert "240 categories" in found["what"]


def test_features_of_very_different_size(tmp_path, capfd) -> None:
    rng = np.random.default_rng(0)
    table = clean_table().assign(pay=rng.normal(size=120) * 5000)
    found = in_table(capfd, tmp_path, table)["unscaled-features"]
    assert (found["severity"], found["where"]) == ("note", ["pay", "hours"])
    assert "`splmll fit` scales numbers" in found["remedy"]
    X = rng.normal(size=(100, 2)) * [1, 5000]
    for storage in (np.asarray, sparse.csr_array):
        [found] = examine(Dataset(storage(X), two_sides(X[:, 0] > 0), ["x", "y"], SIDES))
        assert (found.check, found.severity) == ("unscaled-features", "warning")
        assert "SPL-MLL and ML-kNN scale their features" in found.remedy


# The command ------------------------------------------------------------------------------------


def test_it_is_printed_worst_first(tmp_path, capfd) -> None:
    table = clean_table().assign(id=[f"n{k}" for k in range(120)], unit="metre")
    table.loc[0, "tags"] = ""
    table.to_csv(tmp_path / "t.csv", index=False)
    status, said, complaint = doctor(capfd, tmp_path / "t.csv", "--labels", "tags")
    assert (status, complaint) == (1, "")
    places = [said.index(word) for word in ("error: no-words", "warning: ", "note: ")]
    assert places == sorted(places)
    assert said.endswith("1 error, 1 warning, 1 note.\n")


def test_a_file_that_cannot_be_read_is_bad_input(tmp_path, capfd) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1\n")
    status, said, complaint = doctor(capfd, tmp_path / "t.csv", "--labels", "b")
    assert (status, said) == (2, "")
    assert "the first line names 2 columns" in complaint


def test_in_python_it_is_the_same(tmp_path, capfd) -> None:
    table = clean_table(40).assign(unit="metre")
    found = in_table(capfd, tmp_path, table)
    data, _ = read_examples(tmp_path / "table.csv", ["tags"])
    assert [each.to_dict() for each in examine(data)] == list(found.values())
