"""Reading requests: the query, and the body within limits.

A body is JSON, a CSV file, or a form with one CSV file. Errors say what is wrong and what to do,
and no request can cost more than the limits allow.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Collection
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson
from fastapi import Request
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from splmll.names import listed, suggestion
from splmll.serving.csv_files import read_csv_rows
from splmll.serving.errors import ServiceError
from splmll.serving.limits import Limits
from splmll.serving.model import ServedModel
from splmll.serving.rows import shown

JSON, CSV, FORM = "application/json", "text/csv", "multipart/form-data"
FILE_FIELD = "file"
# A longer body is read beside the event loop, which others wait for.
_LONG_BODY = 256 * 1024
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_COUNT = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class Query:
    """The query of a request.

    Attributes
    ----------
    model : str or None
        Name of the model; None: the default.
    threshold : float or None
        Score from which a label is predicted; None: the model's own rule.
    top : int or None
        How many labels to show; None: all.
    scores : bool
        Whether a CSV answer has a column for the score of each label.
    formulas : bool
        Whether formula-like cells of a CSV answer are left as they are.
    """

    model: str | None = None
    threshold: float | None = None
    top: int | None = None
    scores: bool = False
    formulas: bool = False


@dataclass(frozen=True, eq=False)
class Asked:
    """What a request asks of a model.

    Attributes
    ----------
    payload : object
        Rows as the model takes them.
    threshold, top
        See :class:`Query`.
    """

    payload: Any
    threshold: float | None
    top: int | None


def read_query(request: Request, allowed: Collection[str]) -> Query:
    """Return the query of a request; unknown parameters are refused.

    Parameters
    ----------
    request : Request
        The request.
    allowed : collection of str
        Parameters of the endpoint.

    Returns
    -------
    query : Query
    """
    pairs = request.query_params.multi_items()
    if not pairs:
        return Query()
    given: dict[str, Any] = {}
    for name, text in pairs:
        if name not in allowed:
            raise ServiceError(
                422,
                "unknown_parameter",
                f"There is no query parameter {shown(name)} here.{suggestion(name, allowed)} "
                f"The parameters are {listed(allowed)}.",
                {"parameter": name},
            )
        if name in given:
            raise ServiceError(
                422,
                "repeated_parameter",
                f"The query parameter {name!r} appears twice; give it once.",
                {"parameter": name},
            )
        given[name] = text
    if "threshold" in given:
        is_number = _NUMBER.fullmatch(given["threshold"])
        given["threshold"] = check_threshold(
            float(given["threshold"]) if is_number else given["threshold"]
        )
    if "top" in given:
        given["top"] = check_top(
            int(given["top"]) if _COUNT.fullmatch(given["top"]) else given["top"]
        )
    for name in given.keys() & {"scores", "formulas"}:
        if given[name] not in ("true", "false"):
            _wrong_option(name, given[name], "true or false")
        given[name] = given[name] == "true"
    return Query(**given)


def check_threshold(value: Any) -> float | None:
    """Return a threshold, or refuse it.

    Examples
    --------
    >>> from splmll.serving.asking import check_threshold
    >>> check_threshold(1), check_threshold(None)
    (1.0, None)
    """
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value <= 1:
        _wrong_option("threshold", value, "a number from 0 to 1")
    return float(value)


def check_top(value: Any) -> int | None:
    """Return how many labels to show, or refuse the value.

    Examples
    --------
    >>> from splmll.serving.asking import check_top
    >>> check_top(3.0), check_top(None)
    (3, None)
    """
    if value is None:
        return None
    if type(value) not in (int, float) or not 1 <= value < float("inf") or value != int(value):
        _wrong_option("top", value, "an integer of at least 1")
    return int(value)


async def read_asked(
    request: Request, model: ServedModel, kind: str, query: Query, limits: Limits
) -> Asked:
    """Return what a request asks of a model.

    Parameters
    ----------
    request : Request
        Its body is read here, no further than the limit.
    model : ServedModel
        The model that is asked.
    kind : {"predict", "explain", "recover"}
        What is asked of it.
    query : Query
        Its threshold and number of labels apply if the body has none.
    limits : Limits
        Bounds of the service.

    Returns
    -------
    asked : Asked
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in (JSON, CSV, FORM):
        raise ServiceError(
            415,
            "unsupported_media_type",
            f"The Content-Type is {shown(media_type) if media_type else 'missing'}; send {JSON}, "
            f"{CSV}, or {FORM} with one CSV file.",
            {"content_type": media_type},
        )
    body = await read_body(request, limits.body_bytes)
    if media_type == FORM:
        body = await _file_of_form(request.headers, body)
    if media_type != JSON:
        payload = await asyncio.to_thread(read_csv_rows, body, model, kind, limits)
        return Asked(payload, query.threshold, query.top)
    if len(body) > _LONG_BODY:
        return await asyncio.to_thread(_asked_in_json, body, model, kind, query, limits)
    return _asked_in_json(body, model, kind, query, limits)


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request, or refuse it as soon as it is too long.

    Parameters
    ----------
    request : Request
        With or without the length of its body in its head.
    most : int
        The most bytes.

    Returns
    -------
    body : bytes
    """
    length = request.headers.get("content-length", "")
    if _COUNT.fullmatch(length) and int(length) > most:
        _too_long(most)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            _too_long(most)
        parts.append(part)
    return b"".join(parts)


# JSON -------------------------------------------------------------------------------------------


def _asked_in_json(
    body: bytes, model: ServedModel, kind: str, query: Query, limits: Limits
) -> Asked:
    value = _parsed(body)
    if type(value) is not dict:
        raise ServiceError(
            422, "invalid_body", f'The body is {shown(value)}; send {{"rows": [{{...}}]}}.'
        )
    for name in value:
        if name not in ("rows", "threshold", "top"):
            raise ServiceError(
                422,
                "unknown_field",
                f"The body has the unknown field {shown(name)}; the fields are rows, threshold "
                f"and top.{suggestion(name, ('rows', 'threshold', 'top'))}",
                {"field": name},
            )
    threshold, top = check_threshold(value.get("threshold")), check_top(value.get("top"))
    rows = value.get("rows")
    if type(rows) is not list or not rows:
        raise ServiceError(
            422,
            "no_rows",
            "The body has no rows; send them as a list with at least one object: "
            '{"rows": [{"column": value, ...}]}.',
        )
    limits.check_rows(len(rows))
    return Asked(
        model.read(kind, rows),
        query.threshold if threshold is None else threshold,
        query.top if top is None else top,
    )


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ServiceError(
            400,
            "invalid_json",
            f"The body is not JSON ({error}); correct it, or send a CSV file as {CSV}.",
        ) from None


# Forms ------------------------------------------------------------------------------------------


async def _file_of_form(headers: Headers, body: bytes) -> bytes:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body
        yield b""

    try:
        form = await MultiPartParser(headers, stream(), max_files=1, max_fields=1).parse()
    except (MultiPartException, KeyError, ValueError) as error:
        reason = getattr(error, "message", None) or "it has no parts"
        raise ServiceError(
            400,
            "invalid_form",
            f"The form cannot be read ({reason}); send one CSV file in the field {FILE_FIELD!r}.",
        ) from None
    try:
        parts = form.multi_items()
        if len(parts) != 1 or parts[0][0] != FILE_FIELD or not isinstance(parts[0][1], UploadFile):
            raise ServiceError(
                422,
                "invalid_form",
                f"The form must have one part, a CSV file in the field {FILE_FIELD!r}; it has "
                f"{listed([name for name, _ in parts]) or 'none'}. Give threshold and top in the "
                "query.",
            )
        return await parts[0][1].read()
    finally:
        await form.close()


# Errors -----------------------------------------------------------------------------------------


def _too_long(most: int) -> NoReturn:
    raise ServiceError(
        413,
        "body_too_large",
        f"The body has more than {most} bytes; send the rows in several requests.",
        {"most_bytes": most},
        # The rest of the body is not read: the connection is of no more use.
        {"Connection": "close"},
    )


def _wrong_option(name: str, value: Any, wanted: str) -> NoReturn:
    raise ServiceError(
        422,
        f"invalid_{name}",
        f"{name} is {shown(value)}; it must be {wanted}.",
        {"parameter": name},
    )
