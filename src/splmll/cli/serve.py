"""``splmll serve``: models over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from splmll.cli._options import Host, Port, TokenFile

if TYPE_CHECKING:
    from splmll.serving import Annotation

MEGABYTE = 2**20


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            help="A model written by `splmll fit`; for several, NAME=MODEL each.",
            metavar="MODEL...",
        ),
    ],
    port: Port = 8000,
    host: Host = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A host name of the service; can be repeated, * for all.",
            show_default="localhost, --host, numeric addresses",
            metavar="NAME",
        ),
    ] = None,
    token_file: TokenFile = None,
    max_rows: Annotated[
        int, typer.Option(help="Maximum number of rows in a request.", min=1)
    ] = 10_000,
    max_body: Annotated[
        float, typer.Option(help="Maximum size of a request body in megabytes.", min=0.001)
    ] = 16.0,
    timeout: Annotated[
        float, typer.Option(help="Time limit for a request in seconds.", min=0.01)
    ] = 30.0,
    batch: Annotated[
        int, typer.Option(help="Number of requests combined into one call of the model.", min=1)
    ] = 64,
    annotate: Annotated[
        Path | None,
        typer.Option(
            help="A table to annotate with the first model, at /annotate; see `splmll annotate`.",
            metavar="TABLE",
        ),
    ] = None,
    answers: Annotated[
        Path,
        typer.Option(help="The file in which annotators' answers are stored.", metavar="FILE"),
    ] = Path("answers.sqlite"),
) -> None:
    """Serve models over HTTP: predictions, explanations, recovery, and a page to try them.

    The page is at the address that is printed, and the description for programs at /openapi.json.
    Only this machine can reach it unless --host says otherwise. SIGHUP or POST /reload reloads
    models whose files have changed, without dropping a request.

    Examples
    --------
        splmll serve model --port 8000

        splmll serve notes=model songs=other.zip --host 0.0.0.0 --token-file token.txt

        splmll serve model --allow-host tags.example.org

        splmll serve model --annotate new.csv
    """
    limits = {"max_rows": max_rows, "max_body": max_body, "timeout": timeout, "batch": batch}
    wanted = None
    if annotate is not None:
        from splmll.serving import Annotation

        wanted = Annotation(annotate, answers)
    run_service(_named(models), host, port, token_file, limits, wanted, allow_host)


def run_service(
    places: dict[str, Path],
    host: str,
    port: int,
    token_file: Path | None,
    limits: dict[str, Any] | None = None,
    annotation: Annotation | None = None,
    allow_host: list[str] | None = None,
) -> None:
    """Serve models until the process is told to end, and say where.

    Parameters
    ----------
    places : dict of str to Path
        Name -> model.
    host, port, token_file
        As the options of ``splmll serve``.
    limits : dict, optional
        The options of ``splmll serve`` that limit requests.
    annotation : Annotation, optional
        A table to annotate.
    allow_host : list of str, optional
        Further host names of the service.
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.cli._show import working
    from splmll.serving import Limits, create_app
    from splmll.serving.security import TOKEN_VARIABLE, find_token
    from splmll.serving.server import address_of, bind, is_loopback, names_of, run

    token = find_token(token_file)
    bounds = Limits()
    if limits is not None:
        bounds = Limits(
            rows=limits["max_rows"],
            body_bytes=int(limits["max_body"] * MEGABYTE),
            seconds=limits["timeout"],
            batch=limits["batch"],
        )
    with bind(host, port) as bound:
        if token is None and not is_loopback(bound):
            typer.echo(
                f"splmll: anyone who can reach {host} can use the service; set {TOKEN_VARIABLE} "
                "or give --token-file to require a token.",
                err=True,
            )
        with working(f"loading {', '.join(places)}"):
            names = [*(allow_host or []), *names_of(host, bound)]
            app = create_app(places, token=token, limits=bounds, hosts=names, annotation=annotation)
        for model in app.state.registry.models:
            typer.echo(
                f"{model.name}: {model.tagger.method}, {len(model.label_names)} labels, "
                f"{len(model.reader.columns)} columns"
            )
        # Whoever reads the address may come at once: connections wait from here on.
        bound.listen()
        page = "" if annotation is None else "/annotate"
        typer.echo(f"Serving at {address_of(bound)}{page}; press Ctrl-C to stop.")
        try:
            run(app, bound)
        finally:
            if annotation is not None:
                app.state.desk.close()


def _named(models: list[str]) -> dict[str, Path]:
    """Return name -> path; a model without a name has that of its folder or file."""
    places: dict[str, Path] = {}
    for given in models:
        name, equals, place = given.partition("=")
        # A folder may have the sign in its name.
        path = Path(place) if equals and not Path(given).exists() else Path(given)
        if path == Path(given):
            name = path.resolve().name.removesuffix(".zip")
        if not name:
            raise ValueError(f"{given!r} has no name before the equals sign; give NAME=MODEL.")
        if name in places:
            raise ValueError(
                f"Two models are called {name!r}; give them different names with NAME=MODEL."
            )
        if not path.exists():
            raise ValueError(
                f"{path}: there is no such folder; give a model written by `splmll fit`."
            )
        places[name] = path
    return places
