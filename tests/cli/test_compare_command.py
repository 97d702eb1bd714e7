"""``splmll compare`` and ``splmll reproduce``: from a file to a report, and what they refuse."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_runs import apart, here, typed
from splmll.datasets import Dataset, write_dataset


@pytest.fixture
def corners(tmp_path) -> Path:
    """A file with a problem that any method can learn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    Y = (X[:, :2] + 0.1 * rng.normal(size=(150, 2)) > 0).astype(int)
    data = Dataset(X, Y, ["x", "y", "z"], ["right", "up"], name="corners")
    write_dataset(data, tmp_path / "corners.arff")
    return tmp_path / "corners.arff"


@pytest.mark.slow
def test_from_a_file_to_a_table_and_a_report(corners, tmp_path) -> None:
    out = tmp_path / "out"
    command = ["compare", corners, "-m", "plst,ML-kNN", "--out", out, "--jobs", 1]
    ran = typed(*command)
    assert ran.returncode == 0, ran.stderr
    assert "PLST" in ran.stdout
    assert "ML-kNN" in ran.stdout
    assert "Average precision ↑" in ran.stdout
    assert "Protocol: held-out" in ran.stdout
    for name in ("table.md", "table.tex", "results.csv", "ranks.txt", "report.html"):
        assert (out / name).stat().st_size > 0
        assert str(out / name) in ran.stdout
    # Progress belongs to a terminal; there is none.
    assert ran.stderr == ""

    before = (out / "results.csv").read_text()
    assert apart(*command).returncode == 0
    assert (out / "results.csv").read_text() == before


@pytest.fixture
def notes(tmp_path) -> Path:
    """A folder with a table of tagged texts, another one of test rows, and an estimator."""
    rng = np.random.default_rng(0)
    words = {"pump": "pump leaks", "oil": "oil spill", "wire": "spark fuse"}
    for name, n_rows in (("train", 90), ("test", 40)):
        lines = ["id,body,tags"]
        for number in range(n_rows):
            tags = [tag for tag in words if rng.random() < 0.5] or ["oil"]
            body = " ".join(f"the {words[tag]}" for tag in tags)
            lines.append(f"{number},{body},{';'.join(tags)}")
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.slow
def test_a_table_with_test_rows_and_an_estimator_of_ones_own(notes) -> None:
    out = notes / "out"
    ran = apart(
        *["compare", notes / "train.csv", "--test", notes / "test.csv", "--labels", "tags"],
        *["--text", "body", "--ignore", "id", "--threshold", "micro_f1", "-m", "PLST"],
        *["--method", "sklearn.neighbors:KNeighborsClassifier", "--out", out, "--jobs", 1],
    )
    assert ran.returncode == 0, ran.stderr
    results = pd.read_csv(out / "results.csv")
    assert set(results["method"]) == {"PLST", "KNeighborsClassifier"}
    assert set(results["status"]) == {"done"}
    assert (results["n_train"] == 90).all()
    assert (results["n_test"] == 40).all()
    assert set(results["threshold"]) == {"micro_f1"}
    assert (results["micro_f1"] > 0.9).all()


@pytest.mark.slow
def test_folds_and_repeats_of_a_table_of_numbers(tmp_path) -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(150, 3)), columns=["x", "y", "z"])
    table["is_right"], table["is_up"] = (table["x"] > 0) * 1, (table["y"] > 0) * 1
    table.to_csv(tmp_path / "corners.csv", index=False)
    out = tmp_path / "out"
    ran = apart(
        *["compare", tmp_path / "corners.csv", "--labels", "is_*", "--ignore", "z", "-m", "PLST"],
        *["--folds", 4, "--repeats", 2, "--out", out, "--jobs", 1],
    )
    assert ran.returncode == 0, ran.stderr
    results = pd.read_csv(out / "results.csv")
    assert len(results) == 8
    assert set(results["protocol"]) == {"cv"}
    assert set(results["n_features"]) == {2}
    assert (results["average_precision"] > 0.9).all()


@pytest.mark.slow
def test_it_says_why_a_method_failed(corners, tmp_path) -> None:
    one_label_at_a_time = "sklearn.linear_model:LogisticRegression"
    command = ["compare", corners, "--method", one_label_at_a_time, "--jobs", 1]
    ran = apart(*command, "--out", tmp_path / "alone", "--folds", 3)
    assert ran.returncode == 1
    assert "LogisticRegression failed 3 times on corners: ValueError: y should be" in ran.stderr
    ran = apart(*command, "--out", tmp_path / "beside", "-m", "PLST")
    assert ran.returncode == 0
    assert "LogisticRegression failed 5 times on corners" in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "emotions", "--method", "nowhere"], "is not the name of a class"),
        (["compare", "emotions", "--method", "json:loads"], "is not a scikit-learn classifier"),
        (["compare", "emotions", "--method", "json:Nothing"], "has no 'Nothing'"),
        (["compare", "emotions", "--folds", "3", "--protocol", "paper"], "leave out --protocol"),
        (["compare", "emotions", "--test", "rows.csv"], "one file of training rows"),
        (["compare", "no-such-data"], "neither a data set nor a file 'no-such-data'"),
        (["compare", "emotions", "-m", "ML-kNM"], "Did you mean 'ML-kNN'?"),
        (["compare", "emotions", "--protocol", "magic"], "no protocol 'magic'"),
        (["compare", "emotions", "--threshold", "micro-f2"], "micro-f2"),
        (["compare", "emotions", "--preprocessing", "whiten"], "Unknown preprocessing 'whiten'"),
        (["reproduce", "table9"], "There are table1"),
        (["reproduce", "table2", "--data", "iris"], "There is no data set 'iris'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, words, tmp_path, capfd) -> None:
    status, _, said = here(capfd, *arguments, "--out", tmp_path / "out")
    assert status == 2
    assert said.startswith("splmll: ")
    assert words in said
    assert "Traceback" not in said
    assert len(said.splitlines()) <= 2
    assert not (tmp_path / "out").exists()


def test_debug_shows_where_an_error_came_from() -> None:
    ran = apart("--debug", "compare", "no-such-data")
    assert ran.returncode == 2
    assert "Traceback" in ran.stderr


@pytest.mark.parametrize("command", ["compare", "reproduce"])
def test_help_has_examples(command, capfd, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    status, shown, _ = here(capfd, command, "--help")
    assert status == 0
    assert f"splmll {command} " in shown
    assert "Examples" in shown


def test_help_and_version_do_not_load_pytorch() -> None:
    code = (
        "import sys, splmll.cli\n"
        "try: splmll.cli.main(['--version'])\n"
        "except SystemExit as end: assert not end.code\n"
        "print('torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "False", ran.stderr
