"""``splmll reproduce``: the paper's tables and figures, measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    items: Annotated[
        list[str] | None,
        typer.Argument(
            help="table1, table2, table3, table4, figure3, figure4, figure5, figure6 or all.",
            show_default="all",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for tables, figures, the report and the store.")
    ] = Path("reproduced"),
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A run of minutes instead of days: one seed, 160 training rows of each data set.",
        ),
    ] = False,
    data: Annotated[
        list[str] | None,
        typer.Option(help="Only this data set in the tables; can be repeated.", show_default="all"),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of units to run in parallel.", show_default="one per core"),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed from which all others are derived.")] = 0,
) -> None:
    """Reproduce the paper's tables and figures, with the printed numbers for comparison.

    The same command resumes an interrupted run.

    Examples
    --------
        splmll reproduce --quick

        splmll reproduce table2 --data emotions --data yeast --out paper --jobs 8
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.experiments.reproduce import Reproduction

    made = Reproduction(
        out, quick=quick, data=data or None, n_jobs=jobs, scheduler=scheduler, seed=seed
    )
    for file in made.run(items or ["all"]):
        typer.echo(file)
