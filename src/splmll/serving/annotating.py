"""Annotation over HTTP: rows, questions and answers for the page ``/annotate``.

:mod:`splmll.annotation` decides what is asked and kept; this module reads and checks requests.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response

from splmll.annotation import AnnotationQueue, AnnotationTable, AnswerStore, Task
from splmll.annotation.export import answers_frame
from splmll.annotation.queue import ENOUGH
from splmll.annotation.retraining import Retraining
from splmll.annotation.suspects import SuspectQueue, SuspectTask, read_suspects
from splmll.serving.answers import json_response
from splmll.serving.asking import CSV, JSON, read_body
from splmll.serving.errors import ServiceError
from splmll.serving.page import annotate_hashes, annotate_html
from splmll.serving.registry import ModelRegistry
from splmll.serving.rows import shown
from splmll.serving.security import content_policy

_MOST_BYTES = 64 * 1024  # of a request: names and one answer
_MOST_NAME = 100  # characters of an annotator's name
_MOST_IMPLIED = 40  # labels that are shown as following from the answers


@dataclass(frozen=True)
class Annotation:
    """What to annotate, and where to store the answers.

    Attributes
    ----------
    table : Path
        The rows, a CSV or Parquet file with the columns of the model.
    answers : Path
        An SQLite file, created if it does not exist.
    examples : Path, optional
        The table that the model learned from; retraining also learns from it.
    suspects : Path, optional
        Suspicious labels that ``splmll audit`` found in the table.
    enough : float, default=0.5
        See :class:`splmll.annotation.AnnotationQueue`.
    annotator : str
        The name that the page suggests.
    """

    table: Path
    answers: Path
    examples: Path | None = None
    suspects: Path | None = None
    enough: float = ENOUGH
    annotator: str = ""


class Desk:
    """Everything that the annotators of a table share.

    Parameters
    ----------
    registry : ModelRegistry
        Its first model asks.
    wanted : Annotation
        What is annotated.
    """

    def __init__(self, registry: ModelRegistry, wanted: Annotation) -> None:
        self.registry, self.wanted = registry, wanted
        self.name = registry.get(None).name
        tagger = registry.get(None).tagger
        table = AnnotationTable.read(wanted.table, tagger)
        self.store = AnswerStore(wanted.answers)
        self.queue = AnnotationQueue(tagger, table, self.store, enough=wanted.enough)
        self.store.remember({"model": str(registry.place(self.name).absolute())})
        self.suspects = None
        if wanted.suspects is not None:
            found = read_suspects(wanted.suspects, table, tagger.label_names)
            self.suspects = SuspectQueue(found, table, self.store, tagger.label_names)
        self._switching = threading.Lock()
        self.retraining = Retraining(
            registry.place(self.name), wanted.table, wanted.answers, wanted.examples
        )

    def about(self) -> dict[str, Any]:
        """Return what the page needs to know at the start."""
        tagger = self.queue.tagger
        return {
            "annotator": self.wanted.annotator,
            "table": self.wanted.table.name,
            "rows": self.queue.table.n_rows,
            "labels": tagger.label_names,
            "model": self.name,
            "learned_from": tagger.n_rows,
            "suspects": None if self.suspects is None else len(self.suspects.suspects),
        }

    def switch(self) -> None:
        """Let the model that is served now choose rows and questions."""
        with self._switching:
            tagger = self.registry.get(self.name).tagger
            if tagger is not self.queue.tagger:
                self.queue.use(tagger)

    def follow(self) -> None:
        """Switch in the background if the service has reloaded its model."""
        changed = self.registry.get(self.name).tagger is not self.queue.tagger
        if changed and not self._switching.locked():
            threading.Thread(target=self.switch, daemon=True).start()

    def close(self) -> None:
        """Stop background work, and close the file of answers."""
        self.retraining.stop()
        self.store.close()

    def export(self) -> bytes:
        """Return all rows with their known labels, as CSV."""
        table, names = self.queue.table, self.queue.tagger.label_names
        frame = answers_frame(table, self.queue.known(), names)
        return frame.to_csv(index=False, lineterminator="\n").encode()


def add_annotation(app: FastAPI, desk: Desk) -> None:
    """Add the annotation page and its endpoints to a service.

    Parameters
    ----------
    app : FastAPI
        The service.
    desk : Desk
        What is annotated.
    """

    @app.get("/annotate", include_in_schema=False)
    async def show_page() -> Response:
        policy = {"Content-Security-Policy": content_policy(annotate_hashes())}
        return Response(annotate_html(), media_type="text/html", headers=policy)

    @app.get("/annotate/about", include_in_schema=False)
    async def about() -> Response:
        return json_response(desk.about())

    @app.get("/annotate/retraining", include_in_schema=False)
    async def progress() -> Response:
        return json_response(asdict(desk.retraining.progress))

    @app.get("/annotate/answers.csv", include_in_schema=False)
    async def export() -> Response:
        content = await asyncio.to_thread(desk.export)
        return Response(content, media_type=f"{CSV}; charset=utf-8")

    @app.post("/annotate/retrain", include_in_schema=False)
    async def retrain(request: Request) -> Response:
        await _read(request)
        loop = asyncio.get_running_loop()

        def switch() -> None:
            found = asyncio.run_coroutine_threadsafe(desk.registry.reload(desk.name), loop).result()
            if found.failed:
                raise ValueError(found.failed[desk.name])
            desk.switch()

        await asyncio.to_thread(desk.retraining.start, switch)
        return json_response(asdict(desk.retraining.progress))

    for name, act in _ACTS.items():
        _add_act(app, desk, name, act)


def _add_act(
    app: FastAPI, desk: Desk, name: str, act: Callable[[Desk, dict[str, Any]], Any]
) -> None:
    async def answer(request: Request) -> Response:
        given = await _read(request)
        desk.follow()
        try:
            task = await asyncio.to_thread(act, desk, given)
        except ValueError as error:
            raise ServiceError(422, "invalid_answer", str(error)) from error
        return json_response({"task": _shown(task)})

    app.add_route(f"/annotate/{name}", answer, methods=["POST"], include_in_schema=False)


# What annotators do -----------------------------------------------------------------------------


def _next(desk: Desk, given: dict[str, Any]) -> Task | SuspectTask | None:
    return _queue(desk, given).next(_annotator(given))


def _answer(desk: Desk, given: dict[str, Any]) -> Task | SuspectTask | None:
    return _queue(desk, given).answer(
        _annotator(given),
        _field(given, "row", int),
        _field(given, "label", str),
        _field(given, "answer", str),
        token=_field(given, "token", str),
    )


def _finish(desk: Desk, given: dict[str, Any]) -> Task | None:
    return desk.queue.finish(
        _annotator(given), _field(given, "row", int), token=_field(given, "token", str)
    )


def _undo(desk: Desk, given: dict[str, Any]) -> Task | SuspectTask | None:
    return _queue(desk, given).undo(_annotator(given), token=_field(given, "token", str))


_ACTS: dict[str, Callable[[Desk, dict[str, Any]], Any]] = {
    "next": _next,
    "answer": _answer,
    "finish": _finish,
    "undo": _undo,
}


# Reading and writing ----------------------------------------------------------------------------


async def _read(request: Request) -> dict[str, Any]:
    """Return the body of a request that changes something; only our own page may send it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        # A form of another page could send anything else without asking first.
        raise ServiceError(415, "unsupported_media_type", f"Send {JSON}.")
    body = await read_body(request, _MOST_BYTES)
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ServiceError(400, "invalid_json", f"The body is not JSON ({error}).") from None
    if type(given) is not dict:
        raise ServiceError(422, "invalid_body", f"The body is {shown(given)}; send an object.")
    return given


def _field(given: dict[str, Any], name: str, kind: type) -> Any:
    value = given.get(name)
    if type(value) is not kind:
        wanted = "an integer" if kind is int else "a string"
        raise ServiceError(
            422, "invalid_field", f"{name!r} is {shown(value)}; it must be {wanted}."
        )
    return value


def _annotator(given: dict[str, Any]) -> str:
    name = _field(given, "annotator", str).strip()
    if not 0 < len(name) <= _MOST_NAME:
        raise ServiceError(
            422,
            "invalid_annotator",
            f"The annotator's name has {len(name)} characters; it must have 1 to {_MOST_NAME}.",
        )
    return str(name)


def _queue(desk: Desk, given: dict[str, Any]) -> AnnotationQueue | SuspectQueue:
    if given.get("queue", "questions") == "questions":
        return desk.queue
    if given["queue"] != "suspects" or desk.suspects is None:
        raise ServiceError(422, "invalid_queue", f"There is no queue {shown(given['queue'])}.")
    return desk.suspects


def _shown(task: Task | SuspectTask | None) -> dict[str, Any] | None:
    """Return a task as the page takes it; rows are counted from 0."""
    if task is None:
        return None
    if isinstance(task, SuspectTask):
        return asdict(task)
    return {
        "row": task.row,
        "cells": task.cells,
        "question": task.question,
        "probability": task.probability,
        "expected_errors": task.expected_errors,
        "answered": [
            {"label": label, "holds": holds, "disputed": label in task.disputed}
            for label, holds in task.answered.items()
        ],
        "implied": [asdict(each) for each in task.implied[:_MOST_IMPLIED]],
        "implied_in_all": len(task.implied),
        "counts": asdict(task.counts),
        "silent": task.silent,
        "given": task.given,
        "saved": task.saved,
        "undone": task.undone,
    }
