"""Writing labels that were filled in, for ``splmll recover`` and ``splmll complete``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from splmll.datasets.columns import Table
    from splmll.tagging import Tagged, Tagger


def write_completed(
    tagged: Tagged,
    known: np.ndarray,
    tagger: Tagger,
    table: Table,
    *,
    out: Path | None,
    keep: list[str],
    scores: bool,
    threshold: float | None,
    json: bool,
    formulas: bool,
) -> None:
    """Write completed labels as ``splmll predict`` writes predicted ones.

    Parameters
    ----------
    tagged : Tagged
        All labels.
    known : ndarray of shape (n_rows, n_labels)
        Labels that no threshold changes; NaN where there is none.
    tagger : Tagger
        The model.
    table : Table
        The file, for columns to keep.
    out, keep, scores, threshold, json, formulas
        The options of the command.
    """
    from splmll.cli._show import show_written
    from splmll.names import check_columns
    from splmll.tagging.output import prediction_writer

    check_columns(keep, table.names, table.path)
    labels = tagged.above(threshold, known)
    with prediction_writer(
        out, tagger.reading, tagger.label_names, as_json=json, formulas=formulas
    ) as writer:
        writer.write(
            labels,
            tagged.scores if scores else None,
            {name: table.columns[name] for name in keep},
        )
    if out is not None:
        tags_per_row = Counter(labels.to_numpy().sum(axis=1).tolist())
        show_written(tags_per_row, out, as_json=json)
