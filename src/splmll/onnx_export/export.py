"""export_onnx: a fitted model becomes one ONNX file, checked, written whole or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from splmll import __version__
from splmll.atomic import atomic_write
from splmll.onnx_export.classifiers import add_classifier
from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.graph import Graph, require_onnx
from splmll.onnx_export.preprocessing import Table, text_columns
from splmll.tagging import Tagger

FEATURES, CATEGORIES = "features", "categories"  # the inputs
SUFFIX = ".onnx"
_INPUT_TYPES = {"float64": np.float64, "float32": np.float32}


def export_onnx(model: Any, path: str | os.PathLike[str], *, input_type: str = "float64") -> Path:
    """Write a fitted model to an ONNX file that runs without this library.

    The file has the input ``features`` of shape (rows, n_features), any number of rows; and, where
    the model takes categories, the input ``categories`` of texts. Its outputs are ``labels``
    (0 or 1), ``scores`` (``decision_function``) and ``probabilities`` (``predict_proba``), all of
    shape (rows, n_labels). They agree with the model to 1e-5. Its metadata name the labels, the
    columns of the inputs and the landmarks, as JSON.

    Parameters
    ----------
    model : classifier, Pipeline or Tagger
        A fitted :class:`splmll.SPLMLL` (without trees), a :class:`splmll.PublishedSPLMLL`, a
        compared method with linear scores or a network, a pipeline with numeric or categorical
        preprocessing before one of them, or a tagger. A model of sparse features takes dense ones
        here.
    path : path-like
        Where to write; ends in ``.onnx``.
    input_type : {"float64", "float32"}, default="float64"
        Type of ``features``. Inside, all is computed in double precision. Single precision is
        what many runtimes hold, but large numbers lose digits in it before the model sees them.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    CannotExportError
        If the model, or a step before it, has no faithful form in ONNX.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> from splmll.onnx_export import export_onnx, largest_difference
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> model = SPLMLL("linear", random_state=0).fit(X, X[:, :2] > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = export_onnx(model, Path(folder) / "model.onnx")
    ...     largest_difference(model, file) < 1e-5
    True
    """
    require_onnx()
    target = Path(path)
    if target.suffix.lower() != SUFFIX:
        raise ValueError(f"{target}: an ONNX file needs a name that ends in {SUFFIX}.")
    if input_type not in _INPUT_TYPES:
        raise ValueError(f'input_type={input_type!r} must be "float64" or "float32".')
    content = _content(model, _INPUT_TYPES[input_type])
    with atomic_write(target) as part:
        part.write_bytes(content)
    return target


@dataclass(frozen=True)
class Columns:
    """The columns of a model and the input that each belongs to.

    Attributes
    ----------
    names : list of str
        All columns in the order of training.
    texts : set of int
        Numbers of those that are texts, in the input ``categories``; all others are numbers, in
        the input ``features``.
    """

    names: list[str]
    texts: set[int]

    @property
    def of_input(self) -> dict[str, list[str]]:
        """Input -> the names of its columns, without inputs that have none."""
        numbers = [name for k, name in enumerate(self.names) if k not in self.texts]
        texts = [name for k, name in enumerate(self.names) if k in self.texts]
        columns = {FEATURES: numbers, CATEGORIES: texts}
        return {key: names for key, names in columns.items() if names}


def columns_of(model: Any) -> Columns:
    """Return the columns that a model takes.

    Parameters
    ----------
    model : classifier, Pipeline or Tagger
        A fitted model.

    Returns
    -------
    columns : Columns
    """
    if isinstance(model, Tagger):
        names = list(model.feature_names)
        return Columns(names, _texts_of(model.pipeline, names))
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    # The first step may be none ("passthrough"), which changes nothing.
    known = (getattr(step, "n_features_in_", None) for step in steps)
    n_features = next((number for number in known if number is not None), None)
    if n_features is None:
        raise CannotExportError(
            f"{type(model).__name__} does not know how many features it takes, so it cannot be "
            "exported. Fit it on a matrix or a table."
        )
    given = getattr(model, "feature_names_in_", None)
    names = [f"x{k}" for k in range(n_features)] if given is None else [str(k) for k in given]
    return Columns(names, _texts_of(model, names))


def _texts_of(model: Any, names: list[str]) -> set[int]:
    while hasattr(model, "estimator_"):  # around another model
        model = model.estimator_
    if not isinstance(model, Pipeline):
        return set()
    return text_columns(model[0], np.arange(len(names)), names)


def _content(model: Any, dtype: Any) -> bytes:
    inner = model.pipeline if isinstance(model, Tagger) else model
    check_is_fitted(inner)
    columns = columns_of(model)
    graph = Graph()
    tensors: dict[str, str] = {}
    for name, held in columns.of_input.items():
        kind = dtype if name == FEATURES else object
        tensors[name] = graph.add_input(name, kind, len(held))
    if FEATURES in tensors and dtype is not np.float64:
        tensors[FEATURES] = graph.cast(FEATURES, np.float64)
    is_text = tuple(k in columns.texts for k in range(len(columns.names)))
    table = Table(tensors.get(FEATURES), tensors.get(CATEGORIES), is_text if columns.texts else ())
    found = add_classifier(graph, inner, table)
    metadata = _metadata(model, columns)
    width = len(metadata["label_names"])
    return graph.finish(
        {
            "labels": (found.labels, np.int64, width),
            "scores": (found.scores, np.float64, width),
            "probabilities": (found.probabilities, np.float64, width),
        },
        {key: json.dumps(value, ensure_ascii=False) for key, value in metadata.items()},
        __version__,
    )


def _metadata(model: Any, columns: Columns) -> dict[str, Any]:
    """Return what names things: values that JSON can hold."""
    last = model.pipeline if isinstance(model, Tagger) else model
    while isinstance(last, Pipeline):
        last = last[-1]
    form = last.label_format_
    if isinstance(model, Tagger):
        names = list(model.label_names)
    else:
        names = [str(name) for name in form.names_of(np.arange(form.n_labels))]
    metadata: dict[str, Any] = {
        "splmll_version": __version__,
        "model": type(last).__name__,
        "label_names": names,
        "feature_names": columns.of_input.get(FEATURES, []),
    }
    if columns.texts:
        metadata["category_names"] = columns.of_input[CATEGORIES]
    if form.kind == "vector":
        metadata["classes"] = np.asarray(form.classes).tolist()
    landmarks = getattr(last, "landmarks_", None)
    if landmarks is not None:
        by_number = form.names is None  # a tagger knows the names, its method only numbers
        metadata["landmark_names"] = [names[k] if by_number else str(k) for k in landmarks]
    return metadata
