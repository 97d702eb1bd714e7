"""What ``splmll fit`` prints, how it tells of its progress, and rows that are odd or hopeless."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_runs import here, trouble
from splmll.cli._progress import Stages
from splmll.tagging import Tagger, read_examples
from tagged_notes import write_notes

WORDS = [f"word{k}" for k in range(60)]


def write_table(path: Path, tags: list[str], bodies: list[str] | None = None) -> Path:
    rng = np.random.default_rng(0)
    if bodies is None:
        bodies = [" ".join([*rng.choice(WORDS, 5), tag.split(";")[0]]) for tag in tags]
    pd.DataFrame({"body": bodies, "tags": tags}).to_csv(path, index=False)
    return path


# A screen ---------------------------------------------------------------------------------------


def test_the_report_fits_a_screen(tmp_path, capfd, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(0)
    names = [f"a label whose name is rather long, number {k}" for k in range(25)]
    # Every label brings a companion along, so that landmarks carry others.
    rows = [sorted({k, k - k % 5} | {int(rng.integers(25))}) for k in rng.integers(0, 25, 400)]
    bodies = [" ".join(f"word{k}" for k in row) for row in rows]
    tags = [";".join(names[k] for k in row) for row in rows]
    tags[0] += ";once"
    file = write_table(tmp_path / "notes.csv", tags, bodies)
    monkeypatch.chdir(tmp_path)
    command = ["fit", file, "--labels", "tags", "--set", "pull=0.01", "--landmarks", 20]
    status, said, _ = here(capfd, *command)
    assert status == 0
    lines, words = said.splitlines(), " ".join(said.split())
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    assert "Note: 1 label is in fewer than 5 rows, too few to learn it well: 'once'." in words
    assert "each label alone  with landmarks" in said
    assert "1 label has too few to judge" in said
    assert "20 landmarks of 26 labels, the strongest 10 that carry others" in said
    assert "0.000" not in said[said.index("20 landmarks") :]
    assert "only itself" not in said
    assert "splmll evaluate model --all" in said
    _, said, _ = here(capfd, "evaluate", "model", "--all")
    assert sum(line.startswith(" a label") for line in said.splitlines()) == 25


def test_evaluate_repeats_what_the_fit_measured(tmp_path, capfd) -> None:
    notes = write_notes(tmp_path / "notes.csv", 100)
    fit = ["fit", notes, "--labels", "tags", "--ignore", "id", "--out", tmp_path / "m"]
    measured = json.loads(here(capfd, *fit, "--test-size", 0.3, "--json")[1])["measured"]
    assert (measured["how"], measured["rows"]) == ("held out", 30)
    assert json.loads(here(capfd, "evaluate", tmp_path / "m", "--json")[1]) == measured
    assert "SPL-MLL on 30 rows that were held out" in here(capfd, "evaluate", tmp_path / "m")[1]


def test_options_of_words_reach_the_model(tmp_path, capfd) -> None:
    notes = write_notes(tmp_path / "notes.csv", 60)
    fit = ["fit", notes, "--labels", "tags", "--ignore", "id", "--out", tmp_path / "m"]
    config = tmp_path / "run.yaml"
    typed = ["--hash", "--no-char-ngrams", "--min-count", 2, "--save-config", config]
    assert here(capfd, *fit, *typed)[0] == 0
    assert here(capfd, "fit", "--config", config, "--out", tmp_path / "again")[0] == 0
    for model in ("m", "again"):
        words = Tagger.load(tmp_path / model).pipeline[0].named_transformers_["text"]
        assert (words.hashed_, words.characters_) == (True, False)


# Progress ---------------------------------------------------------------------------------------


def tell(stages: Stages) -> None:
    with stages:
        for share in (0.0, 0.5, 1.0):
            stages("linear classifiers", share)
        stages("writing model")


def test_a_line_for_each_stage_where_there_is_no_terminal(capfd) -> None:
    tell(Stages())
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "linear classifiers\nwriting model\n")


def test_a_bar_on_a_terminal(monkeypatch, capfd) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    tell(Stages())
    assert "linear classifiers" in terminal.getvalue()
    assert "━" in terminal.getvalue()
    assert capfd.readouterr().out == ""


def test_the_time_left_follows_from_the_time_gone() -> None:
    from rich.progress import Progress

    from splmll.cli._progress import TimeLeft

    now = [0.0]
    bars = Progress(get_time=lambda: now[0])
    bars.add_task("fit", total=1.0, began=(0.0, 0.0))
    [task] = bars.tasks
    assert TimeLeft().render(task).plain == ""
    now[0] = 30.0
    bars.update(task.id, completed=0.25)
    assert TimeLeft().render(task).plain == "1:30 left"


# Odd and hopeless rows --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "the column 'body' is empty; leave it out with --ignore body"),
        ("?", "the column 'body' has no word that occurs in several rows; leave it out"),
    ],
)
def test_texts_without_words(body, words, tmp_path, capfd) -> None:
    tags = ["oil", "pump"] * 60
    file = write_table(tmp_path / "t.csv", tags, [body] * 120)
    table = pd.read_csv(file, keep_default_na=False).assign(more=f"{'long ' * 20} text")
    table.to_csv(file, index=False)
    command = ["fit", file, "--text", "body", "--labels", "tags", "--out", tmp_path / "m"]
    status, _, complaint = here(capfd, *command)
    assert status == 2
    assert words in trouble(complaint)
    assert not (tmp_path / "m").exists()


def test_labels_that_occur_once_are_kept_and_told(tmp_path, capfd) -> None:
    tags = ["oil", "pump;oil"] * 30
    tags[0], tags[1] = "once", "single"
    file = write_table(tmp_path / "t.csv", tags)
    command = ["fit", file, "--labels", "tags", "--out", tmp_path / "m", "--json"]
    found = json.loads(here(capfd, *command)[1])
    assert found["label_names"] == ["oil", "once", "pump", "single"]
    assert found["notes"] == [
        "2 labels are in fewer than 5 rows, too few to learn them well: 'once', 'single'. "
        "--min-count 5 leaves them out."
    ]
    found = json.loads(here(capfd, *command, "--min-count", 5)[1])
    assert (found["label_names"], found["notes"], found["rows"]) == (["oil", "pump"], [], 60)
    status, _, complaint = here(capfd, *command, "--min-count", 100)
    assert status == 2
    assert "no label has 100 rows or more; the most frequent one has 58" in complaint


def test_fifty_thousand_tags(tmp_path, capfd) -> None:
    tags = [f"ticket {k};{'oil' if k % 2 else 'pump'}" for k in range(49_998)]
    file = write_table(tmp_path / "t.csv", tags, ["oil"] * len(tags))
    command = ["fit", file, "--labels", "tags", "--out", tmp_path / "m"]
    status, _, complaint = here(capfd, *command)
    assert status == 2
    assert "has 50,000 different tags in 49,998 rows, and a tag is in 2.0 rows" in complaint
    assert "--min-count 5" in complaint
    data, _ = read_examples(file, ["tags"], text=["body"], min_count=5)
    assert (data.label_names, data.Y.shape) == (["oil", "pump"], (49_998, 2))


def test_rows_to_tag_without_any_known_word(tmp_path, capfd) -> None:
    notes = write_notes(tmp_path / "notes.csv", 60)
    fit = ["fit", notes, "--labels", "tags", "--ignore", "id", "--ignore", "hours"]
    assert here(capfd, *fit, "--out", tmp_path / "m")[0] == 0
    (tmp_path / "new.csv").write_text("body,site\nxyzzy,north\ndoor,south\n")
    command = ["predict", tmp_path / "m", tmp_path / "new.csv", "--out", tmp_path / "t.csv"]
    status, said, _ = here(capfd, *command)
    assert status == 0
    assert "1 row has no word that the model knows" in said
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 3
