"""By how much measured and printed numbers differ, with the known reason if there is one.

The reasons are data: what is known of the paper's rows and of how the methods here differ from the
published ones. A difference without such a reason is called unexplained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from splmll.experiments.contestants import ABLATIONS
from splmll.experiments.published import printed_beside, read_table
from splmll.experiments.table_format import Cell, FormattedTable
from splmll.experiments.tables import arranged, check_conditions, summarise
from splmll.metrics import MEASURES, PAPER_MEASURES

# Printed numbers have three decimals: this is one unit of rounding on each side and one more.
AGREEMENT = 0.002
# So much of a unit of the last place is lost by subtracting two decimal fractions.
ROUNDING = 1e-9

AGREES = "agrees"
UNEXPLAINED = "unexplained"

# Names for several methods in the table of reasons.
GROUPS = {
    "with trees": ["BR", "LP", "EPS", "ECC", "RAkEL", "CLR"],
    "SPL-MLL of the paper": [
        *(f"{name} as published" for name in ("SPL-MLL", "SPL-MLL (linear)")),
        "SPL-MLL as released",
        *ABLATIONS,
    ],
}
# The value of the column threshold that says so, and what any other means.
OWN_RULE = "own"
COMMON_THRESHOLD = "threshold: one rule for all methods here, the paper names none"


def difference_table(
    results: pd.DataFrame, published: pd.DataFrame, measures: Sequence[str] = PAPER_MEASURES
) -> FormattedTable:
    """Return measured minus printed for every cell that the paper prints, with the reason.

    A cell within 0.002 agrees. Otherwise all known reasons that hold for it are named; they
    say what is different, not how much of the difference each makes.

    Parameters
    ----------
    results : DataFrame
        One line for each run, as an experiment returns them.
    published : DataFrame
        Printed numbers, as :func:`splmll.experiments.published.published` returns them.
    measures : sequence of str, default=PAPER_MEASURES
        Names in :data:`splmll.metrics.MEASURES`.

    Returns
    -------
    table : FormattedTable
        Its ``frame`` has the columns data, method, measure, measured, printed, difference and
        reason; measured is NaN where all runs failed.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.differences import difference_table
    >>> from splmll.experiments.published import published
    >>> results = pd.DataFrame({
    ...     "data": "yeast", "method": ["BR", "ML-kNN"], "hamming_loss": [0.2, 0.198], "fold": 0,
    ...     "repetition": 0, "seed": 0, "protocol": "held-out", "preprocessing": "none",
    ...     "threshold": "own", "search": "none", "status": "done"})
    >>> difference_table(results, published(), ["hamming_loss"]).frame["reason"].tolist()
    ['base learner', 'unexplained']
    """
    conditions = check_conditions(results)
    cells = printed_beside(summarise(results, measures), published, conditions.protocol)
    cells = cells[cells["printed"].notna()]
    if cells.empty:
        raise ValueError(
            "Nothing is printed for these data sets, methods and measures; the paper has "
            f"{', '.join(published['data'].unique())}."
        )
    known = known_reasons()
    reasons, shown = [], []
    for cell in cells.to_dict("records"):
        difference = cell["mean"] - cell["printed"]
        notes = _notes(cell, known, conditions.threshold) or [UNEXPLAINED]
        if cell["status"] != "done":
            reason, written = cell["status"], Cell(cell["status"], failed=True)
        elif abs(difference) <= AGREEMENT + ROUNDING:
            reason, written = AGREES, Cell(AGREES)
        else:
            reason = ", ".join(dict.fromkeys(note.split(":")[0] for note in notes))
            written = Cell(f"{difference:+.3f}", notes=tuple(notes))
        reasons.append(reason)
        shown.append(written)
    key = ["data", "method", "measure"]
    frame = cells[[*key, "mean", "printed"]].rename(columns={"mean": "measured"})
    frame = frame.assign(difference=frame["measured"] - frame["printed"], reason=reasons)
    frame = frame.reset_index(drop=True)
    titles = frame["measure"].map(lambda name: MEASURES[name].title)
    table, subject = arranged(frame.assign(measure=titles, cell=pd.Series(shown)))
    caption = (
        f"Measured minus printed{f', {subject}' if subject else ''}; within {AGREEMENT} they "
        f"agree. {conditions.describe()}"
    )
    return FormattedTable(table, caption, frame)


class Reason(NamedTuple):
    """Why measured numbers may differ from printed ones; an empty `data` holds for all sets."""

    kind: str
    words: str
    methods: list[str]
    measures: list[str]
    data: str


def known_reasons() -> list[Reason]:
    """Return what is known of single methods; protocol, features and threshold are compared."""
    return [
        Reason(
            kind,
            words,
            [name for each in methods.split("; ") for name in GROUPS.get(each, [each])],
            measures.split("; ") if measures else list(PAPER_MEASURES),
            data,
        )
        for kind, words, methods, measures, data in read_table("reasons.csv").fillna("").to_numpy()
    ]


def _notes(cell: dict[Any, Any], known: list[Reason], threshold: str) -> list[str]:
    """Everything that is known to be different about a cell, each as "kind: words"."""
    notes = cell["caveat"].split("; ") if cell["caveat"] else []
    whole = cell["data"].partition(", ")[0]
    notes += [
        f"{reason.kind}: {reason.words}"
        for reason in known
        if cell["method"] in reason.methods
        and cell["measure"] in reason.measures
        and reason.data in ("", whole)
    ]
    if threshold != OWN_RULE and MEASURES[cell["measure"]].needs == "labels":
        notes.append(COMMON_THRESHOLD)
    return notes
