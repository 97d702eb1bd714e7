"""The demo, with a linear embedding in place of the blend so that it takes seconds."""

import functools
import importlib.util
import re
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

from splmll import SPLMLL, PublishedSPLMLL
from splmll.methods import BinaryRelevance, MLkNN

mpl.use("Agg")

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


@pytest.fixture(scope="module")
def demo():
    specification = importlib.util.spec_from_file_location("demo", DEMO)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_defaults_stand_beside_each_other(demo):
    models = [model for _, _, model in demo.models()]
    assert {type(model) for model in models} == {SPLMLL, PublishedSPLMLL, BinaryRelevance, MLkNN}
    shown = [model.get_params() for model in models]
    assert SPLMLL(random_state=demo.SEED).get_params() in shown
    assert BinaryRelevance().get_params() in shown
    assert MLkNN().get_params() in shown


def test_demo_prints_measures_and_landmarks_and_writes_the_page(
    demo, tmp_path, monkeypatch, capsys
):
    def quick(**changes):
        return SPLMLL("linear", random_state=0, **changes)

    monkeypatch.setattr(demo, "landmark_model", quick)
    short = functools.partial(PublishedSPLMLL, hidden_layer_sizes=(4,), max_epochs=2)
    monkeypatch.setattr(demo, "PublishedSPLMLL", short)
    monkeypatch.setattr(sys, "argv", ["demo.py", "--out", str(tmp_path)])
    demo.main()
    plt.close("all")
    printed = capsys.readouterr().out
    page = (tmp_path / "demo.html").read_text("utf-8")
    for name in ("SPLMLL", "7 landmarks", "published", "BR", "ML-kNN", "Class13"):
        assert name in printed
        assert name in page
    for title in ("Ranking loss", "Hamming loss", "Average precision", "Micro-F1", "Macro-F1"):
        assert title in page
    assert page.count("<svg") == 4
    assert len(re.findall('class="best"', page)) >= 5
    for condition in ("held-out", "1500 rows", "seed 0", "out-of-fold", "Ties"):
        assert condition in page
    assert not re.search(r'(?:src|href)="http', page)


def test_best_is_judged_by_what_is_printed(demo):
    results = pd.DataFrame({"ranking_loss": [0.1004, 0.0996, 0.2], "micro_f1": [0.5, 0.7, 0.6]})
    assert demo.best_lines(results, "ranking_loss") == {0, 1}
    assert demo.best_lines(results, "micro_f1") == {1}
