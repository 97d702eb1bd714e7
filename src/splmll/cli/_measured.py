"""How measures and landmarks of a tagger are printed, by ``splmll fit`` and ``splmll evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from splmll.cli._show import show_table

if TYPE_CHECKING:
    from splmll.tagging import Measured, Tagger

FEW_LABELS = 10  # so many are shown in one table, more as the best and the worst
MOST_LANDMARKS = 10  # so many are shown, the strongest


def show_measured(measured: Measured, title: str) -> None:
    """Print the measures and the best and worst labels."""
    from splmll.metrics import MEASURES

    show_table(
        title,
        ["measure", "value"],
        (
            (f"{MEASURES[name].title} {MEASURES[name].arrow}", value)
            for name, value in measured.measures.items()
        ),
    )
    few = len(measured.labels) <= FEW_LABELS
    parts = (
        {"Labels, best first": measured.best(FEW_LABELS)}
        if few
        else {"Best labels": measured.best(), "Worst labels": measured.worst()}
    )
    for name, table in parts.items():
        lines = zip(table.index, table["f1"].map(float), table["rows"].map(int))
        show_table(name, ["label", "F1", "rows"], lines)


def show_landmarks(tagger: Tagger) -> None:
    """Print the strongest landmarks as a table, and what is to say about all of them."""
    found, n_labels = tagger.landmarks(), len(tagger.label_names)
    shown = found.head(MOST_LANDMARKS)
    title = f"{len(found)} landmarks of {n_labels} labels"
    show_table(
        title if len(shown) == len(found) else f"{title}, the strongest {len(shown)}",
        ["landmark", "strength", "predictability", "representativeness", "carries"],
        (
            (
                name,
                float(line["strength"]),
                float(line["predictability"]),
                float(line["representativeness"]),
                ", ".join(line["carries"]) or "itself alone",
            )
            for name, line in shown.iterrows()
        ),
    )
    alone = int((found["carries"].map(len) == 0).sum())
    remarks = []
    if len(found) == n_labels:
        remarks.append(f"{n_labels} of {n_labels} labels are landmarks: nothing is saved.")
    if alone:
        carry = "landmark carries only itself" if alone == 1 else "landmarks carry only themselves"
        remarks.append(f"{alone} {carry}.")
    if remarks:
        typer.echo(" ".join(remarks) + "\n")


def show_gain(tagger: Tagger) -> None:
    """Print what landmarks change, measured out of fold while the model learned."""
    from splmll.metrics import MEASURES

    model = tagger.pipeline[-1]
    if model.measures_.empty:
        return  # too few rows to measure on
    show_table(
        "Out of fold",
        ["measure", "embedding alone", "with landmarks"],
        (
            (f"{MEASURES[name].title} {MEASURES[name].arrow}", *map(float, model.measures_[name]))
            for name in model.measures_.columns
        ),
    )


def embedding_name(embedding: Any) -> str:
    """Return what an embedding is, in a word or a few.

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
