"""Running the service: its address, its signals and its shutdown."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import signal
import socket
from typing import Any

import uvicorn

from splmll.serving.heads import bounded_protocol

_LOG = logging.getLogger("splmll.serving")
_BACKLOG = 2048  # connections that may wait to be accepted
_KEEP_ALIVE_SECONDS = 30
_SHUTDOWN_SECONDS = 30  # what is running may end, then the service ends in any case


def bind(host: str, port: int) -> socket.socket:
    """Reserve an address before loading a model that could not be served.

    Parameters
    ----------
    host : str
        Name or address of an interface.
    port : int
        The port; 0: any free port.

    Returns
    -------
    bound : socket
        It does not listen yet: connections are refused until it does, at the latest in :func:`run`.

    Examples
    --------
    >>> from splmll.serving.server import bind
    >>> with bind("127.0.0.1", 0) as bound:
    ...     bound.getsockname()[0]
    '127.0.0.1'
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ValueError(f"There is no interface {host!r} here ({error.strerror}).") from error
    # What was served a moment ago, even by a process that was killed, does not block the port.
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise ValueError(
            f"The address {host}:{port} cannot be used ({error.strerror}); give another --port, "
            "or stop the program that uses it."
        ) from error
    return bound


def address_of(bound: socket.socket) -> str:
    """Return the address of a socket as a browser takes it."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(bound: socket.socket) -> bool:
    """Return whether only this machine reaches a socket."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def names_of(host: str, bound: socket.socket) -> list[str]:
    """Return the host names of a socket, besides numeric addresses.

    Parameters
    ----------
    host : str
        The interface that was asked for; its own name where it has one.
    bound : socket
        Where other machines reach it, the name of this one counts, too.

    Returns
    -------
    names : list of str
    """
    given = [] if _is_number(host) else [host]
    return given if is_loopback(bound) else [*given, socket.gethostname()]


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def run(app: Any, bound: socket.socket) -> None:
    """Serve until the process is told to stop; running requests are finished.

    SIGHUP reloads changed models, as ``POST /reload`` does.

    Parameters
    ----------
    app : FastAPI
        What :func:`splmll.serving.create_app` returned.
    bound : socket
        What :func:`bind` returned.
    """
    config = uvicorn.Config(
        app,
        http=bounded_protocol(app.state.limits),
        ws="none",
        access_log=False,
        log_level="warning",
        lifespan="off",
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        server_header=False,
    )
    _spare_what_stays()
    asyncio.run(_serve(uvicorn.Server(config), app, bound))


def _spare_what_stays() -> None:
    """Keep the garbage collector from scanning modules and models again and again.

    A full collection stops every thread, for a tenth of a second where PyTorch is imported: that
    was most of what the slowest requests waited for. A model that is replaced goes all the same,
    when its last request is answered.
    """
    gc.collect()
    gc.freeze()


async def _serve(server: uvicorn.Server, app: Any, bound: socket.socket) -> None:
    running: set[asyncio.Task[None]] = set()

    def reload() -> None:
        task = asyncio.create_task(_reload(app))
        running.add(task)  # the loop itself would forget it
        task.add_done_callback(running.discard)

    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
    await server.serve(sockets=[bound])


async def _reload(app: Any) -> None:
    found = await app.state.registry.reload()
    for name, reason in found.failed.items():
        _LOG.error(
            "The model %r could not be read, so the earlier one stays in use: %s", name, reason
        )
