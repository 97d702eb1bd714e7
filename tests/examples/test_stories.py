"""The stories in examples/: each runs, tells something true and leaves nothing behind."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)?")


def number_after(words: str, printed: str) -> float:
    return float(NUMBER.search(printed.split(words, 1)[1])[0])


def check_tag_a_text_table(printed: str) -> None:
    assert number_after("tickets, out of fold:", printed) > 0.8
    tags = dict(line.split(": ") for line in printed.splitlines()[2:])
    assert {"network", "wifi"} <= set(tags["my laptop finds no wifi in the canteen"].split(", "))
    assert len(tags) == 3


def check_landmark_budget(printed: str) -> None:
    budgets = re.findall(r"^(\d+) of 21 tags predicted: micro-F1 (.*)$", printed, re.MULTILINE)
    values = [float(value) for _, value in budgets]
    assert [int(budget) for budget, _ in budgets] == [12, 10, 8, 4, 2]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.85
    assert values[-1] < 0.6
    assert printed.count(" carries ") == 8


def check_recover_from_landmarks(printed: str) -> None:
    landmarks = printed.splitlines()[0].split(": ")[1].split(", ")
    assert len(set(landmarks)) == 5
    by_chance = number_after("by chance:", printed)
    assert number_after("recovered from the landmarks:", printed) > by_chance + 0.1
    assert number_after("predicted from the features:", printed) > by_chance


def check_fewest_questions(printed: str) -> None:
    predicted, asked, landmarks = (
        number_after(words, printed) for words in ("predicted:", "completed:", "landmarks:")
    )
    assert asked > landmarks > predicted
    assert asked > 0.93


def check_compare_methods(printed: str) -> None:
    lines = [line.split() for line in printed.splitlines()]
    micro_f1 = {line[0]: line[1] for line in lines if "±" in " ".join(line[1:2])}
    assert set(micro_f1) == {"BR", "ML-kNN", "SPL-MLL"}
    values = {name: float(cell.split("±")[0]) for name, cell in micro_f1.items()}
    assert all(0.6 < value <= 1 for value in values.values())
    assert micro_f1[max(values, key=values.__getitem__)].endswith("*")


def check_pipeline_grid_search(printed: str) -> None:
    assert 0.6 < number_after("other genes:", printed) < 0.75
    names = re.findall(r"^(gene \d+) ", printed, re.MULTILINE)
    assert names == ["gene 1500", "gene 1501", "gene 1502"]


def check_save_load_onnx(printed: str) -> None:
    assert printed.count("same labels True") == 2
    assert number_after("difference of scores", printed) < 1e-5


def check_dask_cluster(printed: str) -> None:
    assert "3 units: {'done': 3}" in printed
    values = re.findall(r"^(?:SPL-MLL \(linear\)|ML-kNN|PLST) +([\d.]+)", printed, re.MULTILINE)
    assert len(values) == 3
    assert all(0.55 < float(value) < 0.75 for value in values)
    assert 0.6 < number_after("blocks: micro-F1", printed) < 0.75


STORIES: dict[str, Callable[[str], None]] = {
    "tag_a_text_table": check_tag_a_text_table,
    "landmark_budget": check_landmark_budget,
    "fewest_questions": check_fewest_questions,
    "recover_from_landmarks": check_recover_from_landmarks,
    "compare_methods": check_compare_methods,
    "pipeline_grid_search": check_pipeline_grid_search,
    "save_load_onnx": check_save_load_onnx,
    "dask_cluster": check_dask_cluster,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STORIES)
def test_story(name: str, tmp_path: Path) -> None:
    folders = {key: tmp_path / key for key in ("here", "HOME", "TMPDIR")}
    for folder in folders.values():
        folder.mkdir()
    # As on a fresh clone: yeast comes from the installed package, and nothing is cached.
    places = ("SPLMLL_DATA", "SPLMLL_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    environment = {key: value for key, value in os.environ.items() if key not in places}
    environment |= {key: str(folders[key]) for key in ("HOME", "TMPDIR")}
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    before = contents(EXAMPLES)
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folders["here"],
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    STORIES[name](ran.stdout)
    assert beginnings(ran.stdout) == beginnings(promised(name)), ran.stdout
    for folder in folders.values():
        assert contents(folder) == {}
    assert contents(EXAMPLES) == before


def test_every_story_is_told_in_the_documentation_and_tested() -> None:
    # The table of the stories, and two programs with tests and options of their own.
    others = {"tickets", "demo", "digit_scenes"}
    assert {file.stem for file in EXAMPLES.glob("*.py")} == {*STORIES, *others}
    page = (EXAMPLES.parent / "docs" / "examples.md").read_text("utf-8")
    for name in STORIES:
        assert f"(../examples/{name}.py)" in page


@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_short(name: str) -> None:
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text("utf-8"))
    statements = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    assert len(statements) <= 16


def contents(folder: Path) -> dict[Path, int]:
    """Return every file of a folder with the time of its last change."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def promised(name: str) -> str:
    """Return what the docstring of a story says that it prints."""
    told = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text("utf-8")))
    return str(told).split("It prints::\n")[1]


def beginnings(printed: str) -> Counter[str]:
    """Return the lines up to their first number or colon: these are the same everywhere."""
    lines = (re.split(r"[\d:]", line.strip(), maxsplit=1)[0] for line in printed.splitlines())
    return Counter(line.strip() for line in lines if line.strip())
