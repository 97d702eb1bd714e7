"""By how much measured and printed numbers differ, with the known reason if there is one.

The reasons are data: what is known of the paper's rows and of how the methods here differ from the
published ones. A difference without such a reason is called unexplained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from splmll.experiments.ablations import ABLATIONS
from splmll.experiments.published import printed_beside
from splmll.experiments.table_format import MISSING, Block, Cell, FormattedTable
from splmll.experiments.tables import check_conditions, summarise
from splmll.metrics import MEASURES, PAPER_MEASURES

# Printed numbers have three decimals: this is one unit of rounding on each side and one more.
AGREEMENT = 0.002
# So much of a unit of the last place is lost by subtracting two decimal fractions.
ROUNDING = 1e-9

AGREES = "agrees"
UNEXPLAINED = "unexplained"

RANKING = ("ranking_loss", "average_precision")
TREES = ("BR", "LP", "EPS", "ECC", "RAkEL", "CLR")
PUBLISHED = (
    "SPL-MLL as published",
    "SPL-MLL (linear) as published",
    "SPL-MLL as released",
    *ABLATIONS,
)


@dataclass(frozen=True)
class Reason:
    """Why measured numbers may differ from printed ones.

    Attributes
    ----------
    kind : str
        One or two words.
    words : str
        What is known.
    methods : tuple of str
        The methods it holds for.
    measures : tuple of str
        The measures it holds for.
    data : str
        The data set it holds for; empty for all.

    Examples
    --------
    >>> from splmll.experiments.differences import Reason
    >>> reason = Reason("tie rule", "equal scores count otherwise", ("BR",), ("ranking_loss",))
    >>> reason.holds_for("BR", "ranking_loss"), reason.holds_for("BR", "micro_f1")
    (True, False)
    """

    kind: str
    words: str
    methods: tuple[str, ...]
    measures: tuple[str, ...] = PAPER_MEASURES
    data: str = ""

    @property
    def note(self) -> str:
        """Kind and words in one line."""
        return f"{self.kind}: {self.words}"

    def holds_for(self, method: str, measure: str, data: str = "") -> bool:
        """Whether it is a reason for a difference in this cell."""
        here = method in self.methods and measure in self.measures
        return here and self.data in ("", data.partition(", ")[0])


#: What is known of single methods. Protocol, features and threshold are compared for each table.
REASONS: tuple[Reason, ...] = (
    Reason(
        "base learner",
        "ours is logistic regression, the printed rows look like decision trees",
        TREES,
    ),
    Reason(
        "tie rule",
        "the printed rows look as if equal scores were ranked in the order of the labels; here "
        "a tie counts as an error",
        TREES,
        RANKING,
    ),
    Reason(
        "method",
        "votes are averaged as probabilities, where the published method counts them",
        ("EPS", "ECC", "RAkEL", "CLR"),
    ),
    Reason(
        "method",
        "the regression of MLML is solved to its minimum, where the published iteration can stop "
        "short",
        ("MLML",),
    ),
    Reason("method", "the third penalty of MLFE is unpublished and off", ("MLFE",)),
    Reason("method", "HNOML is a reconstruction from the abstract of its paper", ("HNOML",)),
    Reason(
        "method",
        "MOPLMS recovers the labels by least squares, not by the shrunken published matrix",
        ("MOPLMS",),
    ),
    Reason(
        "method",
        "the paper names no layers of the deep versions; ours are those of its own network",
        ("Deep CPLST", "Deep FaIE"),
    ),
    Reason(
        "validation",
        "the paper sets a tenth of the training rows apart and does not say what is chosen on "
        "them; here they choose the epoch",
        PUBLISHED,
    ),
    Reason(
        "sums",
        "norms are sums over the rows of a batch, as the formulas say; with means the paper's "
        "lambda of .1 would count 64 times as much",
        PUBLISHED,
    ),
    Reason(
        "released model",
        "the model that the authors released does not give the printed numbers either (ranking "
        "loss .179, Hamming loss .229, average precision .780, micro-F1 .694, macro-F1 .689 on the "
        "test rows)",
        PUBLISHED,
        data="emotions",
    ),
    Reason(
        "method",
        "the authors' code differs from the paper; its epoch is chosen on held-out rows here",
        ("SPL-MLL as released",),
    ),
    Reason(
        "definition",
        "the macro-F1 of the authors' code is that of mean precision and mean recall, ours the "
        "mean of the labels' F1",
        PUBLISHED,
        ("macro_f1",),
    ),
)
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
    >>> run = {"data": "yeast", "repetition": 0, "fold": 0, "seed": 0, "protocol": "held-out",
    ...        "preprocessing": "none", "threshold": "own", "search": "none", "status": "done"}
    >>> results = pd.DataFrame([{**run, "method": "BR", "hamming_loss": 0.2},
    ...                         {**run, "method": "ML-kNN", "hamming_loss": 0.198}])
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
    lines = []
    rows: dict[str, dict[str, dict[str, Cell]]] = {}
    for cell in cells.to_dict("records"):
        difference = cell["mean"] - cell["printed"]
        notes = _reasons(cell, conditions.threshold) or [UNEXPLAINED]
        if cell["status"] != "done":
            reason, shown = cell["status"], Cell(cell["status"], failed=True)
        elif abs(difference) <= AGREEMENT + ROUNDING:
            reason, shown = AGREES, Cell(AGREES)
        else:
            reason = ", ".join(dict.fromkeys(note.split(":")[0] for note in notes))
            shown = Cell(f"{difference:+.3f}", notes=tuple(notes))
        place = [cell[key] for key in ("data", "method", "measure")]
        lines.append([*place, cell["mean"], cell["printed"], difference, reason])
        rows.setdefault(place[0], {}).setdefault(place[1], {})[place[2]] = shown
    columns = ["data", "method", "measure", "measured", "printed", "difference", "reason"]
    frame = pd.DataFrame(lines, columns=columns)
    names = list(frame["measure"].unique())
    return FormattedTable(
        [MEASURES[name].title for name in names],
        [
            Block(
                data, {m: [line.get(n, Cell(MISSING)) for n in names] for m, line in part.items()}
            )
            for data, part in rows.items()
        ],
        f"Measured minus printed{f', {next(iter(rows))}' if len(rows) == 1 else ''}; within "
        f"{AGREEMENT} they agree. {conditions.describe()}",
        ("data", "method"),
        frame=frame,
    )


def _reasons(cell: dict[Any, Any], threshold: str) -> list[str]:
    """Everything that is known to be different about a cell, each as "kind: words"."""
    notes = cell["caveat"].split("; ") if cell["caveat"] else []
    method, measure = cell["method"], cell["measure"]
    notes += [r.note for r in REASONS if r.holds_for(method, measure, cell["data"])]
    if threshold != OWN_RULE and MEASURES[measure].needs == "labels":
        notes.append(COMMON_THRESHOLD)
    return notes
