"""Bounds on the head of a request, in bytes, fields and seconds, before anyone looks at it.

The parser that uvicorn uses collects a head of any size and waits for its end for ever. Here a
head that is too large is answered with 431 and one that is too slow with 408, and then the
connection is closed, whoever sent it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from splmll.serving.limits import Limits

_TOO_LARGE = b"431 Request Header Fields Too Large"
_TOO_SLOW = b"408 Request Timeout"


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """Return the protocol for ``uvicorn.Config(http=...)`` under which heads are bounded.

    Parameters
    ----------
    limits : Limits
        Its ``head_bytes``, ``head_fields`` and ``head_seconds`` count.

    Returns
    -------
    protocol : class
    """

    class Bounded(_BoundedProtocol):
        bounds = limits

    return Bounded


class _HeadTooLarge(Exception):
    """Stops the parser."""


class _BoundedProtocol(HttpToolsProtocol):
    """One connection. What is counted starts anew with every request on it."""

    bounds: Limits

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._clock: asyncio.TimerHandle | None = None
        self._unseen = 0  # bytes that came since the parser last reported something whole
        self._head_bytes = self._head_fields = 0
        self._begun = False  # a request, of which the end has not come yet
        self._in_head = True
        self._too_large = False
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unseen += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._unseen > self.bounds.head_bytes:
            self._refuse(_TOO_LARGE)
        elif self._in_head and (self._begun or self._unseen) and self._clock is None:
            self._start_clock()

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser has stopped at."""
        if self._too_large:
            self._refuse(_TOO_LARGE)
        else:
            super().send_400_response(msg)

    # What the parser reports ------------------------------------------------

    def on_message_begin(self) -> None:
        self._begun = True
        self._head_bytes = self._head_fields = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_fields += 1
        self._count(len(name) + len(value))
        # Fields behind a body in pieces are none of the head, whose checks are over.
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._unseen = 0
        self._stop_clock()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unseen = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_head, self._begun = True, False
        self._unseen = 0
        self._stop_clock()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        # Nobody waits for the rest of this body: it may come, but not for ever.
        if not self._in_head and not self.pipeline:
            self._start_clock()
        super().on_response_complete()

    # Bounds -----------------------------------------------------------------

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self.bounds.head_bytes or self._head_fields > self.bounds.head_fields:
            self._too_large = True
            raise _HeadTooLarge

    def _start_clock(self) -> None:
        self._stop_clock()
        self._clock = self.loop.call_later(self.bounds.head_seconds, self._time_is_over)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _time_is_over(self) -> None:
        self._clock = None
        if self._is_answering():
            self._start_clock()  # the request before this one has a limit of its own
        elif self._begun and self._in_head:
            self._refuse(_TOO_SLOW)
        else:
            self.transport.close()  # nothing was asked that could be answered

    def _refuse(self, status: bytes) -> None:
        if not self._is_answering():
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
        self.transport.close()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete
