"""How much the service holds: 32 clients that ask about single rows, and a restart after a kill.

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
SECONDS, QUICK_SECONDS = 10, 1
WARM_UP_SECONDS = 1
CLIENTS = 32
BODIES = 64  # different rows, asked for in turn
LEAST_RATE, MOST_P99, MOST_RESTART = 300, 250, 5
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
    seconds = QUICK_SECONDS if quick else SECONDS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(folder, n_rows, n_features, n_labels)
        bodies = write_bodies(folder, n_features)
        title = f"{n_features} features, {n_labels} labels, {CLIENTS} clients"
        found = {}
        for batch in (None, 1):
            with server(folder / "model", batch) as (address, process):
                load(address, bodies, WARM_UP_SECONDS)
                before = processor_seconds(process)
                found[batch] = load(address, bodies, seconds)
                used = processor_seconds(process) - before
                found[batch]["processor_ms"] = 1000 * used / found[batch]["requests"]
        joined, single = found[None], found[1]
        rate = joined["requests"] / joined["seconds"]
        yield Finding(f"{title}: answers a second", rate, "/s", low=LEAST_RATE, details=joined)
        yield Finding(f"{title}: errors", joined["errors"], high=0)
        yield Finding(f"{title}: median", joined["p50"], "ms")
        yield Finding(f"{title}: 99 of 100 within", joined["p99"], "ms", high=MOST_P99)
        # What a busy machine does not change.
        yield Finding(f"{title}: processor time of an answer", joined["processor_ms"], "ms")
        alone = single["requests"] / single["seconds"]
        yield Finding(
            f"{title}: joined over one by one", rate / alone, "times the rate", details=single
        )
        yield Finding(
            "killed and restarted, beyond loading the model",
            restart(folder / "model"),
            "s",
            high=MOST_RESTART,
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
    host, _, port = address.removeprefix("http://").partition(":")
    head = "POST /predict HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n"
    asked = [
        f"{head.format(host)}Content-Length: {len(line)}\r\n\r\n{line}".encode()
        for line in Path(bodies).read_text().splitlines()
    ]

    async def one(number: int, end: float, times: list[float], errors: list[str]) -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        turn = number
        while time.perf_counter() < end:
            started = time.perf_counter()
            writer.write(asked[turn % len(asked)])
            answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = int(answer.partition("content-length:")[2].split()[0])
            await reader.readexactly(length)
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


if __name__ == "__main__":
    main(measure, __doc__)
