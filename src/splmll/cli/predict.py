"""``splmll predict``: tags for rows that have none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from splmll.cli._options import Cut, Formulas, Keep, Model, RowsAsJson, Scores, TagsFile

CHUNK_ROWS = 10_000  # rows that are in memory at the same time ...
CHUNK_CELLS = 5_000_000  # ... if they do not have more labels together than this


def predict(
    model: Model,
    file: Annotated[
        Path, typer.Argument(help="A table with the columns of the model.", metavar="FILE")
    ],
    out: TagsFile = None,
    scores: Scores = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Also write the landmarks behind each label, and how much each added."
        ),
    ] = False,
    keep: Keep = None,
    formulas: Formulas = False,
    threshold: Cut = None,
    json: RowsAsJson = False,
) -> None:
    """Tag rows: one line per row, in the order of the file.

    Tags are written in the form in which they were learned: in one column, or as columns of 0 and
    1. Columns that `fit` was told to ignore, such as ids, are copied; --keep names others. A CSV or
    Parquet file is read in chunks, so it can be larger than memory. An explanation such as "oil:
    pump +0.41, leak +0.22" lists for each label the landmarks that changed its score most.

    Examples
    --------
        splmll predict model new.csv --out tags.csv

        splmll predict model new.parquet --keep id --scores --out tags.parquet

        splmll predict model new.csv --explain --json
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.cli._show import show_written, working
    from splmll.datasets.checks import one_spelling
    from splmll.exceptions import DatasetError
    from splmll.names import check_columns
    from splmll.tagging import Tagger
    from splmll.tagging.files import iterate_rows
    from splmll.tagging.output import check_output, prediction_writer

    if explain and threshold is not None:
        raise typer.BadParameter(
            "--explain explains the labels predicted by the model's own rule; leave out "
            "--threshold."
        )
    if out is not None:
        check_output(out, file)
    tagger = Tagger.load(model)
    if explain:
        tagger.landmarks()  # a method without landmarks is refused before the file is read
    rows = max(1, min(CHUNK_ROWS, CHUNK_CELLS // len(tagger.label_names)))
    chunks = iterate_rows(
        file, tagger.reading, tagger.column_kinds, rows=rows, names=tagger.feature_names
    )
    kept = [one_spelling(name) for name in keep or []]
    ignored = [] if keep else list(tagger.reading.get("ignore", []))
    tags_per_row: Counter[int] = Counter()
    wordless = 0
    with (
        working(f"tagging {file}"),
        prediction_writer(
            out, tagger.reading, tagger.label_names, as_json=json, formulas=formulas
        ) as writer,
    ):
        for X, chunk in chunks:
            if kept and chunk is None:
                raise DatasetError("the file has no columns to keep; leave out --keep", path=file)
            if ignored and chunk is not None:
                # What a fit was told to ignore is mostly what tells the rows apart.
                kept, ignored = [name for name in ignored if name in chunk.names], []
            check_columns(kept, [] if chunk is None else chunk.names, file)
            tagged = tagger.tag(X, explain=explain)
            labels = tagged.above(threshold)
            tags_per_row.update(labels.to_numpy().sum(axis=1).tolist())
            if tagged.without_words is not None:
                wordless += int(tagged.without_words.sum())
            writer.write(
                labels,
                tagged.scores if scores else None,
                {name: chunk.columns[name] for name in kept if chunk is not None},
                tagged.carriers,
            )
    if out is not None:
        show_written(tags_per_row, out, without_words=wordless, as_json=json)
