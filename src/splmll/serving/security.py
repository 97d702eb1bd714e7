"""Who may use the service, and what a browser may do with the answers."""

from __future__ import annotations

import hmac
import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from splmll.serving.answers import error_response
from splmll.serving.errors import ServiceError
from splmll.serving.hosts import Hosts

_LOG = logging.getLogger("splmll.serving")
TOKEN_VARIABLE = "SPLMLL_TOKEN"
# The page asks for the token itself; whoever looks whether the service lives needs none.
OPEN_PATHS = frozenset({"/", "/annotate", "/health"})
_LEAST_TOKEN = 8  # characters; fewer are quickly guessed
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_TOLD_HOSTS = 20  # names in the log; whoever sends more of them is no user
_NOTHING = "default-src 'none'; frame-ancestors 'none'"


class Guard:
    """Middleware: refuses forbidden requests before reading the body; adds headers for browsers.

    Refused are requests to a name that is not the service's, requests without the token, and
    requests that a page of another site sends without the token.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    token : str or None
        The token; None: no token is needed.
    hosts : Hosts
        The names of the service.
    """

    def __init__(self, app: ASGIApp, token: str | None, hosts: Hosts) -> None:
        self.app, self.hosts = app, hosts
        self.token = None if token is None else token.encode()
        self._strange_hosts: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Content-Security-Policy", _NOTHING)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a forbidden request; None for an allowed one."""
        headers = Headers(scope=scope)
        given = headers.getlist("host")
        if len(given) != 1 or not self.hosts.allow(given[0]):
            self._tell_strange(", ".join(given))
            # No word to a page that calls this service by its own name.
            refusal = Response(status_code=421)
        elif self._knows_token(headers):
            return None
        elif self.token is not None and scope["path"] not in OPEN_PATHS:
            refusal = error_response(_NOT_ALLOWED)
        elif self.hosts.is_foreign(headers, scope["method"]):
            refusal = error_response(_OTHER_SITE)
        else:
            return None
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            refusal.headers["Connection"] = "close"  # the body is not read
        return refusal

    def _knows_token(self, headers: Headers) -> bool:
        if self.token is None:
            return False
        kind, _, given = headers.get("authorization", "").partition(" ")
        # In constant time: how long it takes says nothing about how much of it was right.
        right = hmac.compare_digest(given.strip().encode("latin-1"), self.token)
        return right and kind.lower() == "bearer"

    def _tell_strange(self, host: str) -> None:
        """Log a refused host name once: it may be a name that should be allowed."""
        if host in self._strange_hosts or len(self._strange_hosts) >= _TOLD_HOSTS:
            return
        self._strange_hosts.add(host)
        _LOG.warning(
            "A request to the host %.100r was refused; if that is a name of this service, start it "
            "with --allow-host NAME (in Python hosts=[...]).",
            host,
        )


_NOT_ALLOWED = ServiceError(
    401,
    "unauthorized",
    "This service needs a token; send it as the header 'Authorization: Bearer TOKEN'.",
    headers={"WWW-Authenticate": "Bearer"},
)
_OTHER_SITE = ServiceError(
    403,
    "other_site",
    "Pages of other sites may not use this service; open its own page, or use a program.",
)


def content_policy(script_hashes: Sequence[str]) -> str:
    """Return the Content-Security-Policy under which a page runs its own scripts and no others.

    Parameters
    ----------
    script_hashes : sequence of str
        Hashes of the scripts in it.

    Returns
    -------
    policy : str
        Requests go to the service only, and no other page may hold this one in a frame.

    Examples
    --------
    >>> from splmll.serving.security import content_policy
    >>> content_policy(["sha256-abc"]).split("; ")[1]
    "script-src 'sha256-abc'"
    """
    scripts = " ".join(f"'{each}'" for each in script_hashes)
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def find_token(file: Path | None) -> str | None:
    """Return the token from a file, else from the environment, else None.

    Parameters
    ----------
    file : Path or None
        A file with nothing but the token.

    Returns
    -------
    token : str or None
    """
    if file is not None:
        where, token = str(file), file.read_text(encoding="utf-8").strip()
    elif TOKEN_VARIABLE in os.environ:
        where, token = f"The variable {TOKEN_VARIABLE}", os.environ[TOKEN_VARIABLE].strip()
    else:
        return None
    if len(token) < _LEAST_TOKEN or not re.fullmatch(r"[!-~]+", token):
        raise ValueError(
            f"{where} contains no usable token; use at least {_LEAST_TOKEN} letters, digits and "
            "punctuation marks without spaces, for instance from: openssl rand -hex 32"
        )
    return token
