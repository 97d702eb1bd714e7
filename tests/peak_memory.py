"""The largest memory that a program held, told by itself when it ends.

Not ``ru_maxrss``: a new process inherits that of the one which started it.
"""

import subprocess
import sys
from pathlib import Path

_TELL = """
import atexit, sys
from pathlib import Path

def tell(place=Path(sys.argv[1])):
    status = Path("/proc/self/status").read_text().splitlines()
    place.write_text(next(line for line in status if line.startswith("VmHWM")).split()[1])

atexit.register(tell)
del sys.argv[1]
"""


def peak_bytes(program: str, folder: Path, *arguments: object) -> int:
    """Run a program in a process of its own; return the bytes that it held at most."""
    told = folder / "peak"
    command = [sys.executable, "-c", _TELL + program, str(told), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(told.read_text()) * 1024
