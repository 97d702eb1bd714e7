"""How much the service holds: clients that ask about single rows, a long life, and a restart.

First 32 clients, with and without joined requests. Then 64 connections while the model is replaced
every second and one request of 20 is given up by its client, for 200,000 requests: how long 99 of
100 answers take, and whether memory grows. Then a restart after a kill.

A real server process and a client in another process share the machine over loopback. The client
is ``wrk`` where it is installed, else a loop over plain sockets. The model is SPL-MLL with a linear
embedding, 1000 numeric columns and 268 labels; every answer holds the scores of all labels.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.generated import dense_problem
from benchmarks.measuring import Finding, in_own_process, main
from splmll.datasets import Dataset
from splmll.tagging import Tagger

SIZE, QUICK_SIZE = (3000, 1000, 268), (300, 20, 15)
SECONDS = 10
WARM_UP_SECONDS = 1
CLIENTS = 32
BODIES = 64  # different rows, asked for in turn
LEAST_RATE, MOST_P99, MOST_RESTART = 300, 250, 5
SOAK_REQUESTS, QUICK_SOAK_REQUESTS = 200_000, 2_000
SOAK_CLIENTS = 64
RELOAD_SECONDS = 1.0
GIVEN_UP = 20  # one request of so many is cancelled by its client
MOST_GROWTH = 1.1  # memory at the end over memory after a tenth of the requests
START_LIMIT = 120  # seconds after which a server that says nothing has failed

WRK_SCRIPT = """
local bodies = {}
for line in io.lines(os.getenv("BODIES")) do bodies[#bodies + 1] = line end
local turn = 0
request = function()
  turn = turn % #bodies + 1
  return wrk.format("POST", nil, {["Content-Type"] = "application/json"}, bodies[turn])
end
done = function(summary, latency)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  local form = '\\n{"requests": %d, "seconds": %f, "errors": %d, "p50": %f, "p99": %f}\\n'
  io.write(string.format(form, summary.requests, summary.duration / 1e6, failed,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
"""


def measure(quick: bool) -> Iterator[Finding]:
    n_rows, n_features, n_labels = QUICK_SIZE if quick else SIZE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(folder, n_rows, n_features, n_labels)
        bodies = write_bodies(folder, n_features)
        yield from soak(folder, bodies, quick)
        if quick:  # a server takes seconds to start
            return
        yield from single_rows(folder, bodies, f"{n_features} features, {n_labels} labels")
        yield Finding(
            "killed and restarted, beyond loading the model",
            restart(folder / "model"),
            "s",
            high=MOST_RESTART,
        )


def single_rows(folder: Path, bodies: Path, size: str) -> Iterator[Finding]:
    """Ask about single rows, with and without joined requests."""
    title = f"{size}, {CLIENTS} clients"
    found = {}
    for batch in (None, 1):
        with server(folder / "model", batch) as (address, process):
            load(address, bodies, WARM_UP_SECONDS)
            before = processor_seconds(process)
            found[batch] = load(address, bodies, SECONDS)
            used = processor_seconds(process) - before
            found[batch]["processor_ms"] = 1000 * used / found[batch]["requests"]
    joined, single = found[None], found[1]
    rate, alone = (each["requests"] / each["seconds"] for each in (joined, single))
    yield Finding(f"{title}: answers a second", rate, "/s", low=LEAST_RATE, details=joined)
    yield Finding(f"{title}: errors", joined["errors"], high=0)
    yield Finding(f"{title}: median", joined["p50"], "ms")
    yield Finding(f"{title}: 99 of 100 within", joined["p99"], "ms", high=MOST_P99)
    # What a busy machine does not change.
    yield Finding(f"{title}: CPU time of an answer", joined["processor_ms"], "ms")
    yield Finding(
        f"{title}: joined over one by one", rate / alone, "times the rate", details=single
    )


def soak(folder: Path, bodies: Path, quick: bool) -> Iterator[Finding]:
    """Ask for long over 64 connections, while the model is replaced and clients give up."""
    requests = QUICK_SOAK_REQUESTS if quick else SOAK_REQUESTS
    title = f"{requests:,} requests over {SOAK_CLIENTS} connections, reloads and cancellations"
    with server(folder / "model") as (address, process):
        before = processor_seconds(process)
        found = in_own_process(
            "service_load",
            "mixed_client",
            quick=quick,
            address=address,
            bodies=str(bodies),
            requests=requests,
            manifest=str(folder / "model" / "manifest.json"),
            process=process.pid,
        )
        seconds = found["wall_seconds"]
        used = processor_seconds(process) - before
    answered, memory = found["answered"], found["memory"]
    p50, p99 = found["p50"], found["p99"]
    details = {
        "reloads": found["reloads"],
        "seconds": seconds,
        "memory": memory,
        "load average": os.getloadavg()[0],  # of the last minute, our own included
    }
    yield Finding(f"{title}: answers a second", answered / seconds, "/s", details=details)
    yield Finding(f"{title}: errors", found["errors"], high=0)
    yield Finding(f"{title}: median", p50, "ms")
    yield Finding(f"{title}: 99 of 100 within", p99, "ms", high=MOST_P99)
    yield Finding(f"{title}: CPU time of an answer", 1000 * used / answered, "ms")
    yield Finding(
        f"{title}: memory at the end over that after a tenth",
        memory[-1] / memory[0],
        "times",
        high=MOST_GROWTH,
        details=details,
    )


def save_model(folder: Path, n_rows: int, n_features: int, n_labels: int) -> None:
    X, Y = dense_problem(n_rows, n_features, n_labels)
    columns = [f"x{number}" for number in range(n_features)]
    data = Dataset(
        X,
        Y,
        columns,
        [f"label {number}" for number in range(n_labels)],
        column_kinds=dict.fromkeys(columns, "numeric"),
    )
    Tagger.fit(data, "SPL-MLL (linear)").save(folder / "model")


def write_bodies(folder: Path, n_features: int) -> Path:
    """Write bodies of requests, one a line."""
    X = np.random.default_rng(1).normal(size=(BODIES, n_features)).round(4)
    rows = ({f"x{number}": value for number, value in enumerate(row)} for row in X.tolist())
    path = folder / "bodies.txt"
    path.write_text("".join(json.dumps({"rows": [row]}) + "\n" for row in rows))
    return path


@contextmanager
def server(model: Path, batch: int | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start the service on a free port, and end it afterwards."""
    command = [sys.executable, "-m", "splmll", "serve", str(model), "--port", "0"]
    command += [] if batch is None else ["--batch", str(batch)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    try:
        assert process.stdout is not None
        line = next((line for line in process.stdout if line.startswith("Serving at ")), None)
        if line is None:
            raise RuntimeError("the server ended before it served; its message stands above")
        address = line.split()[2].rstrip(";")
        wait_for(address)
        yield address, process
    finally:
        process.terminate()
        process.wait(START_LIMIT)


def processor_seconds(process: subprocess.Popen[str]) -> float:
    """Return what a server has used so far, all threads together."""
    times = psutil.Process(process.pid).cpu_times()
    return times.user + times.system


def wait_for(address: str) -> None:
    """Wait until the service answers."""
    end = time.monotonic() + START_LIMIT
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=START_LIMIT):
                return
        except OSError:
            time.sleep(0.01)
    raise TimeoutError(f"{address} does not answer")


def restart(model: Path) -> float:
    """Kill a server and return how long another takes, loading the model taken off."""
    with server(model) as (_, process):
        process.send_signal(signal.SIGKILL)
    started = time.perf_counter()
    with server(model):
        whole = time.perf_counter() - started
    started = time.perf_counter()
    Tagger.load(model)
    return whole - (time.perf_counter() - started)


# Clients ----------------------------------------------------------------------------------------


def load(address: str, bodies: Path, seconds: int) -> dict[str, Any]:
    """Ask as fast as the answers come and return what was measured, times in milliseconds."""
    wrk = shutil.which("wrk")
    if wrk is None:
        arguments = {"address": address, "bodies": str(bodies), "seconds": seconds}
        return {"client": "sockets", **in_own_process("service_load", "plain_client", **arguments)}
    script = bodies.parent / "ask.lua"
    script.write_text(WRK_SCRIPT)
    command = [wrk, "-t1", f"-c{CLIENTS}", f"-d{seconds}s", "-s", str(script)]
    done = subprocess.run(
        [*command, f"{address}/predict"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "BODIES": str(bodies)},
        timeout=seconds + START_LIMIT,
    )
    return {"client": "wrk", **json.loads(done.stdout.splitlines()[-1])}


def plain_client(address: str, bodies: str, seconds: int) -> Callable[[], dict[str, Any]]:
    """Return the client for machines without ``wrk``."""
    host, port = place_of(address)
    asked = questions(host, bodies)

    async def one(number: int, end: float, times: list[float], errors: list[str]) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        turn = number
        while time.perf_counter() < end:
            started = time.perf_counter()
            writer.write(asked[turn % len(asked)])
            answer = await read_answer(reader)
            times.append(time.perf_counter() - started)
            if " 200 " not in answer.splitlines()[0]:
                errors.append(answer)
            turn += 1
        writer.close()

    async def all_of_them() -> dict[str, Any]:
        times: list[float] = []
        errors: list[str] = []
        started = time.perf_counter()
        await asyncio.gather(*(one(n, started + seconds, times, errors) for n in range(CLIENTS)))
        p50, p99 = np.percentile(times, [50, 99]) * 1000
        return {
            "requests": len(times),
            "seconds": time.perf_counter() - started,
            "errors": len(errors),
            "p50": p50,
            "p99": p99,
        }

    return lambda: asyncio.run(all_of_them())


def mixed_client(
    address: str, bodies: str, requests: int, manifest: str, process: int
) -> Callable[[], dict[str, Any]]:
    """Return the client that asks, gives up now and then, and has the model replaced meanwhile."""
    host, port = place_of(address)
    asked = questions(host, bodies)
    turns = iter(range(requests))
    times: list[float] = []
    memory: list[int] = []  # of the server, after each tenth of the requests
    found = {"answered": 0, "errors": 0, "reloads": 0}

    async def one() -> None:
        reader, writer = await asyncio.open_connection(host, port)
        for turn in turns:
            if (turn + 1) % (requests // 10) == 0:
                memory.append(psutil.Process(process).memory_info().rss)
            started = time.perf_counter()
            writer.write(asked[turn % len(asked)])
            if turn % GIVEN_UP == 0:
                await asyncio.sleep(0)
                writer.close()
                reader, writer = await asyncio.open_connection(host, port)
                continue
            answer = await read_answer(reader)
            times.append(time.perf_counter() - started)
            found["answered"] += 1
            found["errors"] += " 200 " not in answer.splitlines()[0]
        writer.close()

    async def replace() -> None:
        reload = f"POST /reload HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n".encode()
        reader, writer = await asyncio.open_connection(host, port)
        while True:
            await asyncio.sleep(RELOAD_SECONDS)
            Path(manifest).touch()  # as if it had been written again
            writer.write(reload)
            answer = await read_answer(reader)
            found["reloads"] += 1
            found["errors"] += " 200 " not in answer.splitlines()[0]

    async def all_of_them() -> dict[str, Any]:
        started = time.perf_counter()
        replacing = asyncio.create_task(replace())
        await asyncio.gather(*(one() for _ in range(SOAK_CLIENTS)))
        replacing.cancel()
        p50, p99 = np.percentile(times, [50, 99]) * 1000
        wall = time.perf_counter() - started
        return {**found, "memory": memory, "wall_seconds": wall, "p50": p50, "p99": p99}

    return lambda: asyncio.run(all_of_them())


def place_of(address: str) -> tuple[str, int]:
    host, _, port = address.removeprefix("http://").partition(":")
    return host, int(port)


def questions(host: str, bodies: str) -> list[bytes]:
    """Return whole requests, one for each line of the file."""
    head = f"POST /predict HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return [
        f"{head}Content-Length: {len(line)}\r\n\r\n{line}".encode()
        for line in Path(bodies).read_text().splitlines()
    ]


async def read_answer(reader: asyncio.StreamReader) -> str:
    """Read one answer and return its head."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
    return head


if __name__ == "__main__":
    main(measure, __doc__)
