"""Metrics for Prometheus: requests, how long they took, and how they were combined."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

# One millisecond to ten seconds; the promise is 250 ms for 99 of 100 requests.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The counters of one service.

    Examples
    --------
    >>> from splmll.serving.metrics import Metrics
    >>> metrics = Metrics()
    >>> metrics.request("/predict", 200, 0.004)
    >>> b'splmll_requests_total{endpoint="/predict",status="200"} 1.0' in metrics.text()
    True
    """

    def __init__(self) -> None:
        # Not the registry of the process: there may be several services in one.
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "splmll_requests", "Requests answered.", ["endpoint", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "splmll_request_seconds",
            "Time from the head of a request to the end of its answer.",
            ["endpoint"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._rows = Counter(
            "splmll_rows", "Rows answered.", ["endpoint", "model"], registry=self._registry
        )
        self._batches = Histogram(
            "splmll_batch_requests",
            "Requests combined into one call of a model.",
            ["model"],
            buckets=_REQUESTS,
            registry=self._registry,
        )
        self._waiting = Gauge(
            "splmll_waiting_requests",
            "Requests waiting for a model.",
            ["model"],
            registry=self._registry,
        )
        self._loads = Counter(
            "splmll_model_loads",
            "Models read from their folders.",
            ["model", "result"],
            registry=self._registry,
        )

    def request(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(endpoint, str(status)).inc()
        self._seconds.labels(endpoint).observe(seconds)

    def rows(self, endpoint: str, model: str, number: int) -> None:
        """Count rows that were answered."""
        self._rows.labels(endpoint, model).inc(number)

    def batch(self, model: str, requests: int) -> None:
        """Count a batch."""
        self._batches.labels(model).observe(requests)

    def load(self, model: str, result: str) -> None:
        """Count a model that was read, or that could not be."""
        self._loads.labels(model, result).inc()

    def watch_waiting(self, model: str, number: Callable[[], float]) -> None:
        """Ask for the number of waiting requests whenever someone looks."""
        self._waiting.labels(model).set_function(number)

    def text(self) -> bytes:
        """Return everything in the format of Prometheus."""
        return generate_latest(self._registry)
