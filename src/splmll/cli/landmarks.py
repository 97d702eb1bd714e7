"""``splmll landmarks``: the landmarks of a tagger as a table, and the measures by their number."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from splmll.cli._options import Model

if TYPE_CHECKING:
    from splmll.tagging import Tagger

FIGURES = (".png", ".svg", ".pdf")


def landmarks(
    model: Model,
    every: Annotated[
        bool, typer.Option("--all", help="List every landmark, not only the strongest.")
    ] = False,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="Draw what each number of landmarks would achieve (.png, .svg, .pdf); needs "
            "--data."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="The rows with tags that the model learned from.", metavar="FILE"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show the landmarks: the labels from which all others are recovered.

    The strength of a landmark is the share of the variance of all labels that it explains in
    addition to those above it. Its predictability is the share of its own variance that is
    predicted from the columns. Its representativeness is the share of the variance of all labels
    that it would explain alone if it were known. The ten strongest landmarks that carry other
    labels are listed; --all or --json lists all of them, including those that carry only
    themselves. The figure shows the measures by the number of landmarks, out of fold; it takes
    about as long as a fit.

    Examples
    --------
        splmll landmarks model --all

        splmll landmarks model --figure path.png --data notes.csv
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.cli._measured import show_landmarks
    from splmll.cli._show import show_json
    from splmll.tagging import Tagger
    from splmll.tagging.output import check_suffix, check_writable

    if (figure is None) != (data is None):
        raise ValueError(
            "The figure needs both --figure FILE.png and --data FILE, the rows with tags that "
            "the model learned from: a model does not keep its rows."
        )
    if figure is not None:
        check_suffix(figure, FIGURES, "figures are")
        check_writable(figure)
    tagger = Tagger.load(model)
    found = tagger.landmarks()  # a method without landmarks is refused before the file is read
    if figure is not None and data is not None:
        _draw(tagger, data, figure)
    if json:
        show_json(found.reset_index().to_dict(orient="records"))
    else:
        show_landmarks(tagger, every=every)
        if figure is not None:
            typer.echo(figure)


def _draw(tagger: Tagger, data: Path, figure: Path) -> None:
    from matplotlib.figure import Figure

    from splmll.atomic import atomic_write
    from splmll.cli._show import working
    from splmll.tagging.files import read_alike

    rows = read_alike(data, tagger.reading, tagger.column_kinds)
    with working(f"measuring each number of landmarks on {rows.X.shape[0]} rows"):
        path = tagger.landmark_path(rows)
    drawn = Figure(figsize=(11, 6), layout="constrained")  # not pyplot's, which may want a screen
    panels = drawn.subplots(2, 3)
    path.plot(panels)
    for unused in panels.ravel()[len(path.measures) :]:
        unused.remove()
    n_landmarks = len(tagger.landmark_names)
    for axes in drawn.axes:
        axes.axvline(n_landmarks, color="C7", lw=0.8, ls=":")
    drawn.suptitle(f"dotted: the {n_landmarks} landmarks of this model")
    with atomic_write(figure) as part:
        drawn.savefig(part, dpi=150)
