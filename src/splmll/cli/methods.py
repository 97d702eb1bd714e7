"""``splmll methods``: the methods that are known by name."""

from __future__ import annotations

from typing import Annotated

import typer

from splmll.cli._show import show_json, show_table


def methods(
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """List the methods that `fit` and `compare` accept.

    Examples
    --------
        splmll methods

        splmll fit notes.csv --labels tags --method ML-kNN
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.catalogue import CATALOGUE

    if json:
        show_json(
            [
                {
                    "name": name,
                    "title": method.title,
                    "group": method.group,
                    "cost": method.capabilities.cost,
                    "reference": method.reference,
                    "remark": method.remark,
                }
                for name, method in CATALOGUE.items()
            ]
        )
        return
    show_table(
        "Methods, and how the cost of a fit grows with rows (N), features (D) and labels (C)",
        ["name", "method", "cost"],
        ((name, each.title, each.capabilities.cost) for name, each in CATALOGUE.items()),
    )
