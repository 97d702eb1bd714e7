"""By which names a service answers, and what pages of other sites get from it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest
from asgi_client import Client

from splmll.serving import create_app
from splmll.serving.hosts import Hosts
from splmll.serving.server import bind, names_of

TOKEN = "a-token-for-tests"
ROW = {"body": "oil leak", "hours": 1.5, "site": "north"}


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8000", "a.localhost", "127.0.0.1:80", "[::1]:80", "192.168.1.7"]
    + ["tags.example.org", "tags.example.org.:443"],
)
def test_names_of_its_own(places, host) -> None:
    app = create_app({"m": places["corners"]}, hosts=["tags.example.org"])
    assert Client(app, {"Host": host}).get("/labels").status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", ""]
    + ["user@localhost", "localhost:8000:1", "[::1", "localhost, evil.example", "xlocalhost"],
)
def test_other_names_get_no_answer(client, host, caplog) -> None:
    with caplog.at_level(logging.WARNING, "splmll.serving"):
        for path in ("/", "/health", "/labels"):
            response = Client(client.app, {"Host": host}).get(path)
            assert (response.status_code, response.content) == (421, b"")
    # Once, however often it comes: the name may be one that was forgotten.
    assert [record.getMessage().count("--allow-host") for record in caplog.records] == [1]


def test_two_hosts_are_none(client) -> None:
    response = client.get("/health", headers=[("Host", "localhost"), ("Host", "localhost")])
    assert (response.status_code, response.content) == (421, b"")


def test_a_token_does_not_open_other_names(places) -> None:
    app = create_app({"m": places["corners"]}, token=TOKEN)
    headers = {"Host": "evil.example", "Authorization": f"Bearer {TOKEN}"}
    assert Client(app, headers).get("/labels").status_code == 421


def test_every_name_and_names_that_are_none(places) -> None:
    app = create_app({"m": places["corners"]}, hosts=["*"])
    assert Client(app, {"Host": "any.example"}).get("/labels").status_code == 200
    # Any name does not mean any page.
    foreign = {"Host": "any.example", "Origin": "http://evil.example"}
    assert Client(app, foreign).post("/reload").status_code == 403
    for name in ("http://a.example", "a.example:80", "", "a/b"):
        with pytest.raises(ValueError, match="is not a host name; give it without http://"):
            Hosts([name])


def test_what_an_interface_is_called(monkeypatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "attic")
    with bind("127.0.0.1", 0) as near, bind("0.0.0.0", 0) as far:
        assert names_of("127.0.0.1", near) == []
        assert names_of("localhost", near) == ["localhost"]
        assert names_of("0.0.0.0", far) == ["attic"]


# Pages of other sites ---------------------------------------------------------------------------

FOREIGN = {
    "a form": {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
    "an older browser": {"Origin": "http://evil.example"},
    "a file or a sandbox": {"Origin": "null"},
    "another port": {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"},
    "no origin": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    "a form without origin": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
def test_pages_of_other_sites_are_refused(client, headers) -> None:
    foreign = Client(client.app, {"Host": "localhost:8000", **headers})
    for response in (
        foreign.post("/reload"),
        foreign.post("/predict", json={"rows": [ROW]}),
    ):
        assert response.status_code == 403
        assert response.json()["error"]["code"] == "other_site"
        assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://localhost:8000", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "https://localhost:8000"},  # something in front speaks TLS
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_its_own_page_and_programs_may_ask(client, headers) -> None:
    own = Client(client.app, {"Host": "localhost:8000", **headers})
    assert own.post("/reload").status_code == 200


def test_a_link_from_another_site_opens_the_page_and_a_picture_does_not(client) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert Client(client.app, link).get("/").status_code == 200
    picture = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert Client(client.app, picture).get("/labels").status_code == 403


def test_the_name_of_a_server_in_front_counts(places) -> None:
    """Many of them put their own target into Host, and the page's address into Origin."""
    headers = {"Host": "127.0.0.1:8000", "Origin": "https://tags.example.org"}
    app = create_app({"m": places["corners"]}, hosts=["tags.example.org"])
    assert Client(app, headers).post("/reload").status_code == 200
    assert Client(create_app({"m": places["corners"]}), headers).post("/reload").status_code == 403


def test_whoever_knows_the_token_may_ask_from_anywhere(places) -> None:
    app = create_app({"m": places["corners"]}, token=TOKEN)
    foreign = {"Origin": "http://app.example"}
    assert Client(app, foreign).post("/reload").status_code == 401
    assert Client(app, foreign).get("/health").status_code == 403
    knowing = {**foreign, "Authorization": f"Bearer {TOKEN}"}
    assert Client(app, knowing).post("/reload").status_code == 200


def test_a_refusal_does_not_read_the_body(places) -> None:
    """Nothing is received, and the connection is closed."""
    app = create_app({"m": places["corners"]}, token=TOKEN)
    taken = []

    async def body() -> AsyncIterator[bytes]:
        taken.append("all of it")
        yield b"x" * 1000

    for headers, status in (({}, 401), ({"Host": "evil.example"}, 421)):
        for content in (b"x" * 1000, body()):
            response = Client(app, headers).post("/predict", content=content)
            assert (response.status_code, response.headers["connection"]) == (status, "close")
    assert taken == []
    assert "connection" not in Client(app).get("/labels").headers
