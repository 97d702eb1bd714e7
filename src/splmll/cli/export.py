"""``splmll export``: a tagger as an ONNX file."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from splmll.cli._options import Model


def export(
    model: Model,
    out: Annotated[Path, typer.Argument(help="The file to write, NAME.onnx.", metavar="OUT")],
    single: Annotated[
        bool,
        typer.Option(
            "--float32",
            help="Use single precision for inputs, for runtimes without double precision.",
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Write a model as an ONNX file, which runs without Python and without this program.

    It has the input `features` (the numeric columns in their order), `categories` if there are
    columns of categories, and the outputs `labels`, `scores` and `probabilities`. The metadata
    contain the names of columns, labels and landmarks. If onnxruntime is installed, the file is run
    on a few rows and compared with the model.

    SPL-MLL and the linear methods can be exported; text columns cannot.

    Examples
    --------
        splmll export model model.onnx
    """
    # Imported here: `splmll --help` should not wait for PyTorch.
    from splmll.cli._show import show_json
    from splmll.onnx_export import TOLERANCE, export_onnx, largest_difference
    from splmll.onnx_export.export import columns_of
    from splmll.tagging import Tagger

    tagger = Tagger.load(model)
    file = export_onnx(tagger, out, input_type="float32" if single else "float64")
    difference = largest_difference(tagger, file) if find_spec("onnxruntime") else None
    if difference is not None and not difference <= TOLERANCE:
        file.unlink()
        raise RuntimeError(
            f"{file}: its scores differed from those of the model by {difference:.1e}, so it was "
            f"removed. {'Export without --float32.' if single else 'Use `splmll predict` instead.'}"
        )
    inputs = columns_of(tagger).of_input
    if json:
        show_json(
            {
                "file": str(file),
                "bytes": file.stat().st_size,
                "inputs": inputs,
                "labels": tagger.label_names,
                "largest_difference": difference,
            }
        )
        return
    typer.echo(f"Wrote {file} ({file.stat().st_size / 1000:,.0f} kB).")
    for name, columns in inputs.items():
        typer.echo(f"Input {name}: {_counted(columns)}.")
    typer.echo(f"Outputs labels, scores and probabilities: {_counted(tagger.label_names)}.")
    if difference is None:
        typer.echo(
            "Not compared with the model, because onnxruntime is missing: pip install "
            '"splmll[onnx]".'
        )
    else:
        typer.echo(f"onnxruntime gives the same scores; largest difference {difference:.1e}.")


def _counted(columns: list[str]) -> str:
    return "1 column" if len(columns) == 1 else f"{len(columns)} columns"
