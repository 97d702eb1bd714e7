"""A small table of notes with tags, whose words and numbers say which tags they have."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

WORDS = {
    "door": ["door", "hinge", "lock"],
    "oil": ["oil", "leak", "drip"],
    "pump": ["pump", "rotor", "seal"],
    "urgent": ["now", "danger", "immediately"],
}
FILLER = ["the", "a", "of", "on", "we", "saw", "it", "again", "today", "yesterday", "in", "hall"]


def write_notes(path: Path, n_rows: int, seed: int = 0) -> Path:
    """Write a CSV file with the columns id, body, hours, site and tags; some cells are empty."""
    rng = np.random.default_rng(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "body", "hours", "site", "tags"])
        for number in range(n_rows):
            tags = [tag for tag in WORDS if rng.random() < 0.35]
            words = [
                *(w for tag in tags for w in rng.choice(WORDS[tag], 2)),
                *rng.choice(FILLER, 5),
            ]
            rng.shuffle(words)
            hours = round(float(rng.normal() + 2 * ("urgent" in tags)), 2)
            writer.writerow(
                [
                    f"n{number}",
                    # A comma and a line break in a cell, as real notes have.
                    f"{' '.join(words[:3])},\n{' '.join(words[3:])}",
                    "" if rng.random() < 0.1 else hours,
                    rng.choice(["north", "south", ""]),
                    ";".join(tags),
                ]
            )
    return path
