"""A client that calls a service in this process, without a network."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from fastapi import FastAPI


class Client:
    """Requests, one after the other; headers are sent with each."""

    def __init__(self, app: FastAPI, headers: dict[str, str] | None = None) -> None:
        self.app, self.headers = app, headers or {}

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return asyncio.run(self._request(method, path, options))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    async def _request(self, method: str, path: str, options: dict[str, Any]) -> httpx.Response:
        # A bug is an answer with status 500 here, as it is over the network.
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=self.headers
        ) as client:
            return await client.request(method, path, **options)
