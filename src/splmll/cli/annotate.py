"""``splmll annotate``: a page that asks people as few questions as possible."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from splmll.cli._options import Host, Port, TokenFile

if TYPE_CHECKING:
    from splmll.annotation import AnnotationTable, AnswerStore
    from splmll.tagging import Tagger


def annotate(
    table: Annotated[
        Path | None,
        typer.Argument(
            help="Rows to label: a CSV, TSV or Parquet table with the columns of the model.",
            metavar="TABLE",
            show_default="the one of the answers",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="A model written by `splmll fit`.",
            metavar="MODEL",
            show_default="the one of the answers",
        ),
    ] = None,
    answers: Annotated[
        Path, typer.Option(help="The SQLite file in which answers are stored.", metavar="FILE")
    ] = Path("answers.sqlite"),
    train: Annotated[
        Path | None,
        typer.Option(
            help="The table that the model learned from; retraining also learns from it.",
            metavar="FILE",
            show_default="the answers alone",
        ),
    ] = None,
    suspects: Annotated[
        Path | None,
        typer.Option(
            help="Suspicious labels that `splmll audit` found in the table, to check.",
            metavar="FILE",
        ),
    ] = None,
    enough: Annotated[
        float,
        typer.Option(
            help="Go to the next row when fewer wrong labels than this are expected in it, or "
            "when every label is 95% certain; 0 asks about every label.",
            min=0.0,
        ),
    ] = 0.5,
    annotator: Annotated[
        str | None,
        typer.Option(help="The annotator name that the page suggests.", show_default="yours"),
    ] = None,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    token_file: TokenFile = None,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the rows with a column for each label, empty if it is not known, to a "
            ".csv or .parquet file, and exit.",
            metavar="FILE",
        ),
    ] = None,
    import_label_studio: Annotated[
        Path | None,
        typer.Option(
            help="Import annotations from Label Studio as answers, and exit.", metavar="FILE"
        ),
    ] = None,
    export_label_studio: Annotated[
        Path | None,
        typer.Option(
            help="Write the rows as tasks with predictions for Label Studio, and exit.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Ask people about the labels of rows on a page, with as few questions as possible.

    The model chooses the rows from which it learns most and the labels whose answers say most about
    the others. Every answer is stored in one SQLite file as soon as it is given, so you can stop
    and continue at any time. Several annotators can work at the same time.

    The page does not ask about rows that already have tags in the table. A retrained model replaces
    MODEL.

    Examples
    --------
        splmll annotate new.csv --model model

        splmll annotate new.csv --model model --train notes.csv --answers answers.sqlite

        splmll annotate --export answers.csv

        splmll annotate --export-label-studio tasks.json
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.annotation.export import check_answers_place
    from splmll.datasets.checks import existing_file
    from splmll.tagging.output import check_suffix, check_writable

    if export is not None:
        check_answers_place(export)
    if export_label_studio is not None:
        check_suffix(export_label_studio, (".json",), "tasks are")
        check_writable(export_label_studio)
    table, model = _places(answers, table, model)
    if train is not None and existing_file(train).resolve() == table.resolve():
        raise ValueError(
            f"{train}: this is the table to annotate, whose tags are used anyway; leave out "
            "--train."
        )
    if not (export or import_label_studio or export_label_studio):
        from splmll.cli.serve import run_service
        from splmll.serving import Annotation

        wanted = Annotation(table, answers, train, suspects, enough, annotator or _user_name())
        run_service(
            {model.resolve().name.removesuffix(".zip"): model},
            host,
            port,
            token_file,
            annotation=wanted,
        )
        return
    _exchange(table, model, answers, export, import_label_studio, export_label_studio)


def _exchange(
    table: Path,
    model: Path,
    answers: Path,
    export: Path | None,
    import_label_studio: Path | None,
    export_label_studio: Path | None,
) -> None:
    """Import or export answers as requested; imports come first."""
    from splmll.annotation import AnnotationTable, AnswerStore, known_labels
    from splmll.annotation.export import fit_command, write_answers
    from splmll.annotation.label_studio import read_annotations
    from splmll.tagging import Tagger

    tagger = Tagger.load(model)
    rows = AnnotationTable.read(table, tagger)
    with AnswerStore(answers) as store:
        store.open_table(
            rows.digests, {"table": str(table.absolute()), "model": str(model.absolute())}
        )
        if import_label_studio is not None:
            found = read_annotations(import_label_studio, rows, store, tagger.label_names)
            again = f"; {found.known:,} were there already" if found.known else ""
            typer.echo(f"{found.annotations:,} annotations of {found.rows:,} rows{again}.")
        if export is not None:
            write_answers(
                export, rows, known_labels(rows, store, tagger.label_names), tagger.label_names
            )
            counts = store.counts()
            typer.echo(
                f"{counts.answers:,} answers, {counts.finished:,} of {counts.rows:,} rows done."
            )
            typer.echo(f"Learn from them: {fit_command(export, rows, tagger)}")
            typer.echo(export)
        if export_label_studio is not None:
            _write_tasks(export_label_studio, rows, store, tagger)
            typer.echo(export_label_studio)


def _write_tasks(path: Path, rows: AnnotationTable, store: AnswerStore, tagger: Tagger) -> None:
    import numpy as np

    from splmll.annotation import known_labels
    from splmll.annotation.label_studio import write_tasks

    completed = tagger.complete(rows.features, known_labels(rows, store, tagger.label_names))
    done = np.zeros(rows.n_rows, dtype=bool)
    done[[row for row, found in store.all_answers() if found.known]] = True
    done &= np.isin(np.arange(rows.n_rows), list(store.finished()))
    write_tasks(
        path,
        rows,
        tagger.label_names,
        labels=completed.labels.to_numpy() != 0,
        probabilities=completed.scores.to_numpy(),
        annotated=done,
    )


def _places(answers: Path, table: Path | None, model: Path | None) -> tuple[Path, Path]:
    """Return the table and the model; if they are not given, those of the answers."""
    from splmll.annotation import AnswerStore

    facts: dict[str, str] = {}
    if table is None or model is None:
        if not answers.exists():
            raise ValueError(
                f"{answers}: there are no answers yet. Start with `splmll annotate TABLE --model "
                "MODEL`, or name the file with --answers."
            )
        with AnswerStore(answers) as store:
            facts = store.facts()
    found = []
    for given, name, word in ((table, "table", "TABLE"), (model, "model", "--model MODEL")):
        if given is None and name not in facts:
            raise ValueError(f"{answers}: these answers do not name a {name}; give {word}.")
        place = given or Path(facts[name])
        if not place.exists():
            raise ValueError(f"{place}: this {name} does not exist; give {word}.")
        found.append(place)
    return found[0], found[1]


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""  # a container without users: the page asks
