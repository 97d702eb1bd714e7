"""How measures and landmarks of a tagger are printed, by ``splmll fit`` and ``splmll evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from splmll.cli._show import show_table, show_text
from splmll.words import counted

if TYPE_CHECKING:
    from splmll.tagging import Measured, Tagger

ENOUGH_ROWS = 10  # of a label, to tell how well it does
FEW_LABELS = 10  # so many are shown in one table, more as the best and the worst
MOST_LANDMARKS = 10  # so many are shown, the strongest
LEAST_SHOWN = 0.0005  # less would be printed as zero
_HOW = {
    "out of fold": "out of fold: by models that had not seen the rows",
    "held out": "on {rows} that were held out",
    "other rows": "on {rows}",
}


def show_measured(measured: Measured, title: str, *, every_label: bool = False) -> None:
    """Print the measures, those of the embedding alone next to them, and the labels."""
    from splmll.metrics import MEASURES

    how = _HOW[measured.how].format(rows=counted(measured.n_rows, "row"))
    columns = ["measure", "value"]
    if measured.alone:
        columns = ["measure", "each label alone", "with landmarks"]
    show_table(
        f"{title} {how}" if measured.how != "out of fold" else f"{title}, {how}",
        columns,
        (
            (
                f"{MEASURES[name].title} {MEASURES[name].arrow}",
                *([f"{measured.alone[name]:.4f}"] if measured.alone else []),
                f"{value:.4f}",
            )
            for name, value in measured.measures.items()
        ),
    )
    if every_label:
        _show_labels("Labels, best first", measured.best(len(measured.labels)))
        missing = int((measured.labels["rows"] == 0).sum())
        if missing:
            typer.echo(f"{counted(missing, 'label is', 'labels are')} in none of these rows.\n")
    else:
        _show_best_and_worst(measured)


def show_landmarks(tagger: Tagger, *, every: bool = False, short: bool = False) -> None:
    """Print the strongest landmarks that carry other labels, or all of them, as a table.

    Parameters
    ----------
    tagger : Tagger
        The model.
    every : bool, default=False
        Whether to list all landmarks, also those that carry only themselves.
    short : bool, default=False
        Whether to print only their strength and what they carry, one line each.
    """
    found, n_labels = tagger.landmarks(), len(tagger.label_names)
    carrying = found[found["carries"].map(len) > 0]
    shown = found if every else carrying.head(MOST_LANDMARKS)
    title = f"{counted(len(found), 'landmark')} of {counted(n_labels, 'label')}"
    if len(shown) < len(carrying):
        title += f", the strongest {len(shown)} that carry others"
    elif 0 < len(shown) < len(found):
        title += f", {counted(len(shown), 'that carries', 'that carry')} others"
    numbers = ["strength"] if short else ["strength", "predictability", "representativeness"]
    if len(shown):
        show_table(
            title,
            ["landmark", *numbers, "carries"],
            (
                (
                    name,
                    *(_number(float(line[each])) for each in numbers),
                    ", ".join(line["carries"]) or "only itself",
                )
                for name, line in shown.iterrows()
            ),
            one_line=short,
        )
    alone = len(found) - len(carrying)
    remarks = [] if len(shown) else [f"{title}."]
    if len(found) == n_labels:
        remarks.append("Every label is a landmark: nothing is saved.")
    if alone:
        remarks.append(f"{counted(alone, 'carries only itself', 'carry only themselves')}.")
    if remarks:
        show_text(" ".join(remarks) + "\n")


def embedding_name(embedding: Any) -> str:
    """Return a short name of an embedding.

    Examples
    --------
    >>> from splmll.cli._measured import embedding_name
    >>> from splmll.embeddings import Blend, Kernel, OneVsRest
    >>> embedding_name(OneVsRest()), embedding_name(Blend([Kernel(), OneVsRest()]))
    ('OneVsRest', 'Blend of Kernel, OneVsRest')
    """
    members = getattr(embedding, "members_", None) or getattr(embedding, "members", ())
    name = type(embedding).__name__
    return f"{name} of {', '.join(map(embedding_name, members))}" if members else name


def _show_best_and_worst(measured: Measured) -> None:
    """Print labels with enough rows to judge: all if they are few, otherwise both ends."""
    enough = measured.best(len(measured.labels), ENOUGH_ROWS)
    left_out = int((measured.labels["rows"] > 0).sum()) - len(enough)
    rest = f"; {counted(left_out, 'label has', 'labels have')} too few to judge" if left_out else ""
    if not len(enough):
        typer.echo(
            f"No label has {ENOUGH_ROWS} of these rows or more: too few to judge which do well.\n"
        )
    elif len(enough) <= FEW_LABELS:
        _show_labels(f"Labels, best first{rest}", enough)
    else:
        best, worst = measured.best(5, ENOUGH_ROWS), measured.worst(5, ENOUGH_ROWS)
        show_table(
            f"Labels in {ENOUGH_ROWS} rows or more{rest}",
            ["best", "F1", "rows", "worst", "F1", "rows"],
            ((*a, *b) for a, b in zip(_lines(best), _lines(worst))),
            one_line=True,
        )


def _show_labels(title: str, table: Any) -> None:
    show_table(title, ["label", "F1", "rows"], _lines(table))


def _lines(table: Any) -> list[tuple[str, float, int]]:
    return list(zip(table.index, table["f1"].map(float), table["rows"].map(int)))


def _number(value: float) -> float | str:
    return "<0.001" if abs(value) < LEAST_SHOWN else value
