"""``splmll compare``: methods side by side on data of the paper or one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    data: Annotated[
        list[str], typer.Argument(help="Names of data sets (emotions, yeast, ...) or files.")
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            "-m",
            help="A method, or several with commas: BR,ML-kNN,SPL-MLL.",
            show_default="all",
        ),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="held-out, cv, paper or resubstitution.")
    ] = "held-out",
    repetitions: Annotated[
        int | None,
        typer.Option(help="How often, each with another seed.", show_default="by protocol"),
    ] = None,
    preprocessing: Annotated[
        str, typer.Option(help="Features of all methods: none, standard or minmax.")
    ] = "none",
    threshold: Annotated[
        str, typer.Option(help="own (each method's), a rule such as micro_f1, or a number.")
    ] = "own",
    search: Annotated[
        str, typer.Option(help="Search for settings: none, grid, halving or optuna.")
    ] = "none",
    out: Annotated[
        Path, typer.Option(help="Folder for the table, the report and the store.")
    ] = Path("comparison"),
    jobs: Annotated[
        int | None, typer.Option(help="Units at the same time.", show_default="one on every core")
    ] = None,
    backend: Annotated[str, typer.Option(help="joblib, or dask for a local cluster.")] = "joblib",
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds that one fit may take.", show_default="none")
    ] = None,
    memory_limit: Annotated[
        float | None, typer.Option(help="Megabytes that one fit may hold.", show_default="none")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Do failed units again.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The seed from which all others come.")] = 0,
) -> None:
    """Compare methods on one or more data sets and show who is best at what.

    Every finished unit is kept: the same command given again goes on where it was.

    Examples
    --------
        splmll compare emotions -m BR,ML-kNN,SPL-MLL

        splmll compare emotions yeast --protocol cv --repetitions 3 --out mine --jobs 4
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    import joblib

    from splmll.experiments.runner import Experiment
    from splmll.experiments.writing import write_comparison

    names = [name.strip() for each in methods or [] for name in each.split(",") if name.strip()]
    experiment = Experiment(
        data,
        names or None,
        protocol,
        repetitions,
        preprocessing=preprocessing,
        threshold=threshold,
        search=search,
        seed=seed,
        time_limit=time_limit,
        memory_limit=memory_limit,
    )
    results = experiment.run(
        out,
        joblib.cpu_count() if jobs is None else jobs,
        backend=backend,
        scheduler=scheduler,
        retry_failed=retry_failed,
    )
    table, files = write_comparison(results, out)
    typer.echo(table.to_text())
    for file in files:
        typer.echo(file)
