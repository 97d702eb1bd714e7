"""Errors of the service: a code for programs, a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ServiceError(Exception):
    """A request that is refused, with the HTTP status and the body of the answer.

    Parameters
    ----------
    status : int
        HTTP status.
    code : str
        What is wrong, for programs.
    message : str
        What is wrong and what to do, for people.
    details : mapping, optional
        Names and numbers of the message.
    headers : mapping, optional
        Headers of the answer.

    Examples
    --------
    >>> from splmll.serving.errors import ServiceError
    >>> error = ServiceError(404, "unknown_model", "There is no model 'b'.", {"model": "b"})
    >>> error.status, error.body()["error"]["code"]
    (404, 'unknown_model')
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.details = dict(details or {})
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {
            "error": {"code": self.code, "message": self.message, "details": self.details},
        }
