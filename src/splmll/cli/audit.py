"""``splmll audit``: labels of a table that are probably wrong or missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from splmll.cli._options import Delimiter, Ignore, Jobs, Labels, MinCount, TaggedTable, Text
from splmll.cli._progress import Stages

SHOWN = 10  # suspects in the table that is printed


def audit(
    file: TaggedTable,
    labels: Labels = None,
    text: Text = None,
    ignore: Ignore = None,
    delimiter: Delimiter = None,
    min_count: MinCount = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.", min=0)] = 0,
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A .csv file for the suspects.", show_default="CSV to standard output"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the suspects as JSON.")] = False,
) -> None:
    """Find labels that are probably wrong or missing, most suspicious first, and say why.

    Every label is judged by models that have not seen its row, and by the other labels of the row.
    This takes about as long as two fits. To check the suspects on a page, pass the file to `splmll
    annotate --suspects`.

    Examples
    --------
        splmll audit notes.csv --text body --labels tags --out suspects.csv

        splmll annotate notes.csv --model model --suspects suspects.csv
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.annotation.suspects import check_suspects_place, people_count, write_suspects
    from splmll.cli._show import show_json, show_table
    from splmll.tagging import read_examples
    from splmll.tagging.audit import find_suspects

    if out is not None:
        check_suspects_place(out)
    with Stages() as stages:
        stages(f"reading {file}")
        data, _ = read_examples(
            file,
            labels or [],
            delimiter=delimiter,
            text=text or [],
            ignore=ignore or [],
            min_count=min_count,
            allow_unknown=True,
        )
        found = find_suspects(data, random_state=seed, n_jobs=jobs, on_progress=stages)
    written = people_count(found)
    if out is not None:
        write_suspects(out, found)
    if json:
        show_json(written.to_dict("records"))
    elif out is None:
        written.to_csv(sys.stdout, index=False, lineterminator="\n", float_format="%.4f")
    else:
        (n_rows, n_labels), are = data.Y.shape, "is" if len(found) == 1 else "are"
        show_table(
            f"{len(found):,} of {n_rows * n_labels:,} labels {are} probably wrong",
            ["row", "label", "given", "probability", "reason"],
            written.head(SHOWN).itertuples(index=False),
        )
        typer.echo(f"To check them: splmll annotate {file} --model MODEL --suspects {out}")
        typer.echo(out)
