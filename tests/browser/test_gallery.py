"""The gallery in out/docs, run by ``make docs``: each example draws and tells something true."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from splmll.datasets.digit_scenes import DIGIT_NAMES

ROOT = Path(__file__).parents[2]
EXAMPLES, GALLERY = ROOT / "examples", ROOT / "out" / "docs" / "gallery"
PRINTED = re.compile(r'<div class="sphx-glr-script-out.*?<pre>(.*?)</pre>', re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)?")


def number_after(words: str, printed: str) -> float:
    return float(NUMBER.search(printed.split(words, 1)[1])[0])


def check_tag_installed_packages(printed: str) -> None:
    assert int(printed.split()[0]) > 50
    alone, carried = re.findall(r"^(?:embedding alone|with landmarks) +([\d.]+)", printed, re.M)
    assert float(carried) > 0.6
    assert float(carried) > float(alone) - 0.02
    assert "Sphinx" in printed or "Developers" in printed


def check_tag_a_text_table(printed: str) -> None:
    assert number_after("micro-F1, out of fold:", printed) > 0.8
    tags = dict(line.split(": ") for line in printed.splitlines()[2:])
    assert {"network", "wifi"} <= set(tags["my laptop finds no wifi in the canteen"].split(", "))
    assert len(tags) == 3


def check_landmark_budget(printed: str) -> None:
    budgets = re.findall(r"^(\d+) of 21 tags predicted: micro-F1 (.*)$", printed, re.MULTILINE)
    values = [float(value) for _, value in budgets]
    assert [int(budget) for budget, _ in budgets] == [2, 4, 8, 10, 12]
    assert values == sorted(values)
    assert values[-1] > 0.85
    assert values[0] < 0.6
    assert printed.count(" carries ") == 8


def check_recover_from_landmarks(printed: str) -> None:
    landmarks = printed.splitlines()[0].split(": ")[1].split(", ")
    assert len(set(landmarks)) == 5
    by_chance = number_after("by chance:", printed)
    assert number_after("recovered from the landmarks:", printed) > by_chance + 0.1
    assert number_after("predicted from the features:", printed) > by_chance


def check_fewest_questions(printed: str) -> None:
    lines = re.findall(r"^(\d) questions: ([\d.]+), landmarks ([\d.]+)$", printed, re.MULTILINE)
    assert [int(asked) for asked, _, _ in lines] == [0, 2, 4, 8]
    chosen = [float(value) for _, value, _ in lines]
    assert chosen == sorted(chosen)
    assert chosen[-1] > 0.95
    for _, by_row, in_order in lines[1:]:
        assert float(by_row) > float(in_order) > chosen[0]


def check_labels_that_look_wrong(printed: str) -> None:
    flipped, of = (int(part) for part in re.search(r"(\d+) of (\d+) labels", printed).groups())
    assert number_after("of the first 200,", printed) / 100 > 8 * flipped / of
    assert printed.count("given, though") == 3


def check_choose_a_threshold(printed: str) -> None:
    lines = {line.split()[0]: line.split()[1:] for line in printed.splitlines()[1:]}
    measured = {name: [float(cell) for cell in cells] for name, cells in lines.items()}
    assert len(measured) == 5
    hamming, micro, macro = ([cells[k] for cells in measured.values()] for k in range(3))
    assert measured["hamming"][0] <= min(hamming) + 0.005
    assert measured["micro_f1"][1] >= max(micro) - 0.01
    assert measured["per_label"][2] >= max(macro) - 0.02
    assert measured["0.5"][2] < measured["per_label"][2]


def check_calibrated_probabilities(printed: str) -> None:
    assert number_after("calibrated: Brier score", printed) < 0.2
    assert number_after("as it is: Brier score", printed) > 0.22


def check_unknown_labels(printed: str) -> None:
    lines = [[float(cell) for cell in line.split()] for line in printed.splitlines()[1:]]
    assert [share for share, _, _ in lines] == [0, 0.4, 0.8]
    assert lines[0][1] == lines[0][2]
    assert lines[-1][1] > lines[-1][2] + 0.05
    assert lines[-1][1] > lines[0][1] - 0.05


def check_larger_than_memory(printed: str) -> None:
    assert number_after("difference of scores:", printed) < 1e-8


def check_your_own_encoder(printed: str) -> None:
    tags = printed.split("tags: ")[1].strip().split(", ")
    assert {"network", "printer", "toner", "wifi"} <= set(tags)


def check_imbalanced_labels(printed: str) -> None:
    micro, macro = (
        {
            rule: number_after(f"{name}-F1", printed.split(f"{rule}:")[1])
            for rule in ("micro_f1", "per_label")
        }
        for name in ("micro", "macro")
    )
    assert micro["micro_f1"] > micro["per_label"]
    assert macro["per_label"] > macro["micro_f1"]


def check_why_these_landmarks(printed: str) -> None:
    strengths = [float(value) for value in re.findall(r"^Class\d+ +(0\.\d{3})$", printed, re.M)]
    assert len(strengths) == 6
    assert strengths == sorted(strengths, reverse=True)
    assert "score" in printed
    assert "base" in printed


def check_digit_scenes(printed: str) -> None:
    assert number_after("micro_f1", printed) > 0.65
    landmarks = printed.split("landmarks (7 of 10): ")[1].split()
    assert len(landmarks) == 7
    assert set(landmarks) < set(DIGIT_NAMES)


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
    assert number_after("largest difference", printed) < 1e-5


def check_dask_cluster(printed: str) -> None:
    assert "3 units: {'done': 3}" in printed
    values = re.findall(r"^(?:SPL-MLL \(linear\)|ML-kNN|PLST) +([\d.]+)", printed, re.MULTILINE)
    assert len(values) == 3
    assert all(0.55 < float(value) < 0.75 for value in values)
    assert 0.6 < number_after("blocks: micro-F1", printed) < 0.75


STORIES: dict[str, Callable[[str], None]] = {
    "tag_installed_packages": check_tag_installed_packages,
    "tag_a_text_table": check_tag_a_text_table,
    "labels_that_look_wrong": check_labels_that_look_wrong,
    "choose_a_threshold": check_choose_a_threshold,
    "calibrated_probabilities": check_calibrated_probabilities,
    "unknown_labels": check_unknown_labels,
    "larger_than_memory": check_larger_than_memory,
    "your_own_encoder": check_your_own_encoder,
    "imbalanced_labels": check_imbalanced_labels,
    "why_these_landmarks": check_why_these_landmarks,
    "digit_scenes": check_digit_scenes,
    "landmark_budget": check_landmark_budget,
    "fewest_questions": check_fewest_questions,
    "recover_from_landmarks": check_recover_from_landmarks,
    "compare_methods": check_compare_methods,
    "pipeline_grid_search": check_pipeline_grid_search,
    "save_load_onnx": check_save_load_onnx,
    "dask_cluster": check_dask_cluster,
}


@pytest.mark.parametrize("name", STORIES)
def test_an_example_draws_and_tells_something_true(name: str) -> None:
    page = (GALLERY / f"{name}.html").read_text("utf-8")
    assert "sphx-glr-single-img" in page or "sphx-glr-multi-img" in page
    printed = "".join(PRINTED.findall(page))
    STORIES[name](html.unescape(re.sub("<[^>]+>", "", printed)))


def test_every_example_is_in_the_gallery_and_leaves_nothing_behind() -> None:
    # What examples read, and a program with a test of its own.
    others = {"tickets.py", "demo.py", "GALLERY_HEADER.rst"}
    there = {file.name for file in EXAMPLES.iterdir() if file.name != "__pycache__"}
    assert there == {*(f"{name}.py" for name in STORIES), *others}
