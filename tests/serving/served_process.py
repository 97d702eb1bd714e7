"""A service in a process of its own, started as a user starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import httpx

START_LIMIT = 120


class Served:
    """``splmll serve`` on a free port; a context that ends it."""

    def __init__(self, *arguments: object, environment: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "splmll", "serve", *map(str, arguments)]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
        )
        self.said = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.rstrip("\n"))
            if line.startswith("Serving at"):
                break
        found = re.search(r"http://\S+:\d+", self.said[-1] if self.said else "")
        assert found, self.process.communicate(timeout=START_LIMIT)
        self.address = found[0]
        self.port = int(self.address.rpartition(":")[2])
        # The address is said before the process listens.
        self.client = httpx.Client(
            base_url=self.address,
            timeout=START_LIMIT,
            transport=httpx.HTTPTransport(retries=20),
        )

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()
        self.process.kill()
        self.process.communicate(timeout=START_LIMIT)


def process_log(served: Served) -> str:
    """End a process that was told to end, and return what it wrote to its log."""
    _, log = served.process.communicate(timeout=START_LIMIT)
    return log
