"""The comparison report: its numbers, its honesty about failures, and its harmlessness."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from page_reader import read
from splmll import SPLMLL
from splmll.experiments.published import published
from splmll.experiments.report import FittedModel, write_report
from splmll.experiments.report.landmarks import heat_map
from synthetic_results import SIZES, TWENTY_THREE, synthetic_results, with_failure

mpl.use("Agg")

EVIL = '</script><script>alert("1")</script> & <b>"quotes"</b> $title'
N_LABELS = 5


def runs(values: dict[tuple[str, str], list[float]], **changes: str) -> pd.DataFrame:
    """Results of hand-made Hamming losses, data set and method -> one value per repetition."""
    conditions = {
        "protocol": "held-out",
        "preprocessing": "none",
        "threshold": "own",
        "search": "none",
        "status": "done",
        "fold": 0,
    }
    return pd.DataFrame(
        [
            {"data": data, "method": method, "repetition": seed, "seed": seed, "hamming_loss": loss}
            | conditions
            | changes
            for (data, method), losses in values.items()
            for seed, loss in enumerate(losses)
        ]
    )


def write(results: pd.DataFrame, tmp_path: Path, **options: object) -> str:
    options = {"measures": ["hamming_loss"], **options}
    return write_report(results, tmp_path / "report.html", **options).read_text("utf-8")


def sections_of(page: str) -> list[str]:
    return re.findall(r"<section id=.*?</section>", page, flags=re.DOTALL)


def row_of(table: str, method: str) -> str:
    rows = re.findall(r"<tr>.*?</tr>", table, flags=re.DOTALL)
    return next(row for row in rows if re.search(rf"<th[^>]*>{re.escape(method)}</th>", row))


def cells_of(row: str) -> list[str]:
    """The cells of a row: class and text without tags."""
    found = re.findall(r'<td id="[^"]*" class="([^"]*)"\s*>(.*?)</td>', row, flags=re.DOTALL)
    marks = [next((mark for mark in ("best", "second") if mark in name), "") for name, _ in found]
    texts = [re.sub(r"<[^>]*>", "", text) for _, text in found]
    return [f"{text} {mark}".strip() for text, mark in zip(texts, marks)]


def table_of(page: str, data: str) -> str:
    return re.search(rf'<table[^>]*data-name="{data}".*?</table>', page, flags=re.DOTALL)[0]


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 6))
    Y = (X @ rng.normal(size=(6, N_LABELS)) + 0.3 * rng.normal(size=(150, N_LABELS)) > 0.4) * 1
    return X, Y


@pytest.fixture(scope="module")
def model(problem: tuple[np.ndarray, np.ndarray]) -> SPLMLL:
    X, Y = problem
    names = ["sea", "boat", "sand", "sky", EVIL]
    labels = pd.DataFrame(Y[:100], columns=names)
    return SPLMLL("linear", n_landmarks=3, random_state=0).fit(X[:100], labels)


# Numbers ----------------------------------------------------------------------------------------


def test_means_deviations_marks_and_ranks_of_a_small_example(tmp_path: Path) -> None:
    results = runs(
        {
            ("birds", "BR"): [0.30, 0.32],  # 0.310 ± 0.014
            ("birds", "RF"): [0.20, 0.20],  # 0.200 ± 0.000
            ("birds", "mine"): [0.25, 0.27],  # 0.260 ± 0.014
            ("trees", "BR"): [0.10, 0.10],
            ("trees", "RF"): [0.40, 0.40],
            ("trees", "mine"): [0.30, 0.30],
        }
    )
    page = write(results, tmp_path)
    birds = table_of(page, "birds")
    assert re.findall(r"row_heading[^>]*>(.*?)</th>", birds) == ["RF", "mine", "BR"]
    assert cells_of(row_of(birds, "RF"))[0] == "0.200 ± 0.000 best"
    assert cells_of(row_of(birds, "mine"))[0] == "0.260 ± 0.014 second"
    assert cells_of(row_of(birds, "BR"))[0] == "0.310 ± 0.014"
    # BR and mine have the ranks 3, 1 and 2, 2; RF has 1, 3: all three have the mean 2.
    assert "BR, RF, mine share the best average rank, 2.00 among 3 methods" in page
    assert "over 2 data sets and 1 measure. All 12 runs finished." in page


def test_the_best_is_named_whoever_it_is_and_the_place_of_ours_too(tmp_path: Path) -> None:
    page = write(
        runs({("a", "RF"): [0.1], ("a", "BR"): [0.2], ("a", "SPL-MLL"): [0.3], ("a", "LP"): [0.4]}),
        tmp_path,
    )
    assert "RF has the best average rank, 1.00" in page
    assert "The best version of SPL-MLL, SPL-MLL, is at place 3 with 3.00." in page


def test_methods_are_ranked_where_most_of_them_can_be_compared(tmp_path: Path) -> None:
    # Three methods on a and b, and others on c alone: 3 x 2 results are more than 2 x 1 or 1 x 3.
    results = runs(
        {
            **{(data, method): [loss] for data in "ab" for method, loss in
               (("BR", 0.3), ("RF", 0.2), ("LP", 0.4))},
            ("c", "RF"): [0.5],
            ("c", "mine"): [0.1],
        }
    )  # fmt: skip
    page = write(results, tmp_path)
    expected = "RF has the best average rank, 1.00 among 3 methods over 2 of 3 data sets (a, b)"
    assert expected in page
    ranks = page.split(">Average ranks</h3>")[1].split("</figure>")[0]
    assert cells_of(row_of(ranks, "mine")) == ["-", "-", "0"]
    assert "not ranked: results are missing" in ranks


def test_printed_numbers_stand_beside_measured_ones_with_the_difference(tmp_path: Path) -> None:
    results = runs({("scene", "ML-kNN"): [0.098], ("scene", "mine"): [0.2]})
    page = write(results, tmp_path, published=published())
    scene = table_of(page, "scene")
    # Table 2 prints .095 for ML-kNN on scene.
    assert "printed 0.095" in row_of(scene, "ML-kNN")
    assert "printed" not in row_of(scene, "mine")
    against = page.split("Measured against printed")[1]
    assert "+0.003" in row_of(against, "ML-kNN")
    (number,) = re.findall(r'<a href="#(.*?)">', row_of(against, "ML-kNN"))
    assert re.search(rf'id="{number}"><sup>1</sup> unexplained<', against)
    assert ">mine</th>" not in against.split("</table>")[0]


def test_nothing_printed_leaves_the_comparison_with_print_out(tmp_path: Path) -> None:
    page = write(runs({("mine", "BR"): [0.1]}), tmp_path, published=published())
    assert "Measured against printed" not in page


# Protocols and failures -------------------------------------------------------------------------


def test_every_protocol_has_a_section_of_its_own(tmp_path: Path) -> None:
    values = {("scene", "BR"): [0.1], ("scene", "RF"): [0.2]}
    training = {("scene", "BR"): [0.031], ("scene", "RF"): [0.032]}
    results = pd.concat([runs(values), runs(training, protocol="resubstitution")])
    page = write(results, tmp_path)
    held_out, same_rows, _ = sections_of(page)
    assert "<h2>Held-out test rows</h2>" in held_out
    assert "<h2>Resubstitution (training rows)</h2>" in same_rows
    assert "0.031" not in held_out
    assert "0.100" not in same_rows
    assert "say nothing about new rows" in same_rows
    assert "Average ranks" in held_out
    assert "Average ranks" not in same_rows
    assert "Resubstitution (training rows): Measured on the training rows, so nobody is" in page


def test_sections_of_one_protocol_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    values = {("scene", "BR"): [0.1]}
    results = pd.concat([runs(values), runs(values, preprocessing="minmax")])
    headings = re.findall(r"<h2>(.*?)</h2>", write(results, tmp_path))
    assert headings[:2] == [
        "Held-out test rows, preprocessing none",
        "Held-out test rows, preprocessing minmax",
    ]


def test_a_failure_is_a_word_with_its_error_and_never_a_number(tmp_path: Path) -> None:
    results = with_failure(synthetic_results(repetitions=2), "yeast", "LP")
    page = write(results, tmp_path, measures=["ranking_loss", "micro_f1"])
    row = row_of(table_of(page, "yeast"), "LP")
    assert cells_of(row)[:2] == ["timeout", "timeout"]
    story = re.search(r'<details class="more"><summary>LP on .*?</details>', page, re.DOTALL)[0]
    assert "ran out of time (stopped after 60 s &amp; &lt;b&gt;more&lt;/b&gt;)" in story
    assert "Traceback (most recent call last)" in story
    assert "Of 42 runs, 2 ran out of time." in page
    # It is not ranked over all data sets, and the report says so.
    ranks = page.split(">Average ranks</h3>")[1].split("</figure>")[0]
    assert "not ranked: results are missing" in ranks
    assert cells_of(row_of(ranks, "LP")) == ["-", "-", "-", "2"]


def test_a_mean_of_fewer_runs_says_so(tmp_path: Path) -> None:
    results = with_failure(synthetic_results(repetitions=3), "scene", "BR", "memory", runs=1)
    row = row_of(table_of(write(results, tmp_path, measures=["micro_f1"]), "scene"), "BR")
    assert re.match(r"0\.\d{3} ± .*\(1 of 3 runs ran out of memory\)", cells_of(row)[0])


def test_if_everything_fails_there_is_still_a_report(tmp_path: Path) -> None:
    results = runs({("a", "BR"): [np.nan], ("a", "RF"): [np.nan]}, status="failed")
    page = write(results, tmp_path)
    assert "Fewer than two methods have all results, so nobody is ranked." in page
    assert page.count('<span class="failed">failed</span>') == 2


# The file ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(
    tmp_path_factory: pytest.TempPathFactory,
    model: SPLMLL,
    problem: tuple[np.ndarray, np.ndarray],
) -> str:
    """A report in which every string from outside is an attack."""
    X, Y = problem
    results = synthetic_results(methods=("BR", "ML-kNN", "EPS", "SPL-MLL"), repetitions=2)
    results = with_failure(results, "yeast", "EPS")
    for column, value in (("data", "scene"), ("method", "EPS")):
        results[column] = results[column].replace(value, EVIL)
    for column in ("settings", "versions", "host", "started"):
        results[column] = EVIL
    results.loc[results["status"] != "done", ["error", "traceback"]] = EVIL
    fitted = FittedModel(model, X[100:], Y[100:])
    path = tmp_path_factory.mktemp("report") / "report.html"
    options = {"published": published(), "models": {EVIL: fitted}, "title": EVIL}
    return write_report(results, path, **options).read_text("utf-8")


def test_words_from_outside_stay_words(page: str) -> None:
    reader = read(page)
    assert reader.tags.count("script") == 1
    assert "b" not in reader.tags
    text = "".join(reader.text)
    for place in (f"Landmarks of {EVIL}", f"{EVIL} on yeast: ran out of time ({EVIL})"):
        assert place in text


def test_only_the_scripts_own_text_is_allowed_to_run(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', page)[1]
    script = re.search(r"<script>(.*?)</script>", page, flags=re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy


def test_the_file_refers_to_nothing_outside_and_to_everything_inside_rightly(page: str) -> None:
    reader = read(page)
    assert len(reader.ids) == len(set(reader.ids))
    assert {address[0] for address in reader.addresses} == {"#"}
    inner = {address[1:] for address in reader.addresses}
    inner |= set(re.findall(r"url\(#([^)]+)\)", page))
    assert inner <= set(reader.ids)
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/)", page)


@pytest.mark.slow
def test_a_full_comparison_stays_small(tmp_path: Path) -> None:
    results = synthetic_results(tuple(SIZES), tuple(TWENTY_THREE), repetitions=2)
    file = write_report(results, tmp_path / "report.html", published=published())
    assert file.stat().st_size < 1_500_000
    assert file.read_text("utf-8").count('class="numbers" data-name="') >= len(SIZES)


def test_the_same_results_give_the_same_page_and_are_not_changed(tmp_path: Path) -> None:
    results = synthetic_results(("scene", "yeast"), ("BR", "LP", "SPL-MLL"), repetitions=2)
    before = results.copy()
    first = write_report(results, tmp_path / "a.html", published=published()).read_bytes()
    second = write_report(results, tmp_path / "b.html", published=published()).read_bytes()
    assert first == second
    pd.testing.assert_frame_equal(results, before)


def test_results_that_cannot_be_shown_are_refused_in_words(tmp_path: Path) -> None:
    results = runs({("a", "BR"): [0.1]})
    with pytest.raises(ValueError, match="no column 'protocol'"):
        write(results.drop(columns="protocol"), tmp_path)
    with pytest.raises(ValueError, match="empty"):
        write(results[:0], tmp_path)
    with pytest.raises(ValueError, match="no micro_f1"):
        write(results, tmp_path, measures=["micro_f1"])
    assert list(tmp_path.iterdir()) == []


def test_settings_are_told_apart_where_they_differ(tmp_path: Path) -> None:
    results = runs({("a", "BR"): [0.1], ("b", "BR"): [0.1], ("a", "RF"): [0.1], ("b", "RF"): [0.1]})
    results["settings"] = ['{"C": 1}', '{"C": 10}', "{}", "{}"]
    results["versions"] = ['{"numpy": "2.0"}'] * 3 + ['{"numpy": "2.1"}']
    last = sections_of(write(results, tmp_path))[-1]
    for row in (
        '<th scope="row">BR</th><td>a</td><td>C = 1</td>',
        '<th scope="row">BR</th><td>b</td><td>C = 10</td>',
        '<th scope="row">RF</th><td>a, b</td><td>defaults</td>',
        '<th scope="row">numpy = 2.0</th><td>3</td>',
        '<th scope="row">numpy = 2.1</th><td>1</td>',
    ):
        assert row in last


# Landmarks --------------------------------------------------------------------------------------


def test_the_heat_map_shows_the_weights_of_the_model(model: SPLMLL) -> None:
    names = list(model.label_names_in_)
    drawn = heat_map(FittedModel(model)).to_html(1)
    landmarks = [names.index(name) for name in model.landmarks_]
    expected = model.selection_[landmarks, None] * model.recovery_

    head, body = re.search(r"<thead>(.*)</thead>(.*)</table>", drawn, flags=re.DOTALL).groups()
    labels, rows = (re.findall(r"<span>(.*?)</span>", part) for part in (head, body))
    assert labels == [html.escape(name) for name in names]
    assert rows == [html.escape(name) for name in model.landmarks_]
    shown = [float(cell.replace("−", "-")) for cell in re.findall(r">([−\d.]+)</td>", body)]  # noqa: RUF001
    np.testing.assert_allclose(np.reshape(shown, expected.shape), expected, atol=0.0051)


def test_examples_are_what_the_model_predicts(
    model: SPLMLL, problem: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, Y = problem
    names = [f"label {number}" for number in range(N_LABELS)]
    fitted = FittedModel(model, X[100:103], Y[100:103], label_names=names)
    page = write(runs({("a", "BR"): [0.1]}), tmp_path, models={"a": fitted})
    predicted = np.asarray(model.predict(X[100:103]))
    items = re.search(r'<ul class="examples">(.*)</ul>', page, flags=re.DOTALL)[1].split("<h4>")[1:]
    chosen = {list(model.label_names_in_).index(name) for name in model.landmarks_}
    for item, true, guess in zip(items, Y[100:103], predicted, strict=True):
        shown = dict(
            re.findall(r'<span class="chip \w+">. (.*?)<span class="h.*?> \((\w+)\)', item)
        )
        expected = {}
        for number, name in enumerate(names):
            if true[number] and guess[number]:
                expected[name] = "landmark" if number in chosen else "correct"
            elif true[number] or guess[number]:
                expected[name] = "missed" if true[number] else "wrong"
        assert shown == expected


def test_a_model_alone_shows_its_landmarks_and_a_path_is_drawn(
    model: SPLMLL, problem: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, Y = problem
    results = runs({("a", "BR"): [0.1]})
    alone = write(results, tmp_path, models={"a": model})
    assert "3 of 5 labels are landmarks." in alone
    assert "Example predictions" not in alone
    assert "How many landmarks" not in alone
    path = model.landmark_path(X[:100], Y[:100], counts=[1, 3])
    assert "How many landmarks" in write(
        results, tmp_path, models={"a": FittedModel(model, path=path)}
    )


def test_what_does_not_fit_the_model_is_refused(
    model: SPLMLL, problem: tuple[np.ndarray, np.ndarray]
) -> None:
    with pytest.raises(ValueError, match="X and Y together"):
        FittedModel(model, problem[0])
    with pytest.raises(ValueError, match="2 label names for a model of 5"):
        FittedModel(model, label_names=["a", "b"])
