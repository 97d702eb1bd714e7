"""The other end of :class:`splmll.experiments.limits.LimitedProcess`, run as a script.

It imports nothing of the library before the first call asks for it, so that it starts at once.
A call comes in on standard input and its result goes out on what was standard output, each as a
pickle that says by itself where it ends.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from typing import IO, Any


def main() -> None:
    """Answer calls until the parent is gone."""
    # What a method prints must not get between the answers.
    outbox = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    faulthandler.enable()
    # Ctrl-C reaches all processes of a terminal; the parent decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, calls), daemon=True).start()
    sys.path[:] = calls.get()
    while True:
        body = calls.get()
        try:
            function, arguments = pickle.loads(body)
            del body
            _send(outbox, pickle.dumps(("started", None)))
            answer = pickle.dumps(("result", function(*arguments)), pickle.HIGHEST_PROTOCOL)
        except BaseException as error:
            answer = pickle.dumps(("error", told(error)))
        _send(outbox, answer)
        # What this call held must not count against the next one's memory.
        del answer
        function = arguments = None
        gc.collect()


def _listen(inbox: IO[bytes], calls: queue.SimpleQueue[Any]) -> None:
    """Pass calls on; when the parent is gone, however it ended, end at once."""
    try:
        while True:
            calls.put(pickle.load(inbox))
    except (EOFError, pickle.UnpicklingError):
        import psutil

        for process in psutil.Process().children(recursive=True):
            process.kill()
    finally:
        os._exit(1)


def _send(outbox: IO[bytes], answer: bytes) -> None:
    outbox.write(answer)
    outbox.flush()


def told(error: BaseException) -> dict[str, Any]:
    """Return what is kept of an error: its kind, one line, and the whole story."""
    name, text = type(error).__name__, str(error).strip()
    return {
        "status": "memory" if isinstance(error, MemoryError) else "failed",
        "error": f"{name}: {text.splitlines()[0]}" if text else name,
        "traceback": "".join(traceback.format_exception(error)),
    }


if __name__ == "__main__":
    main()
