"""``splmll fit``: from a table with tags to a tagger."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from splmll.cli._config import (
    check_config_place,
    settings_of,
    use_config,
    write_config,
)
from splmll.cli._options import Delimiter, Ignore, Jobs, Labels, MinCount, TaggedTable, Text
from splmll.cli._progress import Stages
from splmll.cli._show import show_json, show_text

if TYPE_CHECKING:
    from splmll.tagging import Tagger


def fit(
    context: typer.Context,
    file: TaggedTable,
    labels: Labels = None,
    text: Text = None,
    ignore: Ignore = None,
    delimiter: Delimiter = None,
    min_count: MinCount = None,
    char_ngrams: Annotated[
        bool | None,
        typer.Option(
            "--char-ngrams/--no-char-ngrams",
            help="Also use pieces of words as features: better, but slower.",
            show_default="for short texts",
        ),
    ] = None,
    hash: Annotated[
        bool | None,
        typer.Option(
            "--hash/--no-hash",
            help="Hash words instead of keeping a vocabulary in memory.",
            show_default="beyond 300 million characters",
        ),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Read the table in chunks, if it is larger than memory. SPL-MLL then learns by "
            "stochastic gradient descent, with hashed words.",
        ),
    ] = False,
    test_size: Annotated[
        float | None,
        typer.Option(
            help="Hold out this share of the rows and measure a separate fit on it.",
            show_default="out of fold, on all rows",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help="The method; see `splmll methods`.")
    ] = "SPL-MLL",
    landmarks: Annotated[
        int | None,
        typer.Option(help="Number of landmarks.", min=1, show_default="as few as lose nothing"),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            help="A rule such as micro_f1 or per_label, or a number.",
            show_default="the method's own",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.", min=0)] = 0,
    jobs: Jobs = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="Where networks are trained: auto, cpu, cuda, cuda:1, mps.", show_default="auto"
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the method, such as embedding=mlp, or of a part of it, such as "
            "embedding.dropout=0.2; can be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the model, or a file that ends in .zip.")
    ] = Path("model"),
    config: Annotated[
        Path | None,
        typer.Option(
            help="A YAML file with these options and, under settings, those of the method. "
            "Options on the command line win.",
            metavar="FILE.yaml",
            callback=use_config,
            is_eager=True,
        ),
    ] = None,
    save_config: Annotated[
        Path | None,
        typer.Option(
            help="Write the options used, so that --config can repeat the fit.", metavar="FILE.yaml"
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Learn to tag from a table with tags, and report how well it works.

    All columns except the tags are used: texts become weighted words, numbers are scaled,
    categories are one-hot encoded, and missing values are filled in. SPL-MLL uses linear
    classifiers for texts and other sparse features, and a blend of a network, kernel machines and
    trees otherwise.

    It learns once, from all rows. How well it works is measured out of fold: each row is scored by
    models that have not seen it, and that had fewer rows to learn from than the final model. Other
    methods hold out a fifth of the rows and learn twice.

    Examples
    --------
        splmll fit notes.csv --text body --labels tags --out model

        splmll fit notes.parquet --labels 'is_*' --ignore id --landmarks 20 --seed 1

        splmll fit notes.csv --labels tags --set embedding=mlp --set embedding.dropout=0.2

        splmll fit scenes.arff --method ML-kNN --set n_neighbors=20 --save-config run.yaml

        splmll fit --config run.yaml --seed 2 --out other
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.parameters import changed_settings
    from splmll.tagging import Tagger, Words, read_examples
    from splmll.thresholds import rule_of_text

    rule = None if threshold is None else rule_of_text(threshold)
    chosen = settings_of(context, settings or [])
    if stream:
        _check_streamed(
            method,
            set=chosen,
            device=device,
            test_size=test_size,
            min_count=min_count,
            char_ngrams=char_ngrams,
            hash=hash,
        )
    _check_place(out)
    if save_config is not None:
        check_config_place(save_config)
    costs: list[str] = []
    notes: list[str] = []
    with Stages() as stages:
        stages(f"reading {file}")
        if stream:
            from splmll.tagging.streaming import fit_stream

            tagger = fit_stream(
                file,
                labels or [],
                delimiter=delimiter,
                text=text or [],
                ignore=ignore or [],
                n_landmarks=landmarks,
                threshold=rule,
                random_state=seed,
                n_jobs=jobs,
                on_progress=stages,
            )
        else:
            data, reading = read_examples(
                file,
                labels or [],
                delimiter=delimiter,
                text=text or [],
                ignore=ignore or [],
                min_count=min_count,
                allow_unknown=True,
            )

            def say(cost: object) -> None:
                costs.append(str(cost))
                stages.say(f"Estimated cost of the fit: {cost}")

            tagger = Tagger.fit(
                data,
                method,
                n_landmarks=landmarks,
                threshold=rule,
                test_size=test_size,
                random_state=seed,
                n_jobs=jobs,
                device=device,
                settings=chosen,
                words=Words(
                    characters="auto" if char_ngrams is None else char_ngrams,
                    hashed="auto" if hash is None else hash,
                ),
                reading=reading,
                on_cost=say,
                on_progress=stages,
                on_note=notes.append,
            )
        stages(f"writing {out}")
        tagger.save(out)
        if save_config is not None:
            used = {
                "file": str(file),
                "labels": labels,
                "text": text,
                "ignore": ignore,
                "delimiter": delimiter,
                "min_count": min_count,
                "char_ngrams": char_ngrams,
                "hash": hash,
                "test_size": test_size,
                "stream": stream,
                "method": tagger.method,
                "landmarks": landmarks,
                "threshold": rule,
                "seed": seed,
                "jobs": jobs,
                "device": device,
                "out": str(out),
                "settings": chosen,
            }
            write_config(save_config, used)
    size = _size(out)
    if json:
        show_json(
            {
                "model": str(out),
                "method": tagger.method,
                "settings": changed_settings(tagger.pipeline[-1]),
                "rows": tagger.n_rows,
                "columns": tagger.column_kinds,
                "features": _n_features(tagger),
                "label_names": tagger.label_names,
                "landmarks": tagger.landmark_names if tagger.has_landmarks else None,
                "measured": tagger.measured.to_dict(),
                "notes": notes,
                "fit_seconds": tagger.fit_seconds,
                "expected_cost": costs[-1] if costs else None,
                "bytes": size,
            }
        )
        return
    _show(tagger, notes, size, quote(str(out)))
    typer.echo(out)


def _show(tagger: Tagger, notes: list[str], size: int, model: str) -> None:
    """Print the result of a fit, short enough for a screen."""
    from splmll.cli._measured import show_landmarks, show_measured
    from splmll.words import counted

    rows, n_labels = counted(tagger.n_rows, "row"), counted(len(tagger.label_names), "label")
    show_text(f"{rows}, {n_labels}, {counted(_n_features(tagger), 'feature')}. {_columns(tagger)}")
    for note in notes:
        show_text(f"Note: {note}")
    typer.echo()
    show_measured(tagger.measured, _method(tagger))
    if tagger.measured.how == "out of fold":
        show_text("These models saw fewer rows than the final one, which should do no worse.\n")
    every = [f"Every label: splmll evaluate {model} --all"]
    if tagger.has_landmarks:
        show_landmarks(tagger, short=True)
        every.append(f"Every landmark: splmll landmarks {model} --all")
    typer.echo(f"The fit took {tagger.fit_seconds:.1f} s; the model takes {size / 1000.0:,.0f} kB.")
    typer.echo("\n".join(every))
    typer.echo(f"Tags for other rows: splmll predict {model} FILE --out tags.csv")


def _check_streamed(method: str, **others: object) -> None:
    """Refuse options that do not work with --stream."""
    given = [] if method.lower() == "spl-mll" else ["method"]
    given += [name for name, value in others.items() if value not in (None, {})]
    if given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise typer.BadParameter(
            f"--stream trains SPL-MLL by stochastic gradient descent; leave out {options}."
        )


def _check_place(out: Path) -> None:
    """Refuse a path that cannot be written to, before the fit starts."""
    from splmll.persistence.storage import ZIP_SUFFIX, members_of
    from splmll.tagging.output import check_folder, check_writable

    if out.suffix.lower() == ZIP_SUFFIX:
        check_writable(out)
        return
    if out.exists():
        members_of(out)
    check_folder(out)


def _method(tagger: Tagger) -> str:
    """Return the method, with the embedding it chose."""
    from splmll.cli._measured import embedding_name

    if not tagger.has_landmarks:
        return tagger.method
    return f"{tagger.method} ({embedding_name(tagger.pipeline[-1].embedding_)})"


def _n_features(tagger: Tagger) -> int:
    """Return how many features the method learned from."""
    return int(tagger.pipeline[-1].n_features_in_)


def _columns(tagger: Tagger) -> str:
    """Return the kind of each column."""
    kinds = tagger.column_kinds
    if not kinds:
        return "All of them are numbers."
    by_kind = {
        kind: [name for name in kinds if kinds[name] == kind]
        for kind in ("text", "numeric", "categorical")
    }
    found = (f"{', '.join(names)} ({kind})" for kind, names in by_kind.items() if names)
    return f"Columns: {'; '.join(found)}."


def _size(out: Path) -> int:
    files = [out] if out.is_file() else out.iterdir()
    return sum(file.stat().st_size for file in files)
