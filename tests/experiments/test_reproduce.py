"""The paper's items as files: what is written, what is said, and that a second run adds nothing."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from splmll.experiments import reproduce
from splmll.experiments.reproduce import ITEMS, Reproduction, check_items


def test_all_means_every_item_in_the_order_of_the_paper() -> None:
    assert check_items(["all"]) == list(ITEMS)
    assert check_items(["figure6", "table2", "figure3"]) == ["table2", "figure3", "figure6"]


def test_an_unknown_item_gets_a_hint() -> None:
    with pytest.raises(ValueError, match="Did you mean 'table2'"):
        check_items(["tabel2"])


def test_a_table_without_the_data_asked_for_is_refused_before_anything_runs(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"table3 has none of .* emotions; it has tmc2007"):
        Reproduction(tmp_path / "out", data=["emotions"]).run(["table1", "table3"])
    assert not (tmp_path / "out").exists()


def test_table_1_and_figure_4_are_files_named_after_them(data_home, tmp_path) -> None:
    files = Reproduction(tmp_path / "out", quick=True).run(["figure4", "table1"])
    assert [file.name for file in files] == [
        "table1.txt",
        "table1.md",
        "table1.tex",
        "table1.html",
        "figure4.png",
        "figure4.svg",
        "figure4.txt",
        "report.html",
    ]
    page = files[-1].read_text("utf-8")
    assert "<h2>Table 1</h2>" in page
    assert "<h2>Figure 4</h2>" in page
    assert "Figure 4: emotions that stand together" in page
    assert all(file.stat().st_size > 0 for file in files)
    yeast = next(line for line in files[1].read_text().splitlines() if "yeast" in line)
    assert re.sub(r"[| ]+", " ", yeast).split() == [
        *["yeast", "2417", "103", "14", "4.237"],
        *["2417", "103", "14", "4.200"],
    ]


@pytest.mark.slow
def test_a_table_says_its_protocol_and_is_not_measured_twice(
    data_home, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(reproduce, "QUICK_ROWS", 150)
    monkeypatch.setattr(reproduce, "TABLE_3_METHODS", ["PLST", "ML-CSSP"])

    def make() -> pd.DataFrame:
        made = Reproduction(tmp_path, quick=True, n_jobs=1)
        files = {file.name: file for file in made.run(["table3"])}
        assert {"table3.md", "table3-resubstitution.md", "report.html", "ranks.txt"} <= set(files)
        return pd.concat(made._results, ignore_index=True)

    first = make()
    assert set(first["status"]) == {"done"}
    assert set(first["protocol"]) == {"held-out", "resubstitution"}
    assert set(first["data"]) == {"tmc2007, 150 rows", "espgame-densehue, 150 rows"}
    again = make()
    assert again["finished"].tolist() == first["finished"].tolist()

    held_out = (tmp_path / "table3.md").read_text()
    on_training_rows = (tmp_path / "table3-resubstitution.md").read_text()
    assert "held-out" in held_out
    assert "resubstitution" not in held_out
    assert "measured on the training rows" in on_training_rows
    # The printed micro-F1 of ML-CSSP on tmc2007 stands beside the measured one.
    assert r"\[0.604" in held_out
    reasons = (tmp_path / "table3-differences.txt").read_text()
    assert "rows: printed for the whole data set, here a sample of 150 rows" in reasons
    assert "DenseHue" in reasons
