"""The comparison report: what an experiment came to, in one file that opens anywhere.

Every protocol has its own section with ranks, a table for each data set, differences and failures;
the landmarks of fitted models, settings and versions follow.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from splmll.experiments.contestants import CONTESTANTS
from splmll.experiments.differences import difference_table
from splmll.experiments.protocol import PROTOCOLS
from splmll.experiments.report import page
from splmll.experiments.report.landmarks import FittedModel, landmark_section
from splmll.experiments.report.page import Heading, Part, Section, Table, Text
from splmll.experiments.statistics import (
    FEWEST_METHODS,
    Ranks,
    fair_ranks,
    friedman_test,
    nemenyi_test,
)
from splmll.experiments.table_format import MISSING, FormattedTable
from splmll.experiments.tables import (
    CONDITIONS,
    NOT_DONE,
    Conditions,
    best_two,
    check_conditions,
    comparison_table,
)
from splmll.metrics import MEASURES, PAPER_MEASURES
from splmll.plots.critical_difference import CriticalDifferenceDisplay
from splmll.words import counted

if TYPE_CHECKING:
    from splmll import SPLMLL

TITLE = "Multi-label methods compared"
RANK_DIGITS = 2  # decimals with which ranks are shown and compared
NO_ESTIMATE = (
    "Trained and measured on the same rows. These numbers say nothing about new rows; they stand "
    "here only beside printed numbers that were measured in this way."
)


def write_report(
    results: pd.DataFrame,
    path: str | Path,
    *,
    published: pd.DataFrame | None = None,
    models: Mapping[str, SPLMLL | FittedModel] | None = None,
    measures: Sequence[str] = PAPER_MEASURES,
    title: str = TITLE,
    more: Sequence[Section] = (),
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
    more : sequence of Section, default=()
        Other sections, before that of the landmarks.

    Returns
    -------
    path : Path
        The file.

    Examples
    --------
    >>> import pandas as pd, tempfile
    >>> from pathlib import Path
    >>> from splmll.experiments.report import write_report
    >>> results = pd.DataFrame({
    ...     "data": "yeast", "method": ["BR", "RF"], "hamming_loss": [0.21, 0.19], "status": "done",
    ...     "protocol": "held-out", "preprocessing": "none", "threshold": "own", "search": "none",
    ...     "repetition": 0, "fold": 0, "seed": 0})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_report(results, Path(folder) / "report.html", measures=["hamming_loss"])
    ...     "RF has the best average rank" in file.read_text("utf-8")
    True
    """
    comparisons = _comparisons(results, measures, published)
    titles = _section_titles(comparisons)
    sections = [_section(name, each) for name, each in zip(titles, comparisons)]
    sections += more
    sections += [
        landmark_section(data, model if isinstance(model, FittedModel) else FittedModel(model))
        for data, model in (models or {}).items()
    ]
    sections.append(_settings_section(results))
    first, *others = (_summary(each, name) for name, each in zip(titles, comparisons))
    whole = page.build_page(
        title,
        sections,
        introduction=first,
        opening=[Text(words) for words in others],
        script=page.package_file("report.js"),
    )
    return page.write_page(path, whole)


@dataclass(frozen=True, eq=False)
class _Comparison:
    """All runs that were made under the same conditions, and what they come to."""

    runs: pd.DataFrame
    conditions: Conditions
    cells: pd.DataFrame
    ranks: Ranks | None
    differences: FormattedTable | None

    @property
    def data(self) -> list[str]:
        return list(self.cells["data"].unique())

    @property
    def measures(self) -> list[str]:
        return list(self.cells["measure"].unique())

    @property
    def failed(self) -> pd.DataFrame:
        return self.runs[self.runs["status"] != "done"]


def _comparisons(
    results: pd.DataFrame, measures: Sequence[str], published: pd.DataFrame | None
) -> list[_Comparison]:
    """One comparison for every combination of conditions: such runs are never put together."""
    if results.empty or not set(CONDITIONS) <= set(results.columns):
        check_conditions(results)  # it says what is wrong
    comparisons = []
    for _, runs in results.groupby(list(CONDITIONS), sort=False):
        cells = comparison_table(runs, measures, published).frame
        differences = None
        if published is not None and cells["printed"].notna().any():
            differences = difference_table(runs, published, measures)
        ranks = fair_ranks(runs, measures)
        comparisons.append(_Comparison(runs, check_conditions(runs), cells, ranks, differences))
    return comparisons


def _section_titles(comparisons: Sequence[_Comparison]) -> list[str]:
    """Name each comparison by its protocol, and by whatever else tells it from the others."""
    conditions = [comparison.conditions for comparison in comparisons]
    varying = [
        name
        for name in CONDITIONS
        if name != "protocol" and len({getattr(each, name) for each in conditions}) > 1
    ]
    return [
        ", ".join(
            [PROTOCOLS[each.protocol].title, *(f"{name} {getattr(each, name)}" for name in varying)]
        )
        for each in conditions
    ]


def _summary(comparison: _Comparison, title: str) -> str:
    """Return in plain words who ranks best, where SPL-MLL is if that is not it, and what failed."""
    ranks = comparison.ranks
    if comparison.conditions.protocol == "resubstitution":
        sentences = ["Measured on the training rows, so nobody is ranked here."]
    elif ranks is None or len(ranks.frame) < 2:
        sentences = ["Fewer than two methods have all results, so nobody is ranked."]
    else:
        shown = ranks.frame["all"].round(RANK_DIGITS)
        best = list(shown[shown == shown.min()].index)
        whole = len(ranks.data) == len(comparison.data)
        extent = (
            counted(len(ranks.data), "data set")
            if whole  # otherwise not everybody was run everywhere
            else f"{len(ranks.data)} of {len(comparison.data)} data sets ({', '.join(ranks.data)})"
        )
        sentences = [
            f"{', '.join(best)} {'has' if len(best) == 1 else 'share'} the best average rank, "
            f"{shown.min():.{RANK_DIGITS}f} among {len(shown)} methods over {extent} and "
            f"{counted(len(comparison.measures), 'measure')}."
        ]
        ours = [method for method in shown.index if _is_ours(method)]
        if ours and not set(ours) & set(best):
            place = int((shown < shown[ours[0]]).sum()) + 1
            sentences.append(
                f"The best version of SPL-MLL, {ours[0]}, is at place {place} with "
                f"{shown[ours[0]]:.{RANK_DIGITS}f}."
            )
    counts = comparison.failed["status"].value_counts()
    if len(counts):
        reasons = [f"{count} {NOT_DONE[str(status)]}" for status, count in counts.items()]
        sentences.append(f"Of {len(comparison.runs)} runs, {', '.join(reasons)}.")
    else:
        sentences.append(f"All {len(comparison.runs)} runs finished.")
    return f"{title}: {' '.join(sentences)}"


def _section(title: str, comparison: _Comparison) -> Section:
    parts: list[Part] = [Text(comparison.conditions.describe(), note=True)]
    ranks = comparison.ranks
    if comparison.conditions.protocol == "resubstitution":
        parts.append(
            page.Written(f'<p class="caution"><strong>{html.escape(NO_ESTIMATE)}</strong></p>')
        )
    elif ranks is not None:
        parts += [Heading("Average ranks"), _rank_table(comparison, ranks)]
        if len(ranks.frame) >= FEWEST_METHODS and len(ranks.data) > 1:
            parts += [Text(friedman_test(ranks).describe()), _diagram(ranks)]
    parts.append(Heading("Data set by data set"))
    for data in comparison.data:
        parts += [Heading(data), *_data_parts(comparison, data)]
    if comparison.differences is not None:
        parts += [Heading("Measured against printed"), comparison.differences]
    if len(comparison.failed):
        parts += [Heading("Runs that failed"), *_failures(comparison.failed)]
    return Section(title, parts)


def _rank_table(comparison: _Comparison, ranks: Ranks) -> Part:
    """Every method with its average rank under each measure and under all of them."""
    order = ["all", *comparison.measures]
    values = ranks.frame[order].round(RANK_DIGITS)
    titles = {"all": "all measures"} | {name: MEASURES[name].title for name in order[1:]}
    others = [name for name in comparison.cells["method"].unique() if name not in values.index]
    values = values.reindex([*values.index, *others])
    shown = values.map(lambda rank: MISSING if pd.isna(rank) else f"<span>{rank:.2f}</span>")
    shown["failed runs"] = [
        str(int((comparison.failed["method"] == name).sum())) for name in values.index
    ]
    caption = (
        f"Mean rank over {', '.join(ranks.data)}, among {len(ranks.frame)} methods; 1 is best, "
        "equal ones share their rank. All measures: the mean of the columns beside it."
    )
    if others:
        caption += f" {MISSING} not ranked: results are missing on some of these data sets."
    marks = values.apply(best_two).assign(**{"failed runs": ""})
    return _sortable(shown.rename(columns=titles), marks.rename(columns=titles), caption)


def _diagram(ranks: Ranks) -> page.Figure:
    import matplotlib.pyplot as plt

    figure = CriticalDifferenceDisplay.from_test(nemenyi_test(ranks)).figure_
    plt.close(figure)  # it goes into the page, not onto a screen
    how = "The mean rank of every method."
    if len(ranks.measures) > 1:
        how = (
            "Every data set places the methods by their mean rank under all measures; shown is the "
            "mean of these places, which differs from the mean rank in the table."
        )
    return page.Figure(figure, f"{how} Methods under one thick bar cannot be told apart.")


def _data_parts(comparison: _Comparison, data: str) -> list[Part]:
    """Every method on one data set: the measures, its mean rank there, and the time of a fit."""
    runs = comparison.runs[comparison.runs["data"] == data]
    cells = comparison.cells[comparison.cells["data"] == data]
    found = fair_ranks(runs, comparison.measures)
    ranks = {} if found is None else found.frame["all"].to_dict()
    methods = [*ranks, *(name for name in cells["method"].unique() if name not in ranks)]
    titles = {name: f"{MEASURES[name].title} {MEASURES[name].arrow}" for name in cells["measure"]}
    lines = cells.assign(shown=[page.macro("number", line) for line in cells.to_dict("records")])
    table = lines.pivot(index="method", columns="measure", values=["shown", "mark"])
    shown, marks = (
        pd.DataFrame(table[kind]).reindex(methods)[list(titles)].rename(columns=titles)
        for kind in ("shown", "mark")
    )
    shown["mean rank"] = [f"{ranks[name]:.2f}" if name in ranks else MISSING for name in methods]
    if "fit_seconds" in runs:
        seconds = runs[runs["status"] == "done"].groupby("method")["fit_seconds"].mean()
        times = seconds.reindex(methods)
        shown["fit, s"] = [MISSING if pd.isna(time) else f"{time:.1f}" for time in times]
    marks = marks.reindex(columns=shown.columns, fill_value="")
    parts: list[Part] = [_sortable(shown, marks, _size_words(runs), data)]
    caveats = [each for each in cells.get("caveat", pd.Series(dtype=str)).unique() if each]
    parts += [Text(f"The paper measured differently ({c}).", note=True) for c in caveats]
    return parts


def _sortable(
    shown: pd.DataFrame, marks: pd.DataFrame, caption: str, name: str = ""
) -> page.Written:
    """Methods against cells that are HTML already; a click on the title of a column sorts."""
    plain = shown.rename_axis(index=None, columns="method")
    style = plain.style.set_td_classes(marks.fillna(""))
    style = style.format_index(escape="html", axis=0).format_index(escape="html", axis=1)
    ours = "color: var(--accent); font-weight: 650"
    style = style.apply_index(lambda names: [ours if _is_ours(each) else "" for each in names])
    key = hashlib.sha256(f"{caption}{name}{list(shown.index)}".encode()).hexdigest()[:8]
    attributes = f'class="numbers" data-name="{html.escape(name)}"'
    markup = style.set_uuid(key).to_html(table_attributes=attributes)
    return page.Written(markup, caption or "Sort by a click on the title of a column.")


def _size_words(runs: pd.DataFrame) -> str:
    sizes = {"n_train": "training rows", "n_test": "test rows"}
    sizes |= {"n_features": "features", "n_labels": "labels"}
    words = [
        f"{int(runs[column].median())} {name}"
        for column, name in sizes.items()
        if column in runs and runs[column].notna().any()
    ]
    return f"{', '.join(words)}." if words else ""


def _failures(failed: pd.DataFrame) -> list[Part]:
    """The runs of a method that gave no result: what happened, and the traceback on request."""
    parts: list[Part] = []
    for (data, method), runs in failed.groupby(["data", "method"], sort=False):
        errors, which, stories = [], [], []
        for run in runs.to_dict("records"):
            words, error = NOT_DONE[run["status"]], run.get("error")
            errors.append(f"{words} ({error})" if isinstance(error, str) and error else words)
            which.append(f"repetition {run['repetition']} fold {run['fold']} (seed {run['seed']})")
            if isinstance(run.get("traceback"), str):
                stories.append(page.Written(f"<pre>{html.escape(run['traceback'])}</pre>"))
        title = f"{method} on {data}: {'; '.join(dict.fromkeys(errors))}"
        parts.append(page.Folded(title, [Text(", ".join(which), note=True), *stories[:1]]))
    return parts


def _settings_section(results: pd.DataFrame) -> Section:
    """With which settings and versions, and on which machines, the numbers were made."""
    parts: list[Part] = []
    if "settings" in results:
        told = results.assign(words=results["settings"].map(_settings_words))
        rows = [
            [str(method), ", ".join(same["data"].unique()), str(words)]
            for (method, words), same in told.groupby(["method", "words"], sort=False)
        ]
        caption = (
            "What differs from the defaults of the class, after the search where there was one."
        )
        table = Table(["method", "data", "settings"], rows, caption)
        parts.append(page.Folded("Settings of every method", [table]))
    for column, title in (("versions", "Versions"), ("host", "Machines")):
        if column in results:
            counts = results[column].dropna().value_counts()
            rows = [[_settings_words(text), str(count)] for text, count in counts.items()]
            parts.append(page.Folded(title, [Table([title.lower(), "runs"], rows)]))
    if {"started", "finished"} <= set(results.columns):
        first, last = results["started"].dropna().min(), results["finished"].dropna().max()
        parts.append(Text(f"First run started {first}, last run finished {last}.", note=True))
    return Section("Settings and versions", parts or [Text("Nothing was recorded.", note=True)])


def _settings_words(text: Any) -> str:
    try:
        record = json.loads(text)
        return ", ".join(f"{name} = {value}" for name, value in record.items()) or "defaults"
    except (TypeError, ValueError, AttributeError):  # no record: shown as it is
        return "defaults" if text is None or text != text else str(text)


def _is_ours(method: str) -> bool:
    return method in CONTESTANTS and CONTESTANTS[method].group == "ours"
