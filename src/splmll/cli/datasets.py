"""``splmll datasets``: the data sets that are known by name."""

from __future__ import annotations

from typing import Annotated

import typer

from splmll.cli._show import show_json, show_table


def datasets(
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """List the named data sets, for other commands and load_dataset, with their sizes.

    Examples
    --------
        splmll datasets

        splmll compare emotions -m BR,SPL-MLL
    """
    # Imported here: `splmll --help` should not wait for pandas.
    from splmll.datasets.catalogue import _CATALOGUE, dataset_names

    columns = ["training rows", "test rows", "features", "labels"]
    sizes = {name: _CATALOGUE[name].shape for name in dataset_names()}
    if json:
        show_json([{"name": name, **dict(zip(columns, size))} for name, size in sizes.items()])
    else:
        show_table("Data sets", ["name", *columns], ([name, *size] for name, size in sizes.items()))
