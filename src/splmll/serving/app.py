"""The HTTP service: its paths and what they do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path
from time import perf_counter
from typing import Any

from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from splmll import __version__
from splmll.serving.annotating import Annotation, Desk, add_annotation
from splmll.serving.answers import answer, error_response, json_response, prefers_csv
from splmll.serving.asking import read_asked, read_query
from splmll.serving.describe import label_entries, landmark_entries, model_entry
from splmll.serving.errors import ServiceError
from splmll.serving.hosts import Hosts
from splmll.serving.limits import Limits
from splmll.serving.metrics import Metrics
from splmll.serving.model import KINDS, PREDICT
from splmll.serving.openapi import describe_service
from splmll.serving.page import page_html, script_hashes
from splmll.serving.registry import ModelRegistry
from splmll.serving.security import Guard, content_policy

_LOG = logging.getLogger("splmll.serving")
_POST_PARAMETERS = ("model", "threshold", "top", "scores", "formulas")


def create_app(
    models: Mapping[str, str | Path],
    *,
    token: str | None = None,
    limits: Limits | None = None,
    hosts: Collection[str] = (),
    annotation: Annotation | None = None,
) -> FastAPI:
    """Load models and return the service for them.

    Parameters
    ----------
    models : mapping of str to path-like
        Name -> folder or zip file written by ``splmll fit``; the first is the default.
    token : str, optional
        What clients must send as ``Authorization: Bearer TOKEN``; by default no token is needed.
    limits : Limits, optional
        Limits on requests.
    hosts : collection of str
        Host names of the service besides ``localhost`` and numeric addresses; ``"*"`` for all.
    annotation : Annotation, optional
        A table to annotate with the default model, on the page ``/annotate``.

    Returns
    -------
    app : FastAPI
        An ASGI application. ``app.state.registry`` holds the models, ``app.state.limits`` the
        limits that a server in front of it should know.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.serving import create_app
    >>> from splmll.tagging import Tagger
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> data = Dataset(X, (X > 0).astype(int), ["x", "y"], ["right", "up"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Tagger.fit(data, "BR").save(f"{folder}/model")
    ...     app = create_app({"corners": f"{folder}/model"})
    >>> app.state.registry.names
    ['corners']
    """
    limits = limits or Limits()
    metrics = Metrics()
    registry = ModelRegistry({name: Path(place) for name, place in models.items()}, limits, metrics)
    app = _Service(title="splmll", version=__version__, docs_url=None, redoc_url=None)
    app.state.registry, app.state.limits = registry, limits
    app.describe = partial(describe_service, registry, limits, token is not None)
    _add_errors(app)
    _add_descriptions(app, registry, metrics, annotates=annotation is not None)
    if annotation is not None:
        app.state.desk = Desk(registry, annotation)
        add_annotation(app, app.state.desk)
    for kind in KINDS:
        _add_question(app, kind, registry, limits, metrics)
    app.add_middleware(Guard, token=token, hosts=Hosts(hosts))
    paths = frozenset(route.path for route in app.routes if hasattr(route, "path"))
    app.add_middleware(_Measured, metrics=metrics, paths=paths)
    return app


class _Service(FastAPI):
    """FastAPI with its own OpenAPI description, which includes the served models."""

    describe: Callable[[], dict[str, Any]]

    def openapi(self) -> dict[str, Any]:
        return self.describe()


def _add_descriptions(
    app: FastAPI, registry: ModelRegistry, metrics: Metrics, annotates: bool
) -> None:
    @app.get("/")
    async def show_page() -> Response:
        policy = {"Content-Security-Policy": content_policy(script_hashes())}
        return Response(page_html(annotates), media_type="text/html", headers=policy)

    @app.get("/health")
    async def health() -> Response:
        return json_response({"status": "ok", "models": registry.names, "version": __version__})

    @app.get("/metrics")
    async def show_metrics() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    @app.get("/models")
    async def show_models(request: Request) -> Response:
        name = read_query(request, ["model"]).model
        wanted = registry.models if name is None else [registry.get(name)]
        default = registry.get(None)
        return json_response({"models": [model_entry(each, each is default) for each in wanted]})

    @app.get("/labels")
    async def show_labels(request: Request) -> Response:
        model = registry.get(read_query(request, ["model"]).model)
        return json_response({"model": model.name, "labels": label_entries(model)})

    @app.get("/landmarks")
    async def show_landmarks(request: Request) -> Response:
        model = registry.get(read_query(request, ["model"]).model)
        return json_response({"model": model.name, **landmark_entries(model)})

    @app.post("/reload")
    async def reload(request: Request) -> Response:
        found = await registry.reload(read_query(request, ["model"]).model)
        if found.failed:
            name, reason = next(iter(found.failed.items()))
            raise ServiceError(
                409,
                "reload_failed",
                f"The model {name!r} could not be read, so the earlier one stays in use: {reason}",
                {"failed": found.failed, "reloaded": found.reloaded},
            )
        return json_response({"reloaded": found.reloaded, "unchanged": found.unchanged})


def _add_question(
    app: FastAPI, kind: str, registry: ModelRegistry, limits: Limits, metrics: Metrics
) -> None:
    """Add an endpoint for predicting, explaining or recovering."""

    async def ask(request: Request) -> Response:
        query = read_query(request, _POST_PARAMETERS)
        model = registry.get(query.model)
        if kind != PREDICT:
            model.landmarks()  # a method without landmarks is refused before the body is read
        try:
            async with asyncio.timeout(limits.seconds) as deadline:
                asked = await read_asked(request, model, kind, query, limits)
                found = await model.submit(kind, asked.payload)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise _too_slow(limits.seconds) from None
        metrics.rows(request.url.path, model.name, len(asked.payload))
        as_csv = prefers_csv(request.headers.get("accept", ""))
        return await answer(found, model, asked, query, as_csv)

    # A plain route: there is nothing for FastAPI to look up in the arguments.
    app.add_route(f"/{kind}", ask, methods=["POST"])


def _too_slow(seconds: float) -> ServiceError:
    return ServiceError(
        504,
        "timeout",
        f"The request was not answered within {seconds:g} seconds; send fewer rows at a time, or "
        "try again later.",
        {"seconds": seconds},
    )


# Errors -----------------------------------------------------------------------------------------


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(ServiceError)
    async def refused(request: Request, error: ServiceError) -> Response:
        return error_response(error)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        words = HTTPStatus(error.status_code).phrase
        return error_response(
            ServiceError(
                error.status_code,
                words.lower().replace(" ", "_"),
                f"{request.method} {request.url.path}: {words.lower()}; the paths are described "
                "in /openapi.json.",
                headers=error.headers,
            )
        )

    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=400)  # nobody reads it

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return error_response(
            ServiceError(
                500,
                "internal_error",
                "The service failed to handle this request; its log says why. Other requests are "
                "not affected.",
            )
        )


class _Measured:
    """Middleware: counts requests and how long they took."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: frozenset[str]) -> None:
        self.app, self.metrics, self.paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = perf_counter()
        status = 500

        async def send_and_see(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_see)
        finally:
            # A path that anyone can invent is no name for a counter.
            endpoint = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.request(endpoint, status, perf_counter() - started)
