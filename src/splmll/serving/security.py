"""Who may ask, and what a browser may do with the answers."""

from __future__ import annotations

import hmac
import os
import re
from collections.abc import Sequence
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from splmll.serving.answers import error_response
from splmll.serving.errors import ServiceError

TOKEN_VARIABLE = "SPLMLL_TOKEN"
# The page asks for the token itself; whoever looks whether the service lives needs none.
OPEN_PATHS = frozenset({"/", "/annotate", "/health"})
_LEAST_TOKEN = 8  # characters; fewer are quickly guessed
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_NOTHING = "default-src 'none'; frame-ancestors 'none'"


class Guard:
    """Middleware: refuses requests without the token, and adds headers for browsers.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    token : str or None
        The token; None: everyone may ask.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self.app = app
        self.token = None if token is None else token.encode()

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

        if self._may_ask(scope):
            await self.app(scope, receive, send_with_headers)
        else:
            await error_response(_NOT_ALLOWED)(scope, receive, send_with_headers)

    def _may_ask(self, scope: Scope) -> bool:
        if self.token is None or scope["path"] in OPEN_PATHS:
            return True
        kind, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        # In constant time: how long it takes says nothing about how much of it was right.
        right = hmac.compare_digest(given.strip().encode("latin-1"), self.token)
        return right and kind.lower() == "bearer"


_NOT_ALLOWED = ServiceError(
    401,
    "unauthorized",
    "This service needs a token; send it as the header 'Authorization: Bearer TOKEN'.",
    headers={"WWW-Authenticate": "Bearer"},
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
            f"{where} holds no usable token; write one of at least {_LEAST_TOKEN} letters, digits "
            "and signs without spaces, for instance with: openssl rand -hex 32"
        )
    return token
