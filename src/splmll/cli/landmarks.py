"""``splmll landmarks``: the landmarks of a tagger as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def landmarks(
    model: Annotated[Path, typer.Argument(help="What `splmll fit` wrote.", metavar="MODEL")],
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show the landmarks: the labels that are predicted and carry all others.

    Predictability is the share of a label's variance that is predicted from the columns,
    representativeness the share of the variance of all labels that it explains.

    Examples
    --------
        splmll landmarks model
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.cli._measured import show_landmarks
    from splmll.cli._show import show_json
    from splmll.tagging import Tagger

    tagger = Tagger.load(model)
    if json:
        found = tagger.landmarks().reset_index()
        show_json(found.to_dict(orient="records"))
    else:
        show_landmarks(tagger)
