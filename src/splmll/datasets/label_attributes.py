"""Which attributes of an ARFF file are the labels.

Mulan names them in an XML file beside it; MEKA counts them in the name of the relation, ``-C n``.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from defusedxml.ElementTree import XMLParser

from splmll.datasets.checks import read_bytes
from splmll.datasets.compressed import unpacked_name
from splmll.datasets.text_files import PathLike, short
from splmll.exceptions import DatasetError
from splmll.words import counted

_MEKA_COUNT = re.compile(r"(?:^|[\s:])-[Cc]\s+(-?\d{1,9})(?!\d)")


def label_mask(
    path: PathLike,
    attributes: list[str],
    relation: str,
    labels: PathLike | Sequence[str] | None = None,
    label_count: int | None = None,
) -> np.ndarray:
    """Return which attributes are labels.

    Parameters
    ----------
    path : str or path-like
        The ARFF file.
    attributes : list of str
        Names of its attributes.
    relation : str
        The name of its relation.
    labels : str, path-like or list of str, optional
        A Mulan label file, or the names of the labels.
    label_count : int, optional
        How many attributes are labels, from the first on; from the last on where it is negative.
        Without either, the XML file beside the file decides, else ``-C n`` in the relation name.

    Returns
    -------
    is_label : bool array of shape (n_attributes,)

    Examples
    --------
    >>> from splmll.datasets.label_attributes import label_mask
    >>> label_mask("songs.arff", ["calm", "sad", "tempo"], "songs: -C 2")
    array([ True,  True, False])
    """
    if labels is not None:
        if isinstance(labels, str | os.PathLike):
            mask = _mask_from_xml(labels, attributes, path)
        else:
            wanted = [(str(label), None) for label in labels]
            mask = _mask_from_names(wanted, attributes, path, path)
    elif label_count is not None:
        mask = _mask_from_count(label_count, attributes, path)
    else:
        mask = _mask_from_files(path, attributes, relation)
    if mask.all():
        raise DatasetError(
            "every attribute is a label, which leaves no feature; name fewer labels", path=path
        )
    return mask


def _mask_from_files(path: PathLike, attributes: list[str], relation: str) -> np.ndarray:
    """Ask the XML file beside the ARFF file, else the relation name."""
    counts = [int(count) for count in _MEKA_COUNT.findall(relation)]
    xml = _sibling_xml(path)
    if xml is None:
        if counts:
            return _mask_from_count(counts[-1], attributes, path)
        raise DatasetError(
            "nothing says which attributes are labels: no '-C n' in the relation name and no "
            f"{_sibling_stems(path)[-1]}.xml beside the file; pass labels or label_count",
            path=path,
        )
    mask = _mask_from_xml(xml, attributes, path)
    if counts and (mask != _counted(counts[-1], len(attributes))).any():
        _settle_dispute(xml, mask, counts[-1], attributes, path)
    return mask


def _settle_dispute(
    xml: Path, mask: np.ndarray, count: int, attributes: list[str], path: PathLike
) -> None:
    """Let the XML file win where both have as many labels, and refuse to guess where not.

    Files that were given labels at the other end kept their count: it still tells how many labels
    there are, and the XML file tells which. A count of another number belongs to another file.
    """
    disputed = attributes[int(np.flatnonzero(mask != _counted(count, len(attributes)))[0])]
    message = (
        f"{xml.name} beside the file and -C {count} in the relation name disagree about the "
        f"labels: {xml.name} names {counted(int(mask.sum()), 'label')}, but -C {count} means the "
        f"{'first' if count > 0 else 'last'} {counted(abs(count), 'attribute')}; only one of them "
        f"makes {short(disputed)} a label; "
    )
    remedy = f"pass labels={str(xml)!r} or label_count={count}"
    if abs(count) != int(mask.sum()):
        raise DatasetError(message + remedy, path=path)
    warnings.warn(
        f"{path}: {message}using {xml.name}; {remedy} to choose",
        UserWarning,
        stacklevel=5,  # who called read_arff
    )


def _sibling_stems(path: PathLike) -> list[str]:
    stem = unpacked_name(path).stem
    if stem.endswith(("-train", "-test")):
        return [stem, stem.rpartition("-")[0]]
    return [stem]


def _sibling_xml(path: PathLike) -> Path | None:
    candidates = [Path(path).with_name(f"{stem}.xml") for stem in _sibling_stems(path)]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _mask_from_count(count: int, attributes: list[str], path: PathLike) -> np.ndarray:
    if not 0 < abs(count) < len(attributes):
        raise DatasetError(
            f"{count} labels cannot be counted off from {len(attributes)} attributes; correct "
            "-C in the relation name, or pass label_count",
            path=path,
        )
    return _counted(count, len(attributes))


def _counted(count: int, width: int) -> np.ndarray:
    positions = np.arange(width)
    return positions < count if count > 0 else positions >= width + count


def _mask_from_xml(xml: PathLike, attributes: list[str], path: PathLike) -> np.ndarray:
    return _mask_from_names(_read_label_xml(xml), attributes, path, xml)


def _mask_from_names(
    wanted: Sequence[tuple[str, int | None]],
    attributes: list[str],
    path: PathLike,
    source: PathLike,
) -> np.ndarray:
    if not wanted:
        raise DatasetError("no label is named; name at least one attribute", path=source)
    positions = {name: i for i, name in enumerate(attributes)}
    mask = np.zeros(len(attributes), dtype=bool)
    for name, line in wanted:
        if name not in positions:
            raise DatasetError(
                f"the label {short(name)} is not an attribute of {Path(path).name}; correct the "
                "name or give the label file that belongs to it",
                path=source,
                line=line,
            )
        if mask[positions[name]]:
            raise DatasetError(
                f"the label {short(name)} appears twice; remove one of the two",
                path=source,
                line=line,
            )
        mask[positions[name]] = True
    return mask


class _LabelCollector:
    """Target of the XML parser: keeps label names only, so that nesting costs nothing."""

    def __init__(self) -> None:
        self.root: str | None = None
        self.labels: list[tuple[str | None, int]] = []
        self.line: Callable[[], int] = lambda: 1

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition("}")[2]  # Mulan's namespace is not always declared
        if self.root is None:
            self.root = tag
        elif tag == "label":
            self.labels.append((attributes.get("name"), self.line()))

    def end(self, tag: str) -> None:
        pass

    def data(self, data: str) -> None:
        pass

    def close(self) -> None:
        pass


def _read_label_xml(path: PathLike) -> list[tuple[str, int | None]]:
    content = read_bytes(path)
    collector = _LabelCollector()
    parser = XMLParser(target=collector, forbid_dtd=True)
    collector.line = lambda: parser.parser.CurrentLineNumber
    try:
        parser.feed(content)
        parser.close()
    # ParseError is a SyntaxError; refused entities are ValueErrors; an encoding that the file
    # names is looked up among all codecs, which fail with a LookupError or a ValueError.
    except (SyntaxError, ValueError, LookupError) as problem:
        line = getattr(problem, "position", (parser.parser.CurrentLineNumber,))[0]
        raise DatasetError(
            f"not a Mulan label file ({short(problem)}); it must be well-formed XML of the form "
            '<labels><label name="..."/></labels> without entities',
            path=path,
            line=line,
        ) from None
    if collector.root != "labels":
        raise DatasetError(
            f"the outermost element is {short(collector.root)}, not 'labels'; give a Mulan "
            "label file",
            path=path,
        )
    labels: list[tuple[str, int | None]] = []
    for name, line in collector.labels:
        if name is None:
            raise DatasetError("a label has no name; add name=...", path=path, line=line)
        labels.append((name, line))
    return labels
