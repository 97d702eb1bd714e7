"""Commands that write: what stood there stays until the new is whole, whatever goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_runs import here, trouble, typed
from crash_states import recorded
from faults import FAULTS, Failing, calls_in, files_in
from splmll.tagging import Tagger, read_examples
from tagged_notes import write_notes


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_notes(tmp_path_factory.mktemp("notes") / "notes.csv", 60)


@pytest.fixture(scope="module")
def tagger(notes: Path) -> Tagger:
    data, reading = read_examples(notes, ["tags"], text=["body"], ignore=["id"])
    return Tagger.fit(data, reading=reading, random_state=0)


@pytest.mark.parametrize("fault", FAULTS)
def test_predict_leaves_the_old_file(
    fault: str, notes: Path, tagger: Tagger, tmp_path: Path, capfd: Any
) -> None:
    model, out = tmp_path / "model", tmp_path / "out" / "tags.csv"
    tagger.save(model)
    out.parent.mkdir()

    def predict(target: Path) -> tuple[int, str, str]:
        return here(capfd, "predict", model, notes, "--out", target)

    calls = calls_in(fault, lambda: predict(tmp_path / "trial.csv"))
    for n in calls[:: max(1, len(calls) // 40)]:  # most of them are calls of a load
        out.write_text("old")
        with Failing(fault, n) as failing:
            status, _, said = predict(out)
        if not failing.failed:
            continue
        assert status != 0
        assert "Traceback" not in said
        assert trouble(said)
        assert list(out.parent.iterdir()) == [out]
        assert out.read_text() == "old" or fault in ("fsync", "memory")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_power_cut_leaves_the_old_table_or_the_new(
    suffix: str, notes: Path, tagger: Tagger, tmp_path: Path, capfd: Any
) -> None:
    model, place, after = tmp_path / "model", tmp_path / "place", tmp_path / "after"
    tagger.save(model)
    place.mkdir()
    after.mkdir()
    out = place / f"tags{suffix}"
    out.write_bytes(b"old")
    with recorded(place) as disk:
        status, _, said = here(capfd, "predict", model, notes, "--out", out)
    assert status == 0, said
    found = {(after / out.name).read_bytes() for _ in disk.restore(after)}
    assert found == {b"old", out.read_bytes()}
    # When the command has ended, the new one is there to stay.
    disk.states.clear()
    disk.note("the end")
    assert {(after / out.name).read_bytes() for _ in disk.restore(after)} == {out.read_bytes()}


@pytest.mark.parametrize("fault", FAULTS)
def test_fit_leaves_the_old_model(
    fault: str,
    notes: Path,
    tagger: Tagger,
    tmp_path: Path,
    capfd: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Learning writes nothing; it need not be done once for each fault.
    monkeypatch.setattr(Tagger, "fit", lambda *_, **__: tagger)
    out = tmp_path / "top" / "model"

    def fit(target: Path) -> tuple[int, str, str]:
        return here(capfd, "fit", notes, "--labels", "tags", "--out", target)

    tagger.save(out)
    before = files_in(out.parent)
    calls = calls_in(fault, lambda: fit(tmp_path / "trial"))
    for n in calls[:: max(1, len(calls) // 40)]:
        with Failing(fault, n) as failing:
            status, _, said = fit(out)
        if not failing.failed:
            continue
        assert status != 0
        assert "Traceback" not in said
        assert trouble(said)
        assert files_in(out.parent) == before
        assert Tagger.load(out).label_names == tagger.label_names


@pytest.mark.parametrize("command", ["predict", "recover"])
def test_the_result_does_not_replace_what_is_read(
    command: str, notes: Path, tagger: Tagger, tmp_path: Path, capfd: Any
) -> None:
    model, table, link = tmp_path / "model", tmp_path / "notes.csv", tmp_path / "link.csv"
    tagger.save(model)
    table.write_bytes(notes.read_bytes())
    link.hardlink_to(table)
    for out in (table, tmp_path / "." / "model" / ".." / "notes.csv", link):
        status, _, said = here(capfd, command, model, table, "--out", out)
        assert status == 2
        assert "this is the input file; give another name" in said
        assert table.read_bytes() == notes.read_bytes()


def test_a_terminal_without_the_characters(tmp_path: Path) -> None:
    """What cannot be shown is written in another way; the model is there and all ends well."""
    table, model = tmp_path / "notes.csv", tmp_path / "model"
    kinds = [("green grass", "łąka 😀"), ("bad news", "źle")]
    rows = [f"{kinds[k % 2][0]} word{k % 7},{kinds[k % 2][1]}" for k in range(60)]
    table.write_text("\n".join(["body,tags", *rows]), encoding="utf-8")
    old = {"PYTHONIOENCODING": "cp1252"}
    done = typed("fit", table, "--labels", "tags", "--text", "body", "--out", model, **old)
    assert done.returncode == 0, done.stderr
    assert r"\u0142\u0105ka" in done.stdout
    assert Tagger.load(model).label_names == ["łąka 😀", "źle"]
    done = typed("predict", model, table, "--json", **old)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line)["tags"] for line in done.stdout.splitlines()]
    assert ["łąka 😀"] in found
