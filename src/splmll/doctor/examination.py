"""All checks in one call: of rows with labels, of a tagger, or of the file of a tagger."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

from splmll.datasets import Dataset
from splmll.doctor.columns import check_columns
from splmll.doctor.finding import ERROR, NOTE, WARNING, Finding, worst_first
from splmll.doctor.labels import check_labels
from splmll.doctor.rows import check_against_test, check_rows
from splmll.doctor.taggers import check_predictions, check_tagger
from splmll.extras import versions
from splmll.persistence import ModelFileError, load, read_manifest
from splmll.persistence.storage import MANIFEST
from splmll.tagging import Tagger

_PREDICTS = ("scikit-learn", "splmll")  # other versions of these may predict otherwise


def examine(subject: Dataset | Tagger, *, test: Dataset | None = None) -> list[Finding]:
    """Find problems in rows to learn from, or in a tagger.

    Parameters
    ----------
    subject : Dataset or Tagger
        What to examine.
    test : Dataset, optional
        Test rows. They are compared with the rows to learn from; a tagger predicts their labels.

    Returns
    -------
    findings : list of Finding
        Errors first, then warnings, then notes.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.doctor import examine
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0, np.ones(60)]).astype(int)
    >>> data = Dataset(X, Y, ["width", "height"], ["wide", "slim", "seen"])
    >>> for finding in examine(data):
    ...     print(finding.severity, finding.what)
    warning 1 label is in every row: 'seen'.
    """
    if isinstance(subject, Tagger):
        found = list(check_tagger(subject))
        if test is not None:
            found += check_predictions(subject.evaluate(test), "the test rows")
        return worst_first(found)
    found = [*check_labels(subject), *check_rows(subject), *check_columns(subject)]
    if test is not None:
        found += check_against_test(subject, test)
    return worst_first(found)


def examine_model_file(
    path: str | os.PathLike[str], *, test: Dataset | None = None
) -> list[Finding]:
    """Find problems in a tagger in a file, and in the file.

    Parameters
    ----------
    path : path-like
        The folder or zip file that :meth:`splmll.tagging.Tagger.save` wrote.
    test : Dataset, optional
        As in :func:`examine`.

    Returns
    -------
    findings : list of Finding
        Errors first. For a damaged file, only the damage.

    Raises
    ------
    ModelFileError
        If there is nothing at this path, or something that is not a tagger.
    """
    place = Path(path)
    if not (place.is_file() or (place / MANIFEST).exists()):
        Tagger.load(path)  # there is nothing that could be damaged: says what to give
    try:
        manifest = read_manifest(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other libraries are a finding
            load(path)
    except ModelFileError as error:
        return [
            Finding(
                ERROR,
                "damaged-file",
                str(error),
                "Copy it again from its source, or fit it again.",
            )
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tagger = Tagger.load(path)
    return worst_first([*_libraries(manifest["libraries"]), *examine(tagger, test=test)])


def _libraries(then: dict[str, str]) -> Iterator[Finding]:
    """Yield the libraries whose versions have changed since the model was written."""
    here = versions(then)
    for severity in (WARNING, NOTE):
        other = [
            f"{name} {then[name]} (here {now})"
            for name in then
            if (severity == WARNING) == (name in _PREDICTS)
            and _release(now := here.get(name, "none")) != _release(then[name])
        ]
        if other:
            yield Finding(
                severity,
                "other-libraries",
                f"The model was written with {', '.join(other)}.",
                "Compare some predictions with earlier ones, install the same versions, or fit "
                "it again.",
                [each.split()[0] for each in other],
            )


def _release(number: str) -> list[str]:
    """Return the parts of a version that tell releases from corrections."""
    return str(number).split(".")[:2]
