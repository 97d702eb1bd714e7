"""What stands above the sections of a report: the outcome in words, the facts, and the choices.

The words say who ranks best and what failed, whoever that is.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from splmll.experiments.report.ranking import (
    GROUP_TITLES,
    OURS,
    RANK_DIGITS,
    Comparison,
    group_of,
    title_of,
)
from splmll.experiments.statistics import Ranks
from splmll.experiments.tables import NOT_DONE
from splmll.metrics import MEASURES


def summary_words(comparison: Comparison, title: str) -> str:
    """Return in plain words what a comparison came to.

    Parameters
    ----------
    comparison : Comparison
        What was compared.
    title : str
        How it was measured, to begin with.

    Returns
    -------
    words : str
    """
    ranks = comparison.ranks
    sentences = []
    if comparison.conditions.protocol == "resubstitution":
        sentences.append("Measured on the training rows, so nobody is ranked here.")
    elif ranks is None or len(ranks.frame) < 2:
        sentences.append("Fewer than two methods have all results, so nobody is ranked.")
    else:
        sentences += _rank_sentences(ranks.frame["all"], _extent(comparison, ranks))
    counts = comparison.failed["status"].value_counts()
    if len(counts):
        reasons = [f"{count} {NOT_DONE[str(status)]}" for status, count in counts.items()]
        sentences.append(f"Of {len(comparison.runs)} runs, {', '.join(reasons)}.")
    else:
        sentences.append(f"All {len(comparison.runs)} runs finished.")
    return f"{title}: {' '.join(sentences)}"


def _extent(comparison: Comparison, ranks: Ranks) -> str:
    measures = _count(len(comparison.measures), "measure")
    if len(ranks.data) == len(comparison.data):
        return f"{_count(len(ranks.data), 'data set')} and {measures}"
    # Not everybody was run everywhere.
    names = ", ".join(ranks.data)
    return f"{len(ranks.data)} of {len(comparison.data)} data sets ({names}) and {measures}"


def _rank_sentences(average: pd.Series, extent: str) -> list[str]:
    """Who ranks best, and where the best version of SPL-MLL is if that is not it."""
    shown = average.round(RANK_DIGITS)
    best = list(shown[shown == shown.min()].index)
    sentences = [
        f"{', '.join(best)} {'has' if len(best) == 1 else 'share'} the best average rank, "
        f"{shown.min():.{RANK_DIGITS}f} among {len(shown)} methods over {extent}."
    ]
    ours = [method for method in shown.index if group_of(method) == OURS]
    if ours and not set(ours) & set(best):
        place = int((shown < shown[ours[0]]).sum()) + 1
        sentences.append(
            f"The best version of SPL-MLL, {ours[0]}, is at place {place} with "
            f"{shown[ours[0]]:.{RANK_DIGITS}f}."
        )
    return sentences


@dataclass(frozen=True)
class Facts:
    """Short facts, a name and a value each.

    Parameters
    ----------
    facts : dict of str to str
        Name -> value.

    Examples
    --------
    >>> from splmll.experiments.report.opening import Facts
    >>> Facts({"Seeds": "0 to 4"}).to_html(0)
    '<dl class="facts"><div><dt>Seeds</dt><dd>0 to 4</dd></div></dl>'
    """

    facts: Mapping[str, str]

    @classmethod
    def of(cls, results: pd.DataFrame, comparisons: Sequence[Comparison]) -> Facts:
        """Collect what was compared and how from the results of an experiment."""
        conditions = [comparison.conditions for comparison in comparisons]
        data = dict.fromkeys(name for each in comparisons for name in each.data)
        methods = methods_of(comparisons)
        seeds = sorted(set(results["seed"]))
        spread = f"{len(seeds)}, from {seeds[0]} to {seeds[-1]}"
        rules = [
            "each method's own rule" if each.threshold == "own" else each.threshold
            for each in conditions
        ]
        n_failed = int((results["status"] != "done").sum())
        return cls(
            {
                _count(len(data), "data set"): ", ".join(data),
                _count(len(methods), "method"): ", ".join(methods),
                "Protocol": _distinct(each.protocol for each in conditions),
                "Runs": f"{len(results)}, {n_failed or 'none'} of them without a result",
                "Seeds": spread if len(seeds) > 1 else str(seeds[0]),
                "Preprocessing": _distinct(each.preprocessing for each in conditions),
                "Threshold rule": _distinct(rules),
                "Hyper-parameter search": _distinct(each.search for each in conditions),
            }
        )

    def to_html(self, number: int) -> str:
        """Return the facts as a list."""
        entries = "".join(
            f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>"
            for name, value in self.facts.items()
        )
        return f'<dl class="facts">{entries}</dl>'


@dataclass(frozen=True)
class Choices:
    """The bar in which the reader picks a measure and methods.

    Parameters
    ----------
    measures : sequence of str
        Names in :data:`splmll.metrics.MEASURES`.
    methods : sequence of str
        Names of the methods.

    Examples
    --------
    >>> from splmll.experiments.report.opening import Choices
    >>> '<option value="micro_f1">Micro-F1 ↑</option>' in Choices(["micro_f1"], ["BR"]).to_html(0)
    True
    """

    measures: Sequence[str]
    methods: Sequence[str]

    def to_html(self, number: int) -> str:
        """Return the bar; it is shown where scripts can run."""
        options = "".join(
            f'<option value="{name}">{MEASURES[name].title} {MEASURES[name].arrow}</option>'
            for name in self.measures
        )
        by_group = {
            group: [method for method in self.methods if group_of(method) == group]
            for group in GROUP_TITLES
        }
        fields = "".join(
            self._group(group, members) for group, members in by_group.items() if members
        )
        return (
            '<div class="choices" role="group" aria-label="What is shown">'
            f'<label><span class="words">Measure</span> <select id="measure">{options}</select>'
            "</label>"
            '<label><span class="words">Find a method</span> <input type="search" id="find" '
            'placeholder="method" autocomplete="off" spellcheck="false"></label>'
            '<details><summary><span id="shown" role="status"></span></summary>'
            f'<div class="menu">{fields}</div></details>'
            '<button type="button" id="reset">Show all</button></div>'
        )

    def _group(self, group: str, members: Sequence[str]) -> str:
        boxes = "".join(
            f'<label><input type="checkbox" checked data-choose-method="{html.escape(method)}" '
            f'data-group="{group}" data-words="{html.escape(f"{method} {title_of(method)}")}"> '
            f"{html.escape(method)}</label>"
            for method in members
        )
        return (
            f'<fieldset><legend><label><input type="checkbox" checked data-choose-group="{group}"> '
            f"{GROUP_TITLES[group]}</label></legend>{boxes}</fieldset>"
        )


def methods_of(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of all methods, in the order of the tables."""
    return list(dict.fromkeys(name for each in comparisons for name in each.cells["method"]))


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _distinct(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values))
