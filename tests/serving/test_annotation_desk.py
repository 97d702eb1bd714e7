"""The desk of annotators over HTTP: only its own page may answer, and a new model takes over."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from asgi_client import Client

from splmll.serving import Annotation, create_app
from splmll.tagging import Tagger, read_examples

PATIENCE = 20.0  # seconds


@pytest.fixture
def table(models: Path, tmp_path: Path) -> Path:
    rows = pd.read_csv(models / "new.csv", dtype=str, keep_default_na=False)
    rows.drop(columns="tags").to_csv(tmp_path / "new.csv", index=False)
    shutil.copytree(models / "notes", tmp_path / "model")
    return tmp_path / "new.csv"


@pytest.fixture
def wanted(table: Path) -> Annotation:
    return Annotation(table, table.with_name("answers.sqlite"), enough=0.0, annotator="ann")


@pytest.fixture
def desk(table: Path, wanted: Annotation) -> Iterator[Client]:
    app = create_app({"notes": table.with_name("model")}, annotation=wanted)
    yield Client(app)
    app.state.desk.close()


def send(client: Client, path: str, headers: dict[str, str] | None = None, **content: Any) -> Any:
    return client.post(f"/annotate/{path}", json=content, headers=headers)


def task_of(response: Any) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    return response.json()["task"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_pages_cannot_answer(desk: Client, headers: dict[str, str]) -> None:
    task = task_of(send(desk, "next", annotator="ann"))
    about = {"row": task["row"], "label": task["question"], "answer": "yes", "token": "t"}
    for path in ("answer", "undo", "finish", "next", "retrain"):
        refused = send(desk, path, headers, annotator="ann", **about)
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "other_site"
    assert task_of(send(desk, "next", annotator="ann"))["answered"] == []


def test_a_form_of_another_page_cannot_answer(desk: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        refused = desk.post(
            "/annotate/next", content=b'{"annotator": "ann"}', headers={"Content-Type": kind}
        )
        assert refused.status_code == 415


def test_its_own_page_can(desk: Client) -> None:
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    task = task_of(send(desk, "next", own, annotator="ann"))
    about = {"row": task["row"], "label": task["question"], "answer": "yes", "token": "t"}
    after = task_of(send(desk, "answer", own, annotator="ann", **about))
    assert after["answered"] == [{"label": task["question"], "holds": True, "disputed": False}]
    assert task_of(send(desk, "answer", own, annotator="ann", **about)) == after  # sent again


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "'annotator' is null"),
        ({"annotator": " "}, "0 characters"),
        ({"annotator": "a" * 101}, "101 characters"),
        ({"annotator": "ann", "row": "1"}, "'row' is"),
        ({"annotator": "ann", "row": True}, "'row' is true"),
        ({"annotator": "ann", "row": 9999}, "no row 9999"),
        ({"annotator": "ann", "row": -1}, "no row -1"),
        ({"annotator": "ann", "label": "nonsense"}, "no label 'nonsense'"),
        ({"annotator": "ann", "answer": "maybe"}, "'maybe' is not an answer"),
        ({"annotator": "ann", "token": None}, "'token' is null"),
        ({"annotator": "ann", "queue": "suspects"}, "no queue"),
    ],
)
def test_wrong_answers_are_refused_with_words(
    desk: Client, content: dict[str, Any], words: str
) -> None:
    right = {"row": 0, "label": "oil", "answer": "yes", "token": "t"}
    refused = send(desk, "answer", **{**right, **content})
    assert refused.status_code == 422
    assert words in refused.json()["error"]["message"]


def test_the_page_opens_without_the_token_and_nothing_else_does(
    table: Path, wanted: Annotation
) -> None:
    app = create_app({"notes": table.with_name("model")}, annotation=wanted, token="a-long-token")
    client = Client(app)
    page = client.get("/annotate")
    assert page.status_code == 200
    assert "script-src 'sha256-" in page.headers["content-security-policy"]
    for path in ("about", "retraining", "answers.csv"):
        assert client.get(f"/annotate/{path}").status_code == 401
    assert send(client, "next", annotator="ann").status_code == 401
    known = {"Authorization": "Bearer a-long-token"}
    assert task_of(send(client, "next", known, annotator="ann"))["question"]
    app.state.desk.close()


def test_without_a_table_there_is_no_desk(client: Client) -> None:
    assert client.get("/annotate").status_code == 404
    assert send(client, "next", annotator="ann").status_code == 404


def test_a_model_that_is_read_again_asks(desk: Client, models: Path, table: Path) -> None:
    before = desk.get("/annotate/about").json()["learned_from"]
    data, reading = read_examples(models / "notes.csv", ["tags"], ignore=["id"])
    Tagger.fit(data.sample(100), reading=reading).save(table.with_name("model"))
    assert desk.post("/reload").json()["reloaded"] == ["notes"]
    end = time.monotonic() + PATIENCE
    while desk.get("/annotate/about").json()["learned_from"] == before:
        task_of(send(desk, "next", annotator="ann"))
        assert time.monotonic() < end
        time.sleep(0.05)
    assert desk.get("/annotate/about").json()["learned_from"] == 100


def test_a_retraining_that_fails_is_told_and_the_model_stays(desk: Client) -> None:
    task_of(send(desk, "next", annotator="ann"))
    assert desk.get("/annotate/retraining").json()["state"] == "idle"
    assert send(desk, "retrain").json()["state"] == "running"
    end = time.monotonic() + 3 * PATIENCE
    while (progress := desk.get("/annotate/retraining").json())["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.1)
    assert progress["state"] == "failed"
    assert "answer some questions first" in progress["what"]
    assert task_of(send(desk, "next", annotator="ann"))["question"]
