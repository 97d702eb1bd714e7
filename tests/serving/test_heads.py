"""Heads of requests that are too large or too slow, sent to a real server over plain sockets."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

TOKEN = "a-token-for-tests"
HEAD_BYTES, HEAD_FIELDS = 8000, 50
GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
PATIENCE = 60
PROGRAM = f"""
import sys
from splmll.serving import Limits, create_app
from splmll.serving.server import bind, run
limits = Limits(head_bytes={HEAD_BYTES}, head_fields={HEAD_FIELDS}, head_seconds=0.5)
app = create_app({{"m": sys.argv[1]}}, token={TOKEN!r}, limits=limits)
bound = bind("127.0.0.1", 0)
bound.listen()
print(bound.getsockname()[1], flush=True)
run(app, bound)
"""


@pytest.fixture(scope="module")
def port(places) -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(places["corners"])], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    yield int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=PATIENCE)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def everything(connection: socket.socket) -> bytes:
    """What comes until the other side closes."""
    parts = []
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionResetError:  # closed before it had read what was sent
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def answer(port: int, *pieces: bytes) -> bytes:
    """What is answered to some bytes by the time that the connection is closed."""
    with connect(port) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
        except OSError:
            pass  # it hung up
        return everything(connection)


def sends_until_closed(connection: socket.socket, piece: bytes, pause: float) -> int:
    """How many pieces the other side takes before it closes the connection."""
    for number in range(1_000_000):
        try:
            connection.sendall(piece)
        except OSError:
            return number
        if pause:
            select.select([connection], [], [], pause)
    return 1_000_000


def status(answered: bytes) -> bytes:
    return answered.partition(b" ")[2][:3]


def is_refused(answered: bytes) -> bool:
    # What was still on its way may have destroyed the answer.
    return status(answered) in (b"431", b"") and b"models" not in answered


def test_a_head_within_the_limits(port) -> None:
    fields = b"".join(b"X-%d: y\r\n" % n for n in range(HEAD_FIELDS - 2))
    assert status(answer(port, GET, fields, b"Connection: close\r\n\r\n")) == b"200"
    long = b"X: " + b"y" * (HEAD_BYTES - 200) + b"\r\n"
    assert status(answer(port, GET, long, b"Connection: close\r\n\r\n")) == b"200"


def test_a_little_too_much(port) -> None:
    """All of it in one packet, so that the answer arrives: 431, and the connection is closed."""
    fields = b"".join(b"X-%d: y\r\n" % n for n in range(HEAD_FIELDS))
    assert status(answer(port, GET + fields + b"\r\n")) == b"431"
    assert status(answer(port, GET + b"X: " + b"y" * HEAD_BYTES + b"\r\n\r\n")) == b"431"
    # A field that does not end, and an address.
    assert status(answer(port, GET + b"X: " + b"y" * HEAD_BYTES)) == b"431"
    assert status(answer(port, b"GET /health?" + b"y" * HEAD_BYTES)) == b"431"
    # Line ends before a request, of which the parser says nothing.
    assert status(answer(port, b"\r\n" * HEAD_BYTES)) == b"431"


@pytest.mark.parametrize(
    "pieces",
    [
        [GET, b"X: ", *[b"y" * 2**16] * 320, b"\r\n\r\n"],
        [GET, *[b"X: y\r\n" * 1000] * 100, b"\r\n"],
        [b"\r\n" * 10_000] * 100,
        [b"GET /", *[b"y" * 2**16] * 100],
    ],
    ids=["20 megabytes in one field", "100,000 fields", "nothing but line ends", "an address"],
)
def test_far_too_much(port, pieces) -> None:
    assert is_refused(answer(port, *pieces))


def test_half_a_head_does_not_stay(port) -> None:
    """300 connections that never end their heads are answered with 408 and closed."""
    half = [connect(port) for _ in range(300)]
    for connection in half:
        connection.sendall(GET)
    assert status(answer(port, GET + b"Connection: close\r\n\r\n")) == b"200"
    assert {status(everything(connection)) for connection in half} == {b"408"}
    for connection in half:
        connection.close()


def test_dripping_bytes_do_not_stop_the_clock(port) -> None:
    with connect(port) as connection:
        connection.sendall(GET)
        while not select.select([connection], [], [], 0.05)[0]:
            connection.sendall(b"X: y\r\n")
        assert status(connection.recv(100)) == b"408"


def test_who_says_nothing_is_told_nothing(port) -> None:
    assert answer(port) == b""


def test_the_second_head_of_a_connection_has_a_limit_too(port) -> None:
    whole = GET + b"\r\n"
    answered = answer(port, whole + whole + GET)
    assert answered.count(b"HTTP/1.1 200") == 2
    assert answered.count(b"HTTP/1.1 408") == 1
    with connect(port) as connection:
        connection.sendall(whole)
        assert status(connection.recv(65536)) == b"200"
        connection.sendall(GET + b"X: " + b"y" * HEAD_BYTES)
        assert everything(connection).count(b"HTTP/1.1 431") == 1
    # What comes in one piece with the first may be answered as slow, but it does not stay.
    answered = answer(port, whole + GET + b"X: " + b"y" * 2 * HEAD_BYTES)
    assert answered.count(b"HTTP/1.1 200") <= 1


@pytest.mark.parametrize("path", [b"/predict", b"/reload"])
def test_without_a_token_the_body_is_not_read(port, path) -> None:
    """The answer comes at once, and nobody takes the gigabyte that was announced."""
    head = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"
    answered = answer(port, head + b"x" * 100)
    assert status(answered) == b"401"
    assert b"connection: close" in answered.lower()
    with connect(port) as connection:
        connection.sendall(head)
        sent = sends_until_closed(connection, b"x" * 50_000, pause=0)
    assert sent < 20_000  # pieces: the gigabyte


def test_a_body_that_nobody_wants_may_not_drip_for_ever(port) -> None:
    """The health of the service is answered without its body, which then has little time."""
    with connect(port) as connection:
        connection.sendall(GET + b"Content-Length: 1000000\r\n\r\n")
        assert status(connection.recv(1000)) == b"200"
        assert sends_until_closed(connection, b"x", pause=0.05) < 1_000_000


def test_fields_behind_a_body_are_bounded_and_do_not_count(port) -> None:
    head = b"POST /reload HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    body = b"\r\n1\r\nx\r\n0\r\n"
    with_token = head + b"Authorization: Bearer " + TOKEN.encode() + b"\r\n"
    authorised = b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n"
    assert status(answer(port, head + body + authorised)) == b"401"
    # Without an end they end with the connection: anything else would wait here for ever.
    for endless in (b"X: y\r\n", b"X" * 1000):
        answer(port, with_token + body, *[endless * 1000] * 100)
    whole = answer(port, with_token + b"Connection: close\r\n" + body + b"X: y\r\n\r\n")
    assert status(whole) == b"200"
