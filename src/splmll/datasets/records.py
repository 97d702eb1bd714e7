"""A CSV file in blocks of whole records, cut in the thread that asks for them.

Arrow's own streaming reader reads ahead in threads of its own, which hold objects of Python. When
the program ends at that moment, for instance because a column is missing, such a thread may end
the process with "terminate called without an active exception", or keep it from ending.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from splmll.datasets.compressed import open_unpacked
from splmll.exceptions import DatasetError

BLOCK_BYTES = 2 * 1024 * 1024
LONGEST_RECORD = 64 * 1024 * 1024  # bytes; a longer one is nearly always a quote that never ends
_BOM = b"\xef\xbb\xbf"


def record_blocks(path: Path, delimiter: str) -> Iterator[bytes]:
    r"""Read a CSV file, packed or not, in blocks that end where a record ends.

    Parameters
    ----------
    path : Path
        The file.
    delimiter : str
        What separates two fields.

    Yields
    ------
    block : bytes
        About two megabytes, more where one record is longer. A byte-order mark is left out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets.records import record_blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "toy.csv"
    ...     _ = path.write_bytes(b'a,b\n1,"x\ny"\n')
    ...     list(record_blocks(path, ","))
    [b'a,b\n1,"x\ny"\n']
    """
    with open_unpacked(path) as file:
        rest = file.read(len(_BOM)).removeprefix(_BOM)
        # A record longer than a block is looked at again when as much again has been read.
        while piece := file.read(max(BLOCK_BYTES, len(rest))):
            rest += piece
            end = last_record_end(rest, delimiter)
            if len(rest) - end > LONGEST_RECORD:
                raise too_long(path)
            if end:
                yield rest[:end]
                rest = rest[end:]
    if rest:
        yield rest


def last_record_end(content: bytes, delimiter: str) -> int:
    r"""Return how much of the content is whole records; it begins where a record does.

    Parameters
    ----------
    content : bytes
        A part of a CSV file.
    delimiter : str
        What separates two fields.

    Returns
    -------
    end : int
        Behind the last line end that stands in no quotes; 0 where there is none.

    Examples
    --------
    >>> from splmll.datasets.records import last_record_end
    >>> last_record_end(b'1,2\n3,"4\n5', ","), last_record_end(b'1,5" wide\n', ",")
    (4, 10)
    """
    # As Arrow reads it: a quote counts where a field begins, and two of them are one inside.
    sign = re.escape(delimiter.encode())
    quoted = re.compile(rb'(?:\A|(?<=[\r\n])|(?<=%s))"(?:[^"]++|"")*+(?:"|\Z)' % sign)
    starts, ends = [], [0]
    for found in quoted.finditer(content):
        starts.append(found.start())
        ends.append(found.end())
    starts.append(len(content))
    for start, end in zip(reversed(starts), reversed(ends)):
        last = max(content.rfind(b"\n", end, start), content.rfind(b"\r", end, start))
        if last >= 0:
            return last + 1
    return 0


def native_buffer(content: bytes) -> Any:
    """Return a copy of the content that a thread of Arrow can free without the interpreter."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    sink.write(content)
    return sink.getvalue()


def too_long(path: Any) -> DatasetError:
    """Return the error for a record that is longer than any that is read."""
    return DatasetError(
        f"a row has more than {LONGEST_RECORD >> 20} MiB; close its quotes if one is open, "
        "otherwise shorten its longest cell",
        path=path,
    )
