"""Batches: what is joined, what is not, and that nobody suffers from another."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from splmll.serving.batching import Batcher
from splmll.serving.errors import ServiceError


class Worker:
    """Doubles numbers, notes every call, and can be held up."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[Any]]] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.threads: set[int] = set()

    def __call__(self, kind: str, payloads: Any) -> list[Any]:
        self.calls.append((kind, list(payloads)))
        self.threads.add(threading.get_ident())
        assert self.go_on.wait(30)
        return [2 * payload for payload in payloads]


def batcher(work: Any, **changes: Any) -> Batcher:
    return Batcher(work, **{"requests": 8, "cost": 100, "wait": 0.02, "waiting": 10, **changes})


async def together(joined: Batcher, *jobs: tuple[str, Any, int]) -> list[Any]:
    return await asyncio.gather(*(joined.submit(*job) for job in jobs), return_exceptions=True)


def test_what_arrives_together_is_one_call() -> None:
    work = Worker()
    found = asyncio.run(together(batcher(work), *(("a", n, 1) for n in range(5))))
    assert found == [0, 2, 4, 6, 8]
    assert work.calls == [("a", [0, 1, 2, 3, 4])]


def test_what_arrives_meanwhile_is_the_next_call() -> None:
    work = Worker()

    async def run() -> list[Any]:
        joined = batcher(work, wait=0)
        work.go_on.clear()
        first = asyncio.create_task(joined.submit("a", 0, 1))
        while not work.calls:
            await asyncio.sleep(0.001)
        later = [asyncio.create_task(joined.submit("a", n, 1)) for n in (1, 2, 3)]
        await asyncio.sleep(0.01)
        assert joined.waiting == 3
        work.go_on.set()
        return await asyncio.gather(first, *later)

    assert asyncio.run(run()) == [0, 2, 4, 6]
    assert work.calls == [("a", [0]), ("a", [1, 2, 3])]
    assert len(work.threads) == 1


@pytest.mark.parametrize(
    ("changes", "jobs", "calls"),
    [
        ({"requests": 2}, [("a", 1, 1)] * 5, [2, 2, 1]),
        (
            {"cost": 10},
            [("a", 1, 4), ("a", 1, 4), ("a", 1, 4), ("a", 1, 99), ("a", 1, 1)],
            [2, 1, 1, 1],
        ),
        ({}, [("a", 1, 1), ("b", 1, 1), ("b", 1, 1), ("a", 1, 1)], [1, 2, 1]),
    ],
    ids=["requests", "cost", "kinds"],
)
def test_batches_have_bounds(changes, jobs, calls) -> None:
    work = Worker()
    assert asyncio.run(together(batcher(work, **changes), *jobs)) == [2] * len(jobs)
    assert [len(payloads) for _, payloads in work.calls] == calls


def test_an_error_is_nobody_elses() -> None:
    def work(kind: str, payloads: Any) -> list[Any]:
        if "bad" in payloads:
            raise KeyError("bad")
        return [ValueError("worse") if each == "worse" else each for each in payloads]

    first, bad, worse, last = asyncio.run(
        together(batcher(work), *(("a", each, 1) for each in (1, "bad", "worse", 4)))
    )
    assert (first, last) == (1, 4)
    assert isinstance(bad, KeyError)
    assert isinstance(worse, ValueError)


def test_a_full_queue_sends_away() -> None:
    work = Worker()
    found = asyncio.run(together(batcher(work, waiting=3), *(("a", n, 1) for n in range(5))))
    assert found[:3] == [0, 2, 4]
    for refused in found[3:]:
        assert isinstance(refused, ServiceError)
        assert (refused.status, refused.code) == (503, "busy")
        assert refused.headers == {"Retry-After": "1"}


def test_those_who_left_cost_nothing_and_hold_up_nobody() -> None:
    work = Worker()

    async def run() -> Any:
        joined = batcher(work, wait=0)
        work.go_on.clear()
        running = asyncio.create_task(joined.submit("a", 0, 1))
        while not work.calls:
            await asyncio.sleep(0.001)
        leaving = asyncio.create_task(joined.submit("a", 1, 1))
        staying = asyncio.create_task(joined.submit("a", 2, 1))
        await asyncio.sleep(0.01)
        running.cancel()
        leaving.cancel()
        await asyncio.sleep(0.01)
        work.go_on.set()
        return await staying

    assert asyncio.run(run()) == 4
    assert work.calls == [("a", [0]), ("a", [2])]
