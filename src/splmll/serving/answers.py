"""Answers as JSON or CSV, whichever the client prefers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import orjson
from fastapi import Response

from splmll.serving.asking import CSV, JSON, Asked, Query
from splmll.serving.csv_files import explanations_as_csv, predictions_as_csv
from splmll.serving.errors import ServiceError
from splmll.serving.model import Explained, Scored, ServedModel

# More numbers are written beside the event loop, which others wait for.
_MANY_NUMBERS = 20_000


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a value as JSON."""
    return Response(orjson.dumps(value), status, headers=headers, media_type=JSON)


def error_response(error: ServiceError) -> Response:
    """Return an error as JSON."""
    return json_response(error.body(), error.status, error.headers)


async def answer(
    found: Scored | Explained, model: ServedModel, asked: Asked, query: Query, as_csv: bool
) -> Response:
    """Return the model's answer in the requested format.

    Parameters
    ----------
    found : Scored or Explained
        The model's answer.
    model : ServedModel
        The model.
    asked : Asked
        Threshold and number of labels.
    query : Query
        What a CSV answer contains.
    as_csv : bool
        Whether the answer is a CSV file.

    Returns
    -------
    response : Response
    """
    make: Callable[[], Response]
    if isinstance(found, Explained):
        size = found.contributions.size

        def make() -> Response:
            if as_csv:
                return _csv(
                    explanations_as_csv(
                        found, model, asked.threshold, asked.top, formulas=query.formulas
                    )
                )
            return json_response(explanations(found, model, asked.threshold, asked.top))
    else:
        size = found.scores.size

        def make() -> Response:
            if as_csv:
                return _csv(
                    predictions_as_csv(
                        found,
                        model,
                        asked.threshold,
                        scores=query.scores,
                        formulas=query.formulas,
                    )
                )
            return json_response(predictions(found, model, asked.threshold, asked.top))

    return await asyncio.to_thread(make) if as_csv or size > _MANY_NUMBERS else make()


def predictions(
    found: Scored, model: ServedModel, threshold: float | None, top: int | None
) -> dict[str, Any]:
    """Return the answer to ``POST /predict`` and ``POST /recover``."""
    names = np.asarray(model.label_names, dtype=object)
    chosen = found.above(threshold)
    rows = []
    for labels, scores in zip(chosen, found.scores):
        if top is None:
            shown = dict(zip(model.label_names, scores.tolist()))
        else:
            best = np.argsort(-scores, kind="stable")[:top]
            shown = dict(zip(names[best].tolist(), scores[best].tolist()))
        rows.append({"labels": names[labels].tolist(), "scores": shown})
    return {"model": model.name, "rows": rows}


def explanations(
    found: Explained, model: ServedModel, threshold: float | None, top: int | None
) -> dict[str, Any]:
    """Return the answer to ``POST /explain``: the labels of every row, best first."""
    chosen = found.scored.above(threshold)
    landmarks = model.landmarks()
    rows = []
    for row, totals in enumerate(found.totals):
        added = found.contributions[row].T.tolist()
        rows.append(
            {
                "labels": [
                    {
                        "name": model.label_names[label],
                        "score": float(totals[label]),
                        "predicted": bool(chosen[row, label]),
                        "base": float(found.base[label]),
                        "contributions": dict(zip(landmarks, added[label])),
                    }
                    for label in np.argsort(-totals, kind="stable")[:top].tolist()
                ]
            }
        )
    return {"model": model.name, "rows": rows}


def prefers_csv(accept: str) -> bool:
    """Return whether a client wants CSV rather than JSON.

    Examples
    --------
    >>> from splmll.serving.answers import prefers_csv
    >>> prefers_csv("text/csv"), prefers_csv("*/*"), prefers_csv("text/csv;q=0.5, application/json")
    (True, False, False)
    """
    weights = {CSV: 0.0, JSON: 0.0}
    for part in accept.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    weight = float(parameter[2:])
                except ValueError:
                    weight = 0.0
        for known in weights:
            if name in (known, "*/*", known.split("/")[0] + "/*"):
                weights[known] = max(weights[known], weight)
    return weights[CSV] > weights[JSON]


def _csv(content: bytes) -> Response:
    return Response(content, media_type=f"{CSV}; charset=utf-8")
