"""A hook of schemathesis: what a CSV file holds, which no OpenAPI document can say.

The columns are those of the notes, and the labels for answers about landmarks; what a model does
not need it passes over.
"""

from __future__ import annotations

import csv
import io

import schemathesis
from hypothesis import strategies as st

from tagged_notes import WORDS

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
COLUMNS = {
    "body": TEXTS,
    "hours": st.none() | st.floats(-1e30, 1e30),
    "site": TEXTS,
    **{label: st.sampled_from(["", "0", "1"]) for label in WORDS},
}


def written(rows: list[dict[str, object]]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(COLUMNS), quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


FILES = st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=4).map(written)
schemathesis.openapi.media_type("text/csv", FILES)
