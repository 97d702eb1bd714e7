"""Whether an ONNX file gives what its model gives, on rows like those the model learned from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from torch import nn

from splmll.arrays import dense
from splmll.embeddings import Blend, Embedding, TorchModule
from splmll.extras import required
from splmll.landmarks import SPLMLL
from splmll.neural import Standardise
from splmll.onnx_export.export import CATEGORIES, FEATURES, Columns, columns_of
from splmll.onnx_export.preprocessing import parts_of
from splmll.published import PublishedSPLMLL
from splmll.tagging import Tagger

TOLERANCE = 1e-5  # how close an exported model must come
N_ROWS = 64
_SHARE_MISSING = 0.1  # of the cells of columns that are filled in


def largest_difference(model: Any, path: str | os.PathLike[str], rows: Any = None) -> float:
    """Return how far the scores and probabilities of a file are from those of its model.

    Parameters
    ----------
    model : classifier, Pipeline or Tagger
        The model that was exported.
    path : path-like
        The file.
    rows : DataFrame, array or sparse matrix, optional
        Rows to compare on, as the model takes them; by default 64 rows drawn at random, with the
        means, spreads and categories that the model knows.

    Returns
    -------
    difference : float
        The largest absolute difference; in rows with scores above 1, relative to the largest.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from splmll.methods import PLST
    >>> from splmll.onnx_export import export_onnx, largest_difference
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = PLST().fit(X, X > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = export_onnx(model, Path(folder) / "plst.onnx")
    ...     largest_difference(model, file, X) < 1e-5
    True
    """
    columns = columns_of(model)
    rows = example_rows(model) if rows is None else rows
    found = _run(path, columns, rows)
    inner = model.pipeline if isinstance(model, Tagger) else model
    differences = []
    for name, method in (("scores", "decision_function"), ("probabilities", "predict_proba")):
        expected = getattr(inner, method)(rows).reshape(len(found[name]), -1)
        # The probabilities of a vector y have a column for each of its values.
        expected = expected[:, -found[name].shape[1] :]
        unit = np.maximum(1.0, np.abs(expected).max(axis=1, keepdims=True))
        differences.append(np.abs(found[name] - expected) / unit)
    return float(np.max(differences, initial=0.0))


def example_rows(model: Any, n_rows: int = N_ROWS) -> Any:
    """Return rows drawn at random, as the model takes them.

    Parameters
    ----------
    model : classifier, Pipeline or Tagger
        A fitted model.
    n_rows : int, default=64
        How many.

    Returns
    -------
    rows : DataFrame or ndarray
        A DataFrame where the model knows its columns by name.
    """
    columns = columns_of(model)
    known = _Known(len(columns.names))
    inner = model.pipeline if isinstance(model, Tagger) else model
    known.look_at(inner, np.arange(len(columns.names)))
    rng = np.random.default_rng(0)
    numbers = known.centre + known.spread * rng.normal(size=(n_rows, len(columns.names)))
    numbers[(rng.random(numbers.shape) < _SHARE_MISSING) & known.may_be_missing] = np.nan
    drawn = {
        columns.names[k]: rng.choice(np.asarray(categories, dtype=object), n_rows)
        for k, categories in known.categories.items()
    }
    frame = pd.DataFrame(numbers, columns=columns.names).assign(**drawn)
    return frame if hasattr(inner, "feature_names_in_") else frame.to_numpy()


class _Known:
    """What the steps of a model tell about the columns of its training rows."""

    def __init__(self, n_columns: int) -> None:
        self.centre, self.spread = np.zeros(n_columns), np.ones(n_columns)
        self.may_be_missing = np.zeros(n_columns, dtype=bool)
        self.categories: dict[int, np.ndarray] = {}

    def look_at(self, step: Any, columns: np.ndarray) -> None:
        """Learn from a step, or the first ones of several, that receives these columns."""
        if hasattr(step, "estimator_"):  # around another model
            self.look_at(step.estimator_, columns)
        elif isinstance(step, Pipeline):
            for each in step:
                self.look_at(each, columns)
                if not isinstance(each, SimpleImputer):
                    break
        elif isinstance(step, ColumnTransformer):
            for part, chosen, _ in parts_of(step):
                self.look_at(part, columns[chosen])
        elif isinstance(step, SimpleImputer):
            self.may_be_missing[columns] = True
        elif isinstance(step, OneHotEncoder):
            self.categories.update(zip(columns.tolist(), step.categories_))
        elif isinstance(step, StandardScaler):
            self._set(columns, step.mean_, step.scale_)
        else:
            for module in _networks_of(step):
                for layer in module.modules():
                    if isinstance(layer, Standardise):
                        self._set(columns, layer.mean.cpu().numpy(), layer.scale.cpu().numpy())

    def _set(self, columns: np.ndarray, centre: Any, spread: Any) -> None:
        if centre is not None and len(centre) == len(columns):
            self.centre[columns] = centre
        if spread is not None and len(spread) == len(columns):
            self.spread[columns] = spread


def _networks_of(model: Any) -> list[nn.Module]:
    """Return the networks in a classifier that standardise its features."""
    if isinstance(model, SPLMLL):
        found = _networks_in(model.embedding_)
    elif isinstance(model, PublishedSPLMLL):
        found = [model.embedding_]
    else:
        found = [
            getattr(model, "network_", None),
            getattr(getattr(model, "regressor_", None), "module_", None),
        ]
    return [module for module in found if isinstance(module, nn.Module)]


def _networks_in(embedding: Embedding) -> list[Any]:
    if isinstance(embedding, Blend):
        return [module for member in embedding.members_ for module in _networks_in(member)]
    return list(embedding.models_) if isinstance(embedding, TorchModule) else []


def _run(path: str | os.PathLike[str], columns: Columns, rows: Any) -> dict[str, np.ndarray]:
    # Otherwise it writes a device number into the home folder as soon as it is imported.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    onnxruntime = required("onnxruntime", "onnx", "Running ONNX files")
    session = onnxruntime.InferenceSession(Path(path), providers=["CPUExecutionProvider"])
    if isinstance(rows, pd.DataFrame):
        rows = rows[columns.names].to_numpy(dtype=object if columns.texts else None)
    rows = dense(rows)
    of_texts = np.isin(np.arange(len(columns.names)), list(columns.texts))
    parts = {FEATURES: rows[:, ~of_texts], CATEGORIES: rows[:, of_texts].astype(object)}
    types = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(string)": object}
    inputs = {each.name: parts[each.name].astype(types[each.type]) for each in session.get_inputs()}
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))
