"""Calls in a process of their own, with a limit on time and on memory.

The process is a fresh interpreter, so that threads of the caller do no harm, and it is kept for the
next call, so that imports are paid for once. It ends with its parent, however the parent ends.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

import cloudpickle
import psutil

from splmll.experiments import _child

MEGABYTE = 2**20
# Seconds between two looks at the memory of a call, from outside and from within.
WATCH_INTERVAL = 0.25
SAMPLE_INTERVAL = 0.02
# A kept process gives way to a new one when it holds more than this share of the memory that the
# next call may hold.
LEFTOVER_SHARE = 0.25
# Bytes of the last words of a process that died.
LAST_WORDS = 20_000

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class CallFailed(RuntimeError):
    """A call that gave no result.

    Attributes
    ----------
    status : {"failed", "timeout", "memory"}
        It raised an error or its process died, took too long, or held too much memory.
    error : str
        What happened, in one line.
    traceback : str or None
        Where, as far as it is known.
    """

    def __init__(self, status: str, error: str, traceback: str | None = None) -> None:
        super().__init__(error)
        self.status = status
        self.error = error
        self.traceback = traceback


class LimitedProcess(AbstractContextManager):
    """A process that runs one call after the other, each within its limits.

    After a call that failed by its limits, or whose process died, the next one gets a new process.

    Parameters
    ----------
    n_threads : int, optional
        Number of threads for numerical libraries, where the environment does not say it already.

    Examples
    --------
    >>> import time
    >>> from splmll.experiments.limits import CallFailed, LimitedProcess
    >>> with LimitedProcess() as process:
    ...     print(process.call(pow, 2, 5))
    ...     try:
    ...         process.call(time.sleep, 60, time_limit=0.1)
    ...     except CallFailed as failure:
    ...         print(failure.status, "-", failure)
    32
    timeout - took more than 0.1 seconds
    """

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = n_threads
        self._process: subprocess.Popen[bytes] | None = None

    def __exit__(self, *error: object) -> None:
        self.close()

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        processor_limit: float | None = None,
    ) -> Any:
        """Run ``function(*arguments)`` in the process and return its result.

        Parameters
        ----------
        function : callable
            Also one defined in a script or notebook.
        *arguments : object
            What it is called with; they travel as copies.
        time_limit, processor_limit : float, optional
            Seconds it may take, and seconds of CPU time over all its threads and children;
            they count from when function and arguments have arrived.
        memory_limit : float, optional
            Megabytes that the process and its children may hold together, all they have imported
            included.

        Raises
        ------
        CallFailed
            If it raised an error, exceeded a limit or its process died.
        """
        body = cloudpickle.dumps((function, arguments))
        if self._process is not None and self._is_spent(memory_limit):
            self.close()
        if self._process is None:
            self._start()
        try:
            self._last_words.truncate(0)
            self._send(body)
            kind, content = self._answer()
            if kind == "started":
                kind, content = self._answer(time_limit, memory_limit, processor_limit)
        except BaseException:
            self.close()  # it is dead, or at work on what nobody waits for
            raise
        if kind == "error":  # of the function: the process is as good as before
            raise CallFailed(**content)
        return content

    def close(self) -> None:
        """End the process and all that it started."""
        if self._process is None:
            return
        for process in _family(self._pid):
            with suppress(psutil.Error):  # it ended in the meantime
                process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._last_words):
            with suppress(OSError):  # a pipe that is broken cannot be flushed
                stream.close()  # type: ignore[union-attr]
        self._process = None

    def _start(self) -> None:
        environment = dict(os.environ)
        if self.n_threads is not None:
            for name in THREAD_VARIABLES:
                environment.setdefault(name, str(self.n_threads))
        # Opened for appending: after it is cut, the next word stands at its start.
        self._last_words = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - closed in `close`
        # -P: the folder of the script holds modules named like some of the standard library.
        self._process = subprocess.Popen(
            [sys.executable, "-P", _child.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._last_words,
            env=environment,
        )
        self._pid = self._process.pid
        # Pipes cannot be waited for with a timeout everywhere; a queue can.
        self._answers: queue.SimpleQueue[tuple[str, Any] | None] = queue.SimpleQueue()
        arguments = (self._process, self._answers)
        threading.Thread(target=_pass_on, args=arguments, daemon=True).start()
        self._send(sys.path)

    def _is_spent(self, memory_limit: float | None) -> bool:
        """Whether the process is dead, or earlier calls have left too much in it."""
        if self._process is None or self._process.poll() is not None:
            return True
        return memory_limit is not None and _resident_mb(self._pid) > LEFTOVER_SHARE * memory_limit

    def _send(self, message: Any) -> None:
        pipe: Any = self._process and self._process.stdin
        try:
            pickle.dump(message, pipe)
            pipe.flush()
        except OSError:
            raise self._obituary() from None

    def _answer(
        self,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        processor_limit: float | None = None,
    ) -> tuple[str, Any]:
        """Return what the process says next, unless it exceeds a limit before."""
        pid, start = self._pid, time.monotonic()
        spent = 0.0 if processor_limit is None else _processor_seconds(pid)
        limited = (time_limit, memory_limit, processor_limit) != (None, None, None)
        while True:
            with suppress(queue.Empty):
                answer = self._answers.get(timeout=WATCH_INTERVAL if limited else None)
                if answer is None:
                    raise self._obituary()
                return answer
            if time_limit is not None and time.monotonic() - start > time_limit:
                raise CallFailed("timeout", f"took more than {time_limit:g} seconds")
            if memory_limit is not None and (held := _resident_mb(pid)) > memory_limit:
                words = f"held {held:.0f} MB of memory, more than the {memory_limit:g} MB allowed"
                raise CallFailed("memory", words)
            if processor_limit is not None and _processor_seconds(pid) - spent > processor_limit:
                words = f"took more than {processor_limit:g} seconds of CPU time"
                raise CallFailed("timeout", words)

    def _obituary(self) -> CallFailed:
        assert self._process is not None
        code = self._process.wait()
        how = f"exited with code {code}"
        if code < 0:
            how = f"was killed by signal {-code} ({signal.Signals(-code).name})"
        size = self._last_words.seek(0, os.SEEK_END)
        self._last_words.seek(max(0, size - LAST_WORDS))
        words = self._last_words.read().decode(errors="replace").strip()
        return CallFailed("failed", f"the process of the unit {how}", words or None)


def _pass_on(process: subprocess.Popen[bytes], answers: queue.SimpleQueue[Any]) -> None:
    """Put what a process says into a queue, and None when it is gone."""
    assert process.stdout is not None
    try:
        while True:
            answers.put(pickle.load(process.stdout))  # written by our own child
    except (EOFError, pickle.UnpicklingError, OSError, ValueError):
        pass  # it is gone, or closed on this side
    except Exception:  # an answer that cannot be read here
        process.kill()
    answers.put(None)


class PeakMemory(AbstractContextManager):
    """The largest resident size of this process while a block runs.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.experiments.limits import PeakMemory
    >>> with PeakMemory() as memory:
    ...     square = np.ones((2000, 2000))  # 32 million bytes
    >>> memory.megabytes > 32
    True
    """

    megabytes: float = 0.0

    def __enter__(self) -> PeakMemory:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        process, stopped = psutil.Process(), False
        while not stopped:
            stopped = self._stop.wait(SAMPLE_INTERVAL)
            self.megabytes = max(self.megabytes, process.memory_info().rss / MEGABYTE)


def _resident_mb(pid: int) -> float:
    """Return the megabytes that a process and all its children hold, 0 for one that is gone."""
    return _total(pid, lambda process: process.memory_info().rss / MEGABYTE)


def _processor_seconds(pid: int) -> float:
    """Return the CPU time that a process and its living children have taken."""
    return _total(pid, lambda process: sum(process.cpu_times()[:2]))  # user and system


def _total(pid: int, measure: Callable[[psutil.Process], float]) -> float:
    total = 0.0
    for process in _family(pid):
        with suppress(psutil.Error):  # it ended in the meantime
            total += measure(process)
    return total


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.Error:
        return []
