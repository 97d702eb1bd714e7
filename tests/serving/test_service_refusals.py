"""What the service refuses: always with a structured error that says what to do, never with 500."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import httpx
import pytest
from asgi_client import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from splmll.serving import Limits, create_app
from splmll.serving.answers import prefers_csv

ROW = {"body": "oil leak", "hours": 1.5, "site": "north"}
TOKEN = "a-token-for-tests"


def refused(response: httpx.Response, status: int, code: str, words: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert sorted(error) == ["code", "details", "message"]
    assert error["code"] == code
    assert words in error["message"]
    return error["details"]


def without(column: str) -> dict[str, Any]:
    return {name: value for name, value in ROW.items() if name != column}


@pytest.mark.parametrize(
    ("body", "status", "code", "words"),
    [
        ("{", 400, "invalid_json", "The body is not JSON"),
        ("", 400, "invalid_json", "The body is not JSON"),
        (b'{"rows": "\xff"}', 400, "invalid_json", "The body is not JSON"),
        ('{"rows": [{"hours": NaN}]}', 400, "invalid_json", "The body is not JSON"),
        ("[" * 100_000, 400, "invalid_json", "The body is not JSON"),
        ([], 422, "invalid_body", "The body is a list"),
        ({"rows": None}, 422, "no_rows", "at least one object"),
        ({"rows": []}, 422, "no_rows", "at least one object"),
        ({"rows": {"0": ROW}}, 422, "no_rows", "at least one object"),
        ({"row": [ROW]}, 422, "unknown_field", "Did you mean 'rows'?"),
        ({"rows": [ROW, 5]}, 422, "invalid_row", "Row 2 is 5, not an object"),
        ({"rows": [{}]}, 422, "missing_column", "Row 1 has no column 'body'"),
        ({"rows": [ROW, without("site")]}, 422, "missing_column", "Row 2 has no column 'site'"),
        ({"rows": [{**ROW, "hour": 1}]}, 422, "unknown_column", "Did you mean 'hours'?"),
        ({"rows": [{**ROW, "hours": "3"}]}, 422, "invalid_value", "'hours': '3' does not fit"),
        ({"rows": [{**ROW, "hours": [3]}]}, 422, "invalid_value", "a list does not fit"),
        ({"rows": [{**ROW, "hours": 1e31}]}, 422, "invalid_value", "give a number between"),
        ({"rows": [{**ROW, "body": 3}]}, 422, "invalid_value", "column 'body': 3 does not fit"),
        ({"rows": [{**ROW, "body": {}}]}, 422, "invalid_value", "an object does not fit"),
        ({"rows": [{**ROW, "site": True}]}, 422, "invalid_value", "true does not fit"),
        ({"rows": [ROW], "threshold": 1.5}, 422, "invalid_threshold", "a number from 0 to 1"),
        ({"rows": [ROW], "threshold": "x"}, 422, "invalid_threshold", "a number from 0 to 1"),
        ({"rows": [ROW], "threshold": True}, 422, "invalid_threshold", "threshold is true"),
        ({"rows": [ROW], "top": 0}, 422, "invalid_top", "an integer of at least 1"),
        ({"rows": [ROW], "top": 1.5}, 422, "invalid_top", "an integer of at least 1"),
    ],
)  # fmt: skip
def test_bad_bodies(client, body, status, code, words) -> None:
    headers = {"Content-Type": "application/json"}
    sent = (
        {"content": body, "headers": headers} if isinstance(body, str | bytes) else {"json": body}
    )
    for path in ("/predict", "/explain"):
        refused(client.post(path, **sent), status, code, words)


def test_an_error_names_row_and_column(client) -> None:
    response = client.post("/predict", json={"rows": [ROW, {**ROW, "hours": "soon"}]})
    details = refused(response, 422, "invalid_value", "Row 2, column 'hours'")
    assert details == {"row": 2, "column": "hours", "kind": "numeric"}


def test_numbers_beyond_all_others(client) -> None:
    for digits in ("1" + "0" * 400, "-1" + "0" * 5000, "1e999"):
        body = '{"rows": [{"body": "", "site": "", "hours": ' + digits + "}]}"
        response = client.post(
            "/predict", content=body, headers={"Content-Type": "application/json"}
        )
        assert response.status_code in (400, 422)


def test_a_bare_matrix_has_no_gaps(client) -> None:
    response = client.post("/predict?model=corners", json={"rows": [{"x": 1, "y": None, "z": 1}]})
    refused(response, 422, "invalid_value", "column 'y': null does not fit")
    response = client.post("/predict?model=corners", content="x,y,z\n1,,2\n", headers=CSV)
    refused(response, 422, "invalid_value", "column 'y'")


@pytest.mark.parametrize(
    ("row", "code", "words"),
    [
        ({"pimp": 1}, "unknown_landmark", "which is not a landmark"),
        ({"pump": 2}, "invalid_value", "landmark 'pump': 2 is not an answer"),
        ({"pump": "1"}, "invalid_value", "give 1 (it applies)"),
        ({"pump": [1]}, "invalid_value", "a list is not an answer"),
        (None, "invalid_row", "Row 1 is null, not an object"),
    ],
)
def test_bad_answers_about_landmarks(client, row, code, words) -> None:
    landmarks = [each["name"] for each in client.get("/landmarks").json()["landmarks"]]
    if row and "pump" in row:
        row = {landmarks[0]: row["pump"]}
        words = words.replace("pump", landmarks[0])
    refused(client.post("/recover", json={"rows": [row]}), 422, code, words)


CSV = {"Content-Type": "text/csv"}


@pytest.mark.parametrize(
    ("content", "status", "code", "words"),
    [
        ("", 422, "invalid_csv", "The CSV file: the file is empty"),
        ("body,hours,site\n", 422, "invalid_csv", "no rows below its first line"),
        ("body,site\na,b\n", 422, "invalid_csv", "there is no column 'hours'"),
        ("body,hours,site\na,soon,b\n", 422, "invalid_csv", "row 1: the column 'hours'"),
        ("body,hours,site\na,inf,b\n", 422, "invalid_csv", "infinite value"),
        ("body,hours,site\na,1e200,b\n", 422, "invalid_csv", "row 1: the column 'hours'"),
        ("body,hours,site,body\na,1,b,c\n", 422, "invalid_csv", "'body'"),
        ("body,hours,site\na,1\n", 422, "invalid_csv", "a row has 2 values"),
        (b"body,hours,site\n\xff\xfe,1,b\n", 422, "invalid_csv", "UTF-8"),
        (b"\x1f\x8b\x08whatever", 415, "packed_file", "send plain CSV"),
        (b"PAR1whatever", 415, "packed_file", "send plain CSV"),
    ],
    ids=["empty", "header", "column", "word", "infinite", "large", "twice", "short", "latin",
         "gzip", "parquet"],
)  # fmt: skip
def test_bad_csv(client, content, status, code, words) -> None:
    response = client.post("/predict", content=content, headers=CSV)
    refused(response, status, code, words)
    assert "/tmp" not in response.text
    if status == 422:
        form = client.post("/predict", files={"file": ("rows.csv", content)})
        refused(form, status, code, words)


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        ({"files": {"table": ("a.csv", b"x")}}, 422, "it has 'table'"),
        ({"files": [("file", ("a.csv", b"x")), ("file", ("b.csv", b"x"))]}, 400, "Too many files"),
        ({"data": {"threshold": "1"}, "files": {"file": ("a.csv", b"x")}}, 422, "in the query"),
        ({"content": b"x", "headers": {"Content-Type": "multipart/form-data"}}, 400, "boundary"),
        (
            {"content": b"x", "headers": {"Content-Type": "multipart/form-data; boundary=b"}},
            400,
            "cannot be read",
        ),
        (
            {
                "content": b"--b--\r\n",
                "headers": {"Content-Type": "multipart/form-data; boundary=b"},
            },
            422,
            "it has none",
        ),
    ],
    ids=["name", "two", "field", "boundary", "noise", "empty"],
)
def test_bad_forms(client, sent, status, words) -> None:
    refused(client.post("/predict", **sent), status, "invalid_form", words)


@pytest.mark.parametrize(
    ("method", "path", "status", "code", "words"),
    [
        ("POST", "/predict?model=nots", 404, "unknown_model", "Did you mean 'notes'?"),
        ("GET", "/labels?model=", 404, "unknown_model", "There is no model ''"),
        ("GET", "/landmarks?model=plain", 409, "no_landmarks", "BR of the model 'plain'"),
        ("POST", "/explain?model=plain", 409, "no_landmarks", "has no landmarks"),
        ("POST", "/recover?model=plain", 409, "no_landmarks", "has no landmarks"),
        ("POST", "/predict?threshold=nan", 422, "invalid_threshold", "a number from 0 to 1"),
        ("POST", "/predict?threshold=", 422, "invalid_threshold", "a number from 0 to 1"),
        ("POST", "/predict?threshold=1_0", 422, "invalid_threshold", "a number from 0 to 1"),
        ("POST", "/predict?top=-1", 422, "invalid_top", "an integer of at least 1"),
        ("POST", "/predict?top=1&top=2", 422, "repeated_parameter", "appears twice"),
        ("POST", "/predict?scores=yes", 422, "invalid_scores", "true or false"),
        ("POST", "/predict?treshold=1", 422, "unknown_parameter", "Did you mean 'threshold'?"),
        ("GET", "/labels?top=1", 422, "unknown_parameter", "The parameters are 'model'"),
        ("GET", "/nowhere", 404, "not_found", "/openapi.json"),
        ("GET", "/predict", 405, "method_not_allowed", "/openapi.json"),
        ("POST", "/predict", 415, "unsupported_media_type", "The Content-Type is missing"),
    ],
)
def test_bad_requests(client, method, path, status, code, words) -> None:
    refused(client.request(method, path), status, code, words)


def test_other_content_types(client) -> None:
    headers = {"Content-Type": "application/xml"}
    response = client.post("/predict", content="<a/>", headers=headers)
    refused(response, 415, "unsupported_media_type", "'application/xml'; send application/json")


@pytest.mark.parametrize(
    ("accept", "csv"),
    [
        ("", False),
        ("text/*", True),
        ("application/json;q=0.1, text/csv;q=0.2", True),
        ("text/csv;q=x", False),
        ("text/html", False),
        ("text/csv, */*", False),
    ],
)
def test_what_a_client_accepts(accept, csv) -> None:
    assert prefers_csv(accept) is csv


# Limits -----------------------------------------------------------------------------------------


def test_limits_on_rows_and_bytes(places) -> None:
    client = Client(create_app({"notes": places["notes"]}, limits=Limits(rows=2, body_bytes=2000)))
    assert client.post("/predict", json={"rows": [ROW] * 2}).status_code == 200
    details = refused(
        client.post("/predict", json={"rows": [ROW] * 3}), 413, "too_many_rows", "more than 2 rows"
    )
    assert details == {"most_rows": 2}
    table = "body,hours,site\n" + "a,1,b\n" * 3
    refused(client.post("/predict", content=table, headers=CSV), 413, "too_many_rows", "2 rows")
    landmarks = [each["name"] for each in client.get("/landmarks").json()["landmarks"]]
    table = ",".join(landmarks) + "\n" + "1,0,1\n" * 3
    refused(client.post("/recover", content=table, headers=CSV), 413, "too_many_rows", "2 rows")
    long = {"rows": [{**ROW, "body": "x" * 2000}]}
    refused(client.post("/predict", json=long), 413, "body_too_large", "more than 2000 bytes")


def test_a_body_without_a_length_is_read_no_further_than_the_limit(places) -> None:
    client = Client(create_app({"notes": places["notes"]}, limits=Limits(body_bytes=1000)))
    sent = []

    async def endless():
        while True:
            sent.append(1)
            yield b"x" * 100

    refused(
        client.post("/predict", content=endless(), headers=CSV), 413, "body_too_large", "1000 bytes"
    )
    assert len(sent) <= 12


def test_a_request_that_takes_too_long(places) -> None:
    app = create_app({"notes": places["notes"]}, limits=Limits(seconds=0.2))
    model = app.state.registry.get(None)
    go_on = threading.Event()
    usual = model.work
    model.batcher._work = lambda *job: go_on.wait(30) and usual(*job)

    async def slow():
        await asyncio.sleep(30)
        yield b""

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            held_up = await client.post("/predict", json={"rows": [ROW]})
            go_on.set()
            later = await client.post("/predict", json={"rows": [ROW]})
            return [held_up, later, await client.post("/predict", content=slow(), headers=CSV)]

    held_up, later, dripping = asyncio.run(ask())
    refused(held_up, 504, "timeout", "within 0.2 seconds")
    assert later.status_code == 200
    refused(dripping, 504, "timeout", "within 0.2 seconds")


@pytest.mark.parametrize("name", ["body_bytes", "rows", "seconds", "waiting", "batch"])
def test_limits_are_above_zero(name) -> None:
    with pytest.raises(ValueError, match=f"The limit {name} is 0; give a number above 0"):
        Limits(**{name: 0})


def test_numbers_that_overflow_in_the_model_are_nobody_elses_trouble(places) -> None:
    app = create_app({"corners": places["corners"]}, limits=Limits(batch_seconds=0.05))
    model = app.state.registry.get(None)
    # Any model that overflows: infinity less infinity is not a number.
    model.tagger.pipeline[-1].embedding_.predict = lambda X: X[:, :2] * 1e300 - X[:, :2] * 1e300

    async def both() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            rows = [{"x": 0, "y": 0, "z": 0}, {"x": 1e30, "y": -1e30, "z": 1e30}]
            sent = ({"rows": [row]} for row in rows)
            return await asyncio.gather(*(client.post("/predict", json=body) for body in sent))

    good, bad = asyncio.run(both())
    assert good.status_code == 200
    assert refused(bad, 422, "value_too_large", "Row 1 contains numbers too large") == {"row": 1}


# Token ------------------------------------------------------------------------------------------


def test_the_token_is_asked_for(places) -> None:
    app = create_app({"notes": places["notes"]}, token=TOKEN)
    outside = Client(app)
    for header in (
        None,
        "Bearer",
        "Bearer wrong",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        "Bearer é",
    ):
        headers = {} if header is None else {"Authorization": header.encode("utf-8")}
        response = outside.get("/labels", headers=headers)
        refused(response, 401, "unauthorized", "Authorization: Bearer TOKEN")
        assert response.headers["www-authenticate"] == "Bearer"
    for path in ("/predict", "/reload"):
        assert outside.post(path, json={"rows": [ROW]}).status_code == 401
    for path in ("/metrics", "/openapi.json", "/models", "/nowhere"):
        assert outside.get(path).status_code == 401
    assert outside.get("/health").status_code == 200
    assert outside.get("/").status_code == 200
    inside = Client(app, {"Authorization": f"Bearer {TOKEN}"})
    assert inside.get("/labels").status_code == 200
    assert inside.post("/predict", json={"rows": [ROW]}).status_code == 200
    assert Client(app, {"Authorization": f"bearer  {TOKEN}"}).post("/reload").status_code == 200


# Anything at all --------------------------------------------------------------------------------

CELLS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda cell: st.lists(cell, max_size=3) | st.dictionaries(st.text(), cell, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["body", "hours", "site", "pump", "door"]) | st.text()
BODIES = st.fixed_dictionaries(
    {"rows": st.lists(st.dictionaries(NAMES, CELLS, max_size=4) | CELLS, max_size=3) | CELLS},
    optional={"threshold": CELLS, "top": CELLS},
)
FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def check_not_broken(response: httpx.Response) -> None:
    assert response.status_code < 500, response.text
    if response.status_code != 200:
        assert response.json()["error"]["message"].endswith(".")


@given(path=st.sampled_from(["/predict", "/explain", "/recover"]), body=BODIES)
@example(path="/predict", body={"rows": [{**ROW, "body": "\ud800"}]})
@example(path="/predict", body={"rows": [{**ROW, "hours": 10**400}]})
@example(path="/predict", body={"rows": [{**ROW, "\x00": 1}]})
@FUZZ
def test_any_json(client, path, body) -> None:
    content = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    check_not_broken(client.post(path, content=content, headers=headers))


@given(
    path=st.sampled_from(["/predict", "/explain", "/recover"]),
    kind=st.sampled_from(["application/json", "text/csv", "multipart/form-data; boundary=b"]),
    start=st.sampled_from([b"", b"body,hours,site\n", b'"body","hours","site"\r\n', b"--b\r\n"]),
    content=st.binary(max_size=60) | st.text("abc,;\"'\n\r\t01.e-", max_size=60).map(str.encode),
    accept=st.sampled_from(["", "text/csv"]),
)
@FUZZ
def test_any_bytes(client, path, kind, start, content, accept) -> None:
    headers = {"Content-Type": kind, "Accept": accept}
    check_not_broken(client.post(path, content=start + content, headers=headers))


@given(query=st.dictionaries(st.sampled_from(["model", "threshold", "top", "scores"]), st.text()))
@FUZZ
def test_any_query(client, query) -> None:
    check_not_broken(client.post("/predict", params=query, json={"rows": [ROW]}))
