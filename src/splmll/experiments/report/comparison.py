"""The comparison report: what an experiment came to, in one file that opens anywhere.

Every protocol has its own section with ranks, bars, tables and failures; the landmarks of fitted
models, settings and versions follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from splmll.experiments.protocol import PROTOCOLS
from splmll.experiments.report.landmarks import FittedModel, landmark_section
from splmll.experiments.report.measured import comparison_section
from splmll.experiments.report.opening import Choices, Facts, methods_of, summary_words
from splmll.experiments.report.page import Text, build_page, package_file, write_page
from splmll.experiments.report.ranking import Comparison, comparisons_of
from splmll.experiments.report.settings import settings_section
from splmll.experiments.tables import CONDITIONS
from splmll.metrics import PAPER_MEASURES

if TYPE_CHECKING:
    from splmll import SPLMLL

TITLE = "Multi-label methods compared"


def write_report(
    results: pd.DataFrame,
    path: str | Path,
    *,
    published: pd.DataFrame | None = None,
    models: Mapping[str, SPLMLL | FittedModel] | None = None,
    measures: Sequence[str] = PAPER_MEASURES,
    title: str = TITLE,
) -> Path:
    """Write the results of an experiment as one self-contained HTML file.

    Parameters
    ----------
    results : DataFrame
        One line for each run, as an experiment returns them. Runs of different protocols (or
        preprocessing, threshold rule, search) get sections of their own.
    path : path-like
        The file; its folder is made where it is missing.
    published : DataFrame, optional
        Printed numbers to stand beside the measured ones, as
        :func:`splmll.experiments.published.published` returns them.
    models : dict of str to SPLMLL or FittedModel, optional
        Data set -> a model fitted on it, whose landmarks are shown.
    measures : sequence of str, default=PAPER_MEASURES
        Names in :data:`splmll.metrics.MEASURES`.
    title : str
        Title of the page.

    Returns
    -------
    path : Path
        The file.

    Examples
    --------
    >>> import pandas as pd, tempfile
    >>> from pathlib import Path
    >>> from splmll.experiments.report import write_report
    >>> results = pd.DataFrame([
    ...     {"data": "yeast", "method": method, "protocol": "held-out", "preprocessing": "none",
    ...      "threshold": "own", "search": "none", "repetition": 0, "fold": 0, "seed": 0,
    ...      "status": "done", "hamming_loss": loss}
    ...     for method, loss in [("BR", 0.21), ("RF", 0.19)]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_report(results, Path(folder) / "report.html", measures=["hamming_loss"])
    ...     "RF has the best average rank" in file.read_text("utf-8")
    True
    """
    comparisons = comparisons_of(results, measures, published)
    titles = _section_titles(comparisons)
    sections = [
        comparison_section(name, comparison, f"c{position}")
        for position, (name, comparison) in enumerate(zip(titles, comparisons), start=1)
    ]
    sections += [
        landmark_section(data, model if isinstance(model, FittedModel) else FittedModel(model))
        for data, model in (models or {}).items()
    ]
    sections.append(settings_section(results))
    first, *others = (summary_words(each, name) for name, each in zip(titles, comparisons))
    page = build_page(
        title,
        sections,
        introduction=first,
        opening=[*map(Text, others), Facts.of(results, comparisons)],
        toolbar=[Choices(comparisons[0].measures, methods_of(comparisons))],
        script=package_file("report.js"),
    )
    return write_page(path, page)


def _section_titles(comparisons: Sequence[Comparison]) -> list[str]:
    """Name each comparison by its protocol, and by whatever else tells it from the others."""
    conditions = [comparison.conditions for comparison in comparisons]
    varying = [
        name
        for name in CONDITIONS
        if name != "protocol" and len({getattr(each, name) for each in conditions}) > 1
    ]
    return [
        ", ".join(
            [
                PROTOCOLS[each.protocol].title,
                *(f"{name} {getattr(each, name)}" for name in varying),
            ]
        )
        for each in conditions
    ]
