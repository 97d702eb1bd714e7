"""Text files and the words in them: what the readers of text formats share."""

from __future__ import annotations

import math
import os

from splmll.datasets.compressed import read_unpacked
from splmll.exceptions import DatasetError

PathLike = str | os.PathLike[str]


def read_text(path: PathLike, encoding: str | None = None) -> str:
    r"""Return the text of a file, or raise a DatasetError that says why it is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from splmll.datasets.text_files import read_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.txt"
    ...     _ = path.write_bytes(b"caf\xe9")
    ...     read_text(path)
    'café'
    """
    data = read_unpacked(path)
    if encoding is None:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise DatasetError(
                "the file is UTF-16; convert it to UTF-8, or give its encoding if the reader "
                "takes one",
                path=path,
            )
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")  # every byte is a character there: cannot fail
    else:
        try:
            text = data.decode(encoding)
            text.encode("utf-8")  # some codecs hand out halves of surrogate pairs
        except UnicodeDecodeError as problem:
            before = data[: problem.start].decode(encoding, errors="replace")
            raise DatasetError(
                f"the file is not {encoding}: byte {problem.start} cannot be read; "
                "give the right encoding",
                path=path,
                line=before.count("\n") + 1,
            ) from None
        except (LookupError, UnicodeError):
            raise DatasetError(
                f"cannot read text with the encoding {short(encoding)}; give one that Python "
                "knows, such as 'utf-8' or 'latin-1'",
                path=path,
            ) from None
        text = text.removeprefix("\ufeff")
    zero = text.find("\0")
    if zero >= 0:
        raise DatasetError(
            "the file contains NUL characters and is not plain text; check that it is the right "
            "file",
            path=path,
            line=text.count("\n", 0, zero) + 1,
        )
    return text


def split_lines(text: str) -> list[str]:
    r"""Split at line ends of any platform, and nowhere else.

    ``str.splitlines`` also splits at characters that may stand in a quoted name.

    Examples
    --------
    >>> from splmll.datasets.text_files import split_lines
    >>> split_lines("a\r\nb\x0bc\n")
    ['a', 'b\x0bc']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def finite_number(token: str) -> float:
    """Return the number a token stands for; ValueError says why it stands for none.

    Examples
    --------
    >>> from splmll.datasets.text_files import finite_number
    >>> finite_number("-1.5e3")
    -1500.0
    """
    # Python's float also takes 1_000 and digits of other scripts, which no format means.
    if "_" in token or not token.isascii():
        raise ValueError(f"{short(token)} is not a number; write one such as -1.5 or 2e3")
    try:
        number = float(token)
    except ValueError:
        raise ValueError(f"{short(token)} is not a number; write one such as -1.5 or 2e3") from None
    if not math.isfinite(number):
        raise ValueError(f"{short(token)} is not a finite number; correct or remove the value")
    return number


def short(token: object) -> str:
    """Return a quoted token, cut so that it fits into a message.

    Examples
    --------
    >>> from splmll.datasets.text_files import short
    >>> short("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    text = str(token)
    return repr(text if len(text) <= 42 else text[:39] + "...")
