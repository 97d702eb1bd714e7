"""``splmll serve`` as a process: its address, its signals, its end, and its life after a kill."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest
from served_process import Served, process_log

from splmll.cli import main

ROW = {"body": "oil leak", "hours": 1.5, "site": "north"}
TOKEN = "a-token-for-tests"


def until(condition) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not happen within a minute"
        time.sleep(0.02)


@pytest.mark.slow
def test_killed_and_started_again_it_serves_again(places) -> None:
    with Served(places["notes"], "--port", 0) as first:
        before = first.client.post("/predict", json={"rows": [ROW]}).json()
        first.process.send_signal(signal.SIGKILL)
        first.process.wait(60)
        with Served(places["notes"], "--port", first.port) as second:
            assert second.client.post("/predict", json={"rows": [ROW]}).json() == before


@pytest.mark.slow
def test_a_long_life(places, tmp_path) -> None:
    folder = tmp_path / "copied"
    shutil.copytree(places["notes"], folder)
    token = tmp_path / "token.txt"
    token.write_text(f"{TOKEN}\n")
    arguments = [folder, f"songs={places['corners']}", "--port", 0, "--token-file", token]
    with Served(*arguments, "--max-body", 0.01) as served:
        assert served.said[:2] == [
            "copied: SPL-MLL, 4 labels, 3 columns",
            "songs: SPL-MLL (linear), 2 labels, 3 columns",
        ]
        assert served.address.startswith("http://127.0.0.1:")
        assert served.client.get("/health").json()["models"] == ["copied", "songs"]
        assert served.client.get("/labels").status_code == 401
        served.client.headers["Authorization"] = f"Bearer {TOKEN}"
        many_at_once(served)
        endless_body(served)
        reload_by_signal(served, folder, places["plain"])
        ends_politely(served)


def many_at_once(served: Served) -> None:
    """32 clients get what one gets, and their requests are joined."""
    rows = [{"body": word, "hours": 1, "site": ""} for word in ("oil leak", "door lock", "pump")]
    alone = [served.client.post("/predict", json={"rows": [row]}).json() for row in rows]
    expected = [answer["rows"][0] for answer in alone]
    wrong: list[object] = []

    def ask(number: int) -> None:
        with httpx.Client(base_url=served.address, headers=served.client.headers) as client:
            for turn in range(5):
                row = (number + turn) % 3
                response = client.post("/predict", json={"rows": [rows[row]]}, timeout=60)
                [found] = response.json()["rows"]
                if found["labels"] != expected[row]["labels"] or found["scores"] != pytest.approx(
                    expected[row]["scores"]
                ):
                    wrong.append(found)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    text = served.client.get("/metrics").text
    single = next(line for line in text.splitlines() if 'batch_requests_bucket{le="1.0"' in line)
    count = next(
        line for line in text.splitlines() if line.startswith("splmll_batch_requests_count")
    )
    requests = next(
        line for line in text.splitlines() if line.startswith("splmll_batch_requests_sum")
    )
    assert float(requests.split()[-1]) == 163
    assert float(single.split()[-1]) < float(count.split()[-1]) < 163


def endless_body(served: Served) -> None:
    """A body in pieces, without a length, is answered when it is too long."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.sendall(
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
            b"Authorization: Bearer " + TOKEN.encode() + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        answer = b""
        try:
            for _ in range(100):
                connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")
        except OSError:
            pass  # it hung up
        while True:
            try:
                part = connection.recv(4096)
            except OSError:
                break
            if not part:
                break
            answer += part
    # The rest of the body may have crossed the answer on its way and destroyed it.
    assert not answer or answer.startswith(b"HTTP/1.1 413")
    assert served.client.get("/health").status_code == 200


def reload_by_signal(served: Served, folder, other) -> None:
    """SIGHUP reads a changed model; requests go on meanwhile."""
    for place in folder.iterdir():
        place.unlink()
    for place in other.iterdir():
        shutil.copy(place, folder / place.name)
    (folder / "manifest.json").touch()
    served.process.send_signal(signal.SIGHUP)

    def is_new() -> bool:
        assert served.client.post("/predict", json={"rows": [ROW]}).status_code == 200
        return served.client.get("/models").json()["models"][0]["method"] == "BR"

    until(is_new)


def ends_politely(served: Served) -> None:
    """SIGTERM lets a request finish that has begun, and refuses others."""
    body = b'{"rows": [{"body": "oil", "hours": 1, "site": ""}]}'
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        head = (
            f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body[:10])
        assert served.client.get("/health").status_code == 200  # it has been accepted by now
        served.client.close()
        served.process.send_signal(signal.SIGTERM)

        def is_closed() -> bool:
            try:
                socket.create_connection(("127.0.0.1", served.port), timeout=60).close()
            except ConnectionRefusedError:
                return True
            return False

        until(is_closed)
        assert served.process.poll() is None
        connection.sendall(body[10:])
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    log = process_log(served)
    assert "Traceback" not in log
    assert served.process.returncode in (0, -signal.SIGTERM)


# What is refused before a model is loaded ---------------------------------------------------------


def said(capfd, *arguments: object) -> tuple[int, str]:
    """Run the command in this process; return its status and its message."""
    with pytest.raises(SystemExit) as end:
        main(["serve", *map(str, arguments)])
    return int(end.value.code or 0), " ".join(capfd.readouterr().err.split())


def test_a_port_that_is_taken(places, capfd) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, message = said(capfd, places["notes"], "--port", port)
    assert status == 2
    assert f"The address 127.0.0.1:{port} cannot be used" in message
    assert "give another --port" in message


def test_names_of_models(places, tmp_path, capfd) -> None:
    status, message = said(capfd, tmp_path / "nothing")
    assert (status, "there is no such folder" in message) == (2, True)
    status, message = said(capfd, places["notes"], places["notes"])
    assert (status, "Two models are called 'notes'" in message) == (2, True)
    status, message = said(capfd, f"={places['notes']}")
    assert (status, "has no name" in message) == (2, True)
    (tmp_path / "empty").mkdir()
    status, message = said(capfd, tmp_path / "empty", "--port", 0)
    assert (status, "there is no model in this folder" in message) == (2, True)


@pytest.mark.parametrize("token", ["", "short", "with a space in it", "with-an-é-in-it"])
def test_tokens_that_are_none(places, tmp_path, capfd, monkeypatch, token) -> None:
    (tmp_path / "token").write_text(token, encoding="utf-8")
    status, message = said(capfd, places["notes"], "--token-file", tmp_path / "token")
    assert (status, "contains no usable token" in message) == (2, True)
    monkeypatch.setenv("SPLMLL_TOKEN", token)
    status, message = said(capfd, places["notes"])
    assert (status, "The variable SPLMLL_TOKEN contains no usable token" in message) == (2, True)


def test_an_interface_that_is_not_here(places, capfd) -> None:
    status, message = said(capfd, places["notes"], "--host", "192.0.2.1")
    assert status == 2
    assert "192.0.2.1" in message


def test_everyone_without_a_token_is_warned_about(places, capfd, monkeypatch) -> None:
    served = []
    monkeypatch.setattr("splmll.serving.server.run", lambda app, bound: served.append(app))
    everywhere = [places["notes"], "--host", "0.0.0.0", "--port", 0]
    status, message = said(capfd, *everywhere)
    assert status == 0
    assert "anyone who can reach 0.0.0.0 can use the service; set SPLMLL_TOKEN" in message
    monkeypatch.setenv("SPLMLL_TOKEN", TOKEN)
    assert said(capfd, *everywhere) == (0, "")
    assert said(capfd, f"a={places['notes']}", "--port", 0, "--batch", 1) == (0, "")
    assert [app.state.registry.names for app in served] == [["notes"], ["notes"], ["a"]]


def test_a_missing_package_is_named() -> None:
    # None in sys.modules is what a missing package looks like.
    program = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from splmll.cli import main; main(['serve', sys.argv[1]])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, os.getcwd()], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 2
    assert 'The service needs the package fastapi: pip install "splmll[serve]".' in ran.stderr
