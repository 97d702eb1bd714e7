"""How much the service takes on: bounds that keep one client from stopping the others."""

from __future__ import annotations

from dataclasses import dataclass, fields

from splmll.serving.errors import ServiceError


@dataclass(frozen=True)
class Limits:
    """Bounds of one service.

    Attributes
    ----------
    body_bytes : int
        The longest body of a request.
    rows : int
        The most rows of a request.
    cells : int
        The most numbers of an answer: rows x labels, for explanations rows x labels x landmarks.
    seconds : float
        How long a request may take, waiting included.
    waiting : int
        Requests that may wait for one model; further ones are sent away.
    batch : int
        Requests that are joined into one call of a model; 1 joins none.
    batch_seconds : float
        How long the first of them waits for others while the model is idle.
    head_bytes : int
        The longest head of a request: path, query and header fields.
    head_fields : int
        The most header fields of a request.
    head_seconds : float
        How long a head may take to arrive, and what is left of a body that is not wanted.

    Examples
    --------
    >>> from splmll.serving.limits import Limits
    >>> Limits(rows=5).rows
    5
    >>> Limits(rows=0)
    Traceback (most recent call last):
        ...
    ValueError: The limit of rows is 0; give a number above 0.
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
                raise ValueError(f"The limit of {each.name} is {value}; give a number above 0.")

    def check_rows(self, rows: int) -> None:
        """Refuse a request with too many rows."""
        if rows > self.rows:
            raise ServiceError(
                413,
                "too_many_rows",
                f"The request has more than {self.rows} rows; send them in several requests.",
                {"most_rows": self.rows},
            )
