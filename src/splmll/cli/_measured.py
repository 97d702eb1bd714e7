"""How measures and landmarks of a tagger are printed, by ``splmll fit`` and ``splmll evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from splmll.cli._show import show_table

if TYPE_CHECKING:
    from splmll.tagging import Measured, Tagger

FEW_LABELS = 10  # so many are shown in one table, more as the best and the worst


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
    """Print the landmarks as a table."""
    found = tagger.landmarks()
    show_table(
        f"{len(found)} landmarks of {len(tagger.label_names)} labels",
        ["landmark", "weight", "predictability", "representativeness", "carries"],
        (
            (
                name,
                float(line["weight"]),
                float(line["predictability"]),
                float(line["representativeness"]),
                ", ".join(line["carries"]) or "itself alone",
            )
            for name, line in found.iterrows()
        ),
    )
