"""Micro-batching: requests that arrive together become one call of the model.

All bookkeeping happens in the event loop, the work itself in one thread, so there are no locks.
While one batch is processed the next one fills up; an idle model waits a moment for more requests.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from splmll.serving.errors import ServiceError

_RETRY_SECONDS = 1  # when to come again to a service that is busy

Work = Callable[[str, Sequence[Any]], Sequence[Any]]


@dataclass(frozen=True, eq=False)
class _Job:
    kind: str
    payload: Any
    cost: int
    future: asyncio.Future[Any]


class Batcher:
    """Combines requests into batches and processes one batch at a time.

    Parameters
    ----------
    work : callable
        ``work(kind, payloads)`` returns one result, or exception, for each payload. Called in the
        thread. If it raises, it is called again for each payload alone, so that one request's error
        does not affect the others.
    requests : int
        The maximum number of requests in a batch.
    cost : int
        The maximum cost of a batch; a single request may exceed it.
    wait : float
        Seconds that the first request waits for others while the model is idle.
    waiting : int
        The number of requests that may wait; further ones are refused with status 503.
    observe : callable, optional
        Called with the number of requests and the cost of every batch.

    Examples
    --------
    >>> import asyncio
    >>> from splmll.serving.batching import Batcher
    >>> def double(kind, payloads):
    ...     return [2 * payload for payload in payloads]
    >>> async def three():
    ...     batcher = Batcher(double, requests=8, cost=100, wait=0.001, waiting=10)
    ...     return await asyncio.gather(*(batcher.submit("double", n, 1) for n in (1, 2, 3)))
    >>> asyncio.run(three())
    [2, 4, 6]
    """

    def __init__(
        self,
        work: Work,
        *,
        requests: int,
        cost: int,
        wait: float,
        waiting: int,
        observe: Callable[[int, int], None] | None = None,
    ) -> None:
        self._work, self._observe = work, observe
        self._requests, self._cost, self._wait, self._most = requests, cost, wait, waiting
        self._queue: deque[_Job] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False
        # Its thread ends when the last request that knows this batcher is done: a replaced model
        # needs no one to stop it.
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")

    @property
    def waiting(self) -> int:
        """Number of requests that wait."""
        return len(self._queue)

    async def submit(self, kind: str, payload: Any, cost: int) -> Any:
        """Wait for the result of one request.

        Parameters
        ----------
        kind : str
            What to do; only requests of the same kind share a batch.
        payload : object
            What to do it with.
        cost : int
            How much of the batch it takes.

        Returns
        -------
        result : object
        """
        if len(self._queue) >= self._most:
            raise ServiceError(
                503,
                "busy",
                f"{self._most} requests are waiting for this model; try again in a moment.",
                {"waiting": self._most},
                {"Retry-After": str(_RETRY_SECONDS)},
            )
        job = _Job(kind, payload, cost, asyncio.get_running_loop().create_future())
        self._queue.append(job)
        if not self._busy:
            if len(self._queue) >= self._requests:
                self._start()
            elif self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(self._wait, self._start)
        return await job.future

    def _start(self) -> None:
        """Hand the next batch to the thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch = self._next_batch()
        if not batch:
            return
        self._busy = True
        if self._observe is not None:
            self._observe(len(batch), sum(job.cost for job in batch))
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(
            self._executor, self._results, batch[0].kind, [job.payload for job in batch]
        )
        done.add_done_callback(lambda future: self._finish(batch, future.result()))

    def _next_batch(self) -> list[_Job]:
        """Take the first requests of one kind; those that nobody waits for any more are dropped."""
        batch: list[_Job] = []
        cost = 0
        while self._queue and len(batch) < self._requests:
            job = self._queue[0]
            if not job.future.cancelled():
                if batch and (job.kind != batch[0].kind or cost + job.cost > self._cost):
                    break
                batch.append(job)
                cost += job.cost
            self._queue.popleft()
        return batch

    def _results(self, kind: str, payloads: list[Any]) -> Sequence[Any]:
        try:
            return self._work(kind, payloads)
        except Exception as error:
            if len(payloads) == 1:
                return [error]
        return [result for payload in payloads for result in self._results(kind, [payload])]

    def _finish(self, batch: list[_Job], results: Sequence[Any]) -> None:
        for job, result in zip(batch, results):
            if job.future.done():  # the client has gone, or its time is over
                continue
            if isinstance(result, Exception):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)
        self._busy = False
        self._start()
