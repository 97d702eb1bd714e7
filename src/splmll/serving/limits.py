"""Limits of the service, which keep one client from blocking the others."""

from __future__ import annotations

from dataclasses import dataclass, fields

from splmll.serving.errors import ServiceError


@dataclass(frozen=True)
class Limits:
    """Limits of a service.

    Attributes
    ----------
    body_bytes : int
        The maximum size of a request body.
    rows : int
        The maximum number of rows in a request.
    cells : int
        The maximum number of values in an answer: rows x labels, times landmarks in explanations.
    seconds : float
        How long a request may take, including waiting.
    waiting : int
        How many requests may wait for one model; further ones are refused.
    batch : int
        How many requests are combined into one call of a model; 1 combines none.
    batch_seconds : float
        How long the first of them waits for others while the model is idle.
    head_bytes : int
        The maximum size of a request's head: path, query and header fields.
    head_fields : int
        The maximum number of header fields in a request.
    head_seconds : float
        How long a head may take to arrive, and the rest of a body that is not wanted.

    Examples
    --------
    >>> from splmll.serving.limits import Limits
    >>> Limits(rows=5).rows
    5
    >>> Limits(rows=0)
    Traceback (most recent call last):
        ...
    ValueError: The limit rows is 0; give a number above 0.
    """

    body_bytes: int = 16 * 2**20
    rows: int = 10_000
    cells: int = 5_000_000
    seconds: float = 30.0
    waiting: int = 1024
    batch: int = 64
    batch_seconds: float = 0.002
    head_bytes: int = 32 * 1024
    head_fields: int = 100
    head_seconds: float = 10.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not value > 0:
                raise ValueError(f"The limit {each.name} is {value}; give a number above 0.")

    def check_rows(self, rows: int) -> None:
        """Refuse a request with too many rows."""
        if rows > self.rows:
            raise ServiceError(
                413,
                "too_many_rows",
                f"The request has more than {self.rows} rows; send them in several requests.",
                {"most_rows": self.rows},
            )
