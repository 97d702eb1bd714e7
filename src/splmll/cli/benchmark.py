"""``splmll benchmark``: sixteen data sets, all methods and their peers, one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def benchmark(
    out: Annotated[
        Path, typer.Option(help="Folder for the store, the table, the page and the figures.")
    ] = Path("benchmark"),
    data: Annotated[
        list[str] | None,
        typer.Option(help="Only this data set; can be repeated.", show_default="all sixteen"),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods", "-m", help="A method, or several separated by commas.", show_default="all"
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="A run of minutes: 160 rows of six small data sets, ten methods."
        ),
    ] = False,
    searched: Annotated[
        bool,
        typer.Option("--searched", help="The second table: the same search for every method."),
    ] = False,
    seeds: Annotated[
        int, typer.Option(help="Number of repetitions for methods that use random numbers.", min=1)
    ] = 1,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan", help="Show what would run and how long it would take, without running it."
        ),
    ] = False,
    redo: Annotated[
        list[str] | None,
        typer.Option(help="Discard this method's results on these data sets and run it again."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of cells to run in parallel.", show_default="one per core"),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    ] = None,
    processor_limit: Annotated[
        float, typer.Option(help="Limit for one cell in CPU seconds.")
    ] = 900.0,
    memory_limit: Annotated[
        float, typer.Option(help="Memory limit for one cell in megabytes.")
    ] = 8000.0,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Run failed cells again and try those that were left out; with --missing, also "
            "those of the frozen table.",
        ),
    ] = False,
    missing: Annotated[
        bool,
        typer.Option(
            "--missing",
            help="Run only what the frozen table lacks: that of --freeze, or the library's.",
        ),
    ] = False,
    freeze: Annotated[
        Path | None,
        typer.Option(
            help="Also merge the results into this table, such as the one included in the library.",
            metavar="FILE.csv.gz",
        ),
    ] = None,
) -> None:
    """Run or resume the open benchmark and show the results.

    The cheap cells run first. Every finished cell is kept: you can stop the run at any moment and
    resume it with the same command.

    Examples
    --------
        splmll benchmark --quick

        splmll benchmark --plan

        splmll benchmark --out results --data emotions --data yeast --jobs 2

        splmll benchmark --out results --redo SPL-MLL

        splmll benchmark --out results --missing --freeze results.csv.gz
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    import joblib

    from splmll.experiments.benchmark import Benchmark, frozen_results
    from splmll.experiments.benchmark.analysis import main_standing
    from splmll.experiments.benchmark.frozen import add_results, merge
    from splmll.experiments.benchmark.page import summary, write_benchmark

    frozen = frozen_results(freeze if freeze is not None and freeze.exists() else None)
    names = [name.strip() for each in methods or [] for name in each.split(",") if name.strip()]
    suite = Benchmark(
        out,
        data=data or None,
        methods=names or None,
        searched=searched,
        seeds=seeds,
        quick=quick,
        processor_limit=processor_limit,
        memory_limit=memory_limit,
        known=frozen,
        missing=missing,
        retry_failed=retry_failed,
    )
    n_jobs = joblib.cpu_count() if jobs is None else jobs
    planned = suite.plan()
    left_out = planned[planned["left_out"]]
    typer.echo(f"{suite.price(max(1, n_jobs))}.")
    if len(left_out):
        pairs = ", ".join(f"{d} {m}" for d, m in zip(left_out["data"], left_out["method"]))
        typer.echo(f"Left out, because they would run far beyond the limit: {pairs}.")
    if plan:
        return
    try:
        table = suite.run(n_jobs, scheduler=scheduler, redo=redo or [])
    except KeyboardInterrupt:
        if freeze is not None:  # what has ended is not lost
            add_results(suite.table(), freeze)
        raise
    files = [] if freeze is None else [add_results(table, freeze)]
    if missing:
        table = merge(frozen, table)
    files += write_benchmark(table, out, conditions=suite.describe())
    typer.echo(summary(main_standing(table)))
    for file in files:
        typer.echo(file)
