"""``splmll explain``: which landmarks contributed to the labels of a row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from splmll.cli._options import Model

if TYPE_CHECKING:
    import pandas as pd

CHUNK_ROWS = 10_000  # rows that are in memory at the same time
BAR = 30  # characters of the longest bar
LEAST_SHOWN = 0.0005  # less would be printed as zero; the largest is shown anyway
BEST = 3  # labels shown where none is predicted


def explain(
    model: Model,
    file: Annotated[
        Path, typer.Argument(help="A table with the columns of the model.", metavar="FILE")
    ],
    row: Annotated[int, typer.Option(help="The row, counted from 1.", min=1)] = 1,
    top: Annotated[
        int, typer.Option(help="Number of landmarks to show for each label.", min=1)
    ] = 5,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show what the landmarks added to the score of each label of a row.

    The base is the part of the score that is the same for every row. If no label is predicted, the
    three with the highest scores are shown.

    Examples
    --------
        splmll explain model new.csv --row 3
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.cli._show import show_json
    from splmll.tagging import Tagger

    tagger = Tagger.load(model)
    tagger.landmarks()  # a method without landmarks is refused before the file is read
    one = _row(tagger, file, row)
    found = tagger.explain(one)
    predicted = len(found) > 0
    if not predicted:
        found = tagger.explain(one, only_predicted=False).head(BEST)
    if json:
        show_json(
            {
                "row": row,
                "predicted": list(found.index) if predicted else [],
                "labels": {
                    str(label): {
                        "score": float(line["score"]),
                        "base": float(line["base"]),
                        "landmarks": {
                            str(name): float(value) for name, value in line.iloc[2:].items()
                        },
                    }
                    for label, line in found.iterrows()
                },
            }
        )
        return
    if not predicted:
        typer.echo(f"No label is predicted for row {row}; these came closest.\n")
    _show_bars(found, top)


def _row(tagger: Any, file: Path, row: int) -> Any:
    from splmll.exceptions import DatasetError
    from splmll.tagging.files import iterate_rows

    seen = 0
    for X, _ in iterate_rows(
        file, tagger.reading, tagger.column_kinds, rows=CHUNK_ROWS, names=tagger.feature_names
    ):
        n_rows = X.shape[0]
        if row <= seen + n_rows:
            place = row - 1 - seen
            return X.iloc[[place]] if hasattr(X, "iloc") else X[[place]]
        seen += n_rows
    raise DatasetError(
        f"there is no row {row}: the file has {seen} rows; give --row 1 to {seen}", path=file
    )


def _show_bars(found: pd.DataFrame, top: int) -> None:
    import numpy as np
    from rich.text import Text

    from splmll.cli._show import show_table

    parts = found.iloc[:, 2:]
    longest = float(np.abs(parts.to_numpy()).max(initial=0.0))
    for label, line in found.iterrows():
        added = line.iloc[2:].astype(float)
        ranked = added.abs().sort_values(ascending=False, kind="stable")
        order = ranked.index[:1].append(ranked.index[1:top][ranked.iloc[1:top] >= LEAST_SHOWN])
        lines = [
            (
                name,
                f"{added[name]:+.3f}",
                Text(
                    "█" * round(BAR * abs(added[name]) / (longest or 1.0)),
                    style="green" if added[name] >= 0 else "red",
                ),
            )
            for name in order
        ]
        show_table(
            f"{label}: {line['score']:.3f} = {line['base']:.3f} + landmarks",
            ["landmark", "adds", ""],
            lines,
        )
