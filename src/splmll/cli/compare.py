"""``splmll compare``: compare methods on the paper's data or your own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from splmll.cli._options import Delimiter, Ignore, Labels, MinCount, Text
from splmll.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from splmll.datasets import Dataset


def compare(
    data: Annotated[
        list[str], typer.Argument(help="Names of data sets (emotions, yeast, ...) or files.")
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            "-m",
            help="A method, or several separated by commas: BR,ML-kNN,SPL-MLL.",
            show_default="all",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="Your own estimator; can be repeated.", metavar="package.module:Class"),
    ] = None,
    labels: Labels = None,
    text: Text = None,
    ignore: Ignore = None,
    delimiter: Delimiter = None,
    min_count: MinCount = None,
    test: Annotated[
        Path | None,
        typer.Option(help="A file of test rows, for a single file of training rows."),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(help="held-out, cv, paper or resubstitution.", show_default="held-out"),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of folds for cross-validation.", min=2)
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions",
            "--repeats",
            help="Number of repetitions, each with another seed.",
            show_default="depends on the protocol",
        ),
    ] = None,
    preprocessing: Annotated[
        str,
        typer.Option(
            help="Scaling of the features for all methods: none, standard, minmax or suited."
        ),
    ] = "none",
    threshold: Annotated[
        str, typer.Option(help="own (each method's), a rule such as micro_f1, or a number.")
    ] = "own",
    search: Annotated[str, typer.Option(help="Search for settings: none or grid.")] = "none",
    with_published: Annotated[
        bool,
        typer.Option(
            "--with-published",
            help="Compare with the benchmark's results: give its data sets, or a CSV file of "
            "your own results with the columns data, method, measure, value.",
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option(help="Folder for the table, the report and the store.")
    ] = Path("comparison"),
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of units to run in parallel.", show_default="one per core"),
    ] = None,
    backend: Annotated[str, typer.Option(help="joblib, or dask for a local cluster.")] = "joblib",
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Time limit for one fit in seconds.", show_default="none")
    ] = None,
    memory_limit: Annotated[
        float | None,
        typer.Option(help="Memory limit for one fit in megabytes.", show_default="none"),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed units again.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The seed from which all others are derived.")] = 0,
) -> None:
    """Compare methods on one or more data sets and show which is best at what.

    Every finished unit is kept, so the same command resumes an interrupted run.

    Examples
    --------
        splmll compare emotions -m BR,ML-kNN,SPL-MLL

        splmll compare notes.csv --labels tags --text body --ignore id --folds 10 --repeats 3

        splmll compare train.csv --test test.csv --labels 'is_*' --threshold micro_f1

        splmll compare yeast --method mypackage.models:MyClassifier -m SPL-MLL

        splmll compare emotions yeast --method mypackage.models:MyClassifier --with-published
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    import joblib

    names = [name.strip() for each in methods or [] for name in each.split(",") if name.strip()]
    own = dict(own_estimator(each) for each in method or [])
    n_jobs = joblib.cpu_count() if jobs is None else jobs
    if with_published:
        _beside_published(data, names, own, out, n_jobs, scheduler, retry_failed)
        return

    from splmll.experiments.protocol import CrossValidation, Protocol
    from splmll.experiments.runner import Experiment
    from splmll.experiments.writing import write_comparison

    asked: str | Protocol = protocol or "held-out"
    if folds is not None:
        if protocol not in (None, "cv"):
            raise typer.BadParameter(
                f"--folds means cross-validation; leave out --protocol {protocol}."
            )
        asked = CrossValidation(n_folds=folds)
    reading: dict[str, Any] = {"delimiter": delimiter, "min_count": min_count}
    reading |= {"text": text or [], "ignore": ignore or []}
    sources = _sources(data, test, labels or [], reading)
    experiment = Experiment(
        sources,
        _for_columns(sources, names, own),
        asked,
        repetitions,
        preprocessing=preprocessing,
        threshold=threshold,
        search=search,
        seed=seed,
        time_limit=time_limit,
        memory_limit=memory_limit,
    )
    results = experiment.run(
        out, n_jobs, backend=backend, scheduler=scheduler, retry_failed=retry_failed
    )
    table, files = write_comparison(results, out)
    typer.echo(table.to_text())
    for file in files:
        typer.echo(file)
    _tell_failures(results)


def _tell_failures(results: pd.DataFrame) -> None:
    """Say why runs failed; the command fails if not one has ended well."""
    failed = results[results["status"] == "failed"]
    for (data, method, error), runs in failed.groupby(["data", "method", "error"], sort=False):
        times = counted(len(runs), "time")
        typer.echo(f"{method} failed {times} on {data}: {error}", err=True)
    if not (results["status"] == "done").any():
        raise typer.Exit(1)


def own_estimator(place: str) -> tuple[str, Any]:
    """Return the name and an instance of a class given as ``package.module:Class``.

    Examples
    --------
    >>> from splmll.cli.compare import own_estimator
    >>> own_estimator("sklearn.tree:DecisionTreeClassifier")
    ('DecisionTreeClassifier', DecisionTreeClassifier())
    """
    module, colon, name = place.partition(":")
    if not (module and colon and name):
        raise ValueError(
            f"{place!r} is not the name of a class: write package.module:Class, such as "
            "sklearn.tree:DecisionTreeClassifier."
        )
    if "" not in sys.path:
        sys.path.insert(0, "")  # modules in the current folder, as with python -m
    try:
        found = getattr(import_module(module), name)
    except ImportError as error:
        raise ValueError(f"{module!r} cannot be imported: {error}.") from error
    except AttributeError:
        raise ValueError(f"The module {module!r} has no {name!r}.") from None
    estimator = found() if isinstance(found, type) else found
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(
            f"{place} is not a scikit-learn classifier: it needs fit, predict and get_params "
            "(inherit from sklearn.base.BaseEstimator)."
        )
    return name, estimator


def _sources(
    data: Sequence[str], test: Path | None, labels: list[str], reading: dict[str, Any]
) -> list[str | Dataset]:
    """Return named data sets by name and files as data sets, read as `fit` reads them."""
    from splmll.datasets import dataset_names
    from splmll.tagging import read_examples
    from splmll.tagging.files import read_alike
    from splmll.tagging.rows import named_columns

    if test is not None and (len(data) != 1 or data[0] in dataset_names()):
        raise typer.BadParameter("--test needs exactly one file of training rows.")
    told = bool(labels or any(reading.values()))
    sources: list[str | Dataset] = []
    for each in data:
        if each in dataset_names() or not Path(each).exists():
            if told and each in dataset_names():
                raise typer.BadParameter(f"{each} is a named data set: its labels are known.")
            sources.append(each)  # a wrong name is refused by the experiment
            continue
        found, how = read_examples(each, labels, **reading)
        if test is not None:
            from splmll.datasets.joining import with_test_rows

            found = with_test_rows(found, read_alike(test, how, found.column_kinds))
        if found.column_kinds:  # the steps that make features find columns by name
            found = replace(found, X=named_columns(found.X, found.feature_names))
        sources.append(found)
    return sources


def _for_columns(
    sources: Sequence[str | Dataset], names: list[str], own: dict[str, Any]
) -> list[Any] | None:
    """Return the methods; for a table, each after the steps that make features."""
    from splmll.catalogue import METHODS
    from splmll.tagging.pipeline import build_pipeline, known_method

    tables = [each for each in sources if not isinstance(each, str) and each.column_kinds]
    if not tables:
        return [*names, *own.items()] or None
    if len(sources) > 1:
        raise typer.BadParameter("Compare one table at a time: each table has its own features.")
    wanted = names or ([] if own else [*METHODS, "SPL-MLL"])
    pipelines: list[Any] = [
        (known_method(name), build_pipeline(tables[0], name)) for name in wanted
    ]
    for name, estimator in own.items():
        pipeline = build_pipeline(tables[0])
        pipelines.append((name, pipeline.set_params(method=estimator)))
    return pipelines


def _beside_published(
    data: list[str],
    names: list[str],
    own: dict[str, Any],
    out: Path,
    n_jobs: int,
    scheduler: str | None,
    retry_failed: bool,
) -> None:
    """Show the user's methods, or a table of results, among the benchmark's."""
    from splmll.experiments.benchmark import Benchmark, frozen_results
    from splmll.experiments.benchmark.analysis import Standing
    from splmll.experiments.benchmark.frozen import merge, read_own_results
    from splmll.experiments.benchmark.page import summary, write_benchmark

    if len(data) == 1 and data[0].endswith(".csv"):
        mine = read_own_results(data[0])
    else:
        if not own and not names:
            raise typer.BadParameter("Name a method with --method package.module:Class or -m.")
        suite = Benchmark(out, data=data, methods=names or [], own=own, retry_failed=retry_failed)
        mine = suite.run(n_jobs, scheduler=scheduler)
    there = set(mine["data"])
    table = merge(frozen_results(), mine)
    table = table[table["data"].isin(there)].reset_index(drop=True)
    reference = str(mine["method"].iloc[0])
    files = write_benchmark(table, out, reference=reference)
    typer.echo(summary(Standing(table, reference=reference)))
    for file in files:
        typer.echo(file)
