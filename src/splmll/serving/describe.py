"""The description of a model: its columns, labels and landmarks, and an example row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer

from splmll.plots.landmark_weights import LandmarkWeights
from splmll.tagging import Tagger, Words

if TYPE_CHECKING:
    from splmll.serving.model import ServedModel

_EXAMPLE_WORDS = 5
_EXAMPLE_CATEGORIES = 20
_MOST_EDGES = 300  # more cannot be told apart in a picture
_LEAST_EDGE = 0.05  # what a landmark adds to a score from 0 to 1 before anyone notices


def column_examples(tagger: Tagger) -> dict[str, list[Any]]:
    """Return values that occurred in training, if the model remembers any.

    Parameters
    ----------
    tagger : Tagger
        The model.

    Returns
    -------
    examples : dict of str to list
        Frequent words of a text column in one string, the categories of a categorical one, the
        median of a numeric one.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from splmll.datasets import Dataset
    >>> from splmll.serving.describe import column_examples
    >>> from splmll.tagging import Tagger
    >>> X = pd.DataFrame({"site": ["north", "south"] * 20, "hours": [1.0, 3.0] * 20})
    >>> Y = np.array([[1, 0], [0, 1]] * 20)
    >>> data = Dataset(X, Y, ["site", "hours"], ["cold", "warm"],
    ...                column_kinds={"site": "categorical", "hours": "numeric"})
    >>> column_examples(Tagger.fit(data, "BR"))
    {'site': ['north', 'south'], 'hours': [2.0]}
    """
    first = tagger.pipeline[0]
    found: dict[str, list[Any]] = {}
    if not isinstance(first, ColumnTransformer):
        return found
    for name, step, columns in first.transformers_:
        if isinstance(step, Words):
            frequent = " ".join(step.frequent(_EXAMPLE_WORDS))
            found |= {column: [frequent] for column in columns if frequent}
        elif hasattr(step, "idf_"):  # of a model that was written by an earlier version
            words = step.get_feature_names_out()[np.argsort(step.idf_, kind="stable")]
            found[columns] = [" ".join(words[:_EXAMPLE_WORDS])]
        elif name == "categorical":
            for column, values in zip(columns, step.categories_):
                filled = [str(value) for value in values if value != ""]
                found[column] = filled[:_EXAMPLE_CATEGORIES]
        elif name == "numeric":
            for column, median in zip(columns, step[0].statistics_):
                found[column] = [float(median)]
    return {name: found[name] for name in tagger.feature_names if found.get(name)}


def example_row(tagger: Tagger) -> dict[str, Any]:
    """Return an example row with values like those of the training rows."""
    examples = column_examples(tagger)
    fallback = {"numeric": 0.0, "categorical": "", "text": ""}
    return {
        name: examples.get(name, [fallback[tagger.column_kinds.get(name, "numeric")]])[0]
        for name in tagger.feature_names
    }


def model_entry(model: ServedModel, default: bool) -> dict[str, Any]:
    """Return what ``GET /models`` says about a model."""
    tagger, kinds = model.tagger, model.reader.kinds
    examples = column_examples(tagger)
    return {
        "name": model.name,
        "default": default,
        "method": tagger.method,
        "n_labels": len(model.label_names),
        "landmarks": None if model.landmark_names is None else len(model.landmark_names),
        "n_rows": tagger.n_rows,
        "columns": [
            {
                "name": name,
                "kind": kinds[name],
                **({"examples": examples[name]} if name in examples else {}),
            }
            for name in model.reader.columns
        ],
        "measures": {name: _number(value) for name, value in tagger.measured.measures.items()},
    }


def label_entries(model: ServedModel) -> list[dict[str, Any]]:
    """Return what ``GET /labels`` lists: every label with how well it did on unseen rows."""
    landmarks = set(model.landmark_names or [])
    measured = model.tagger.measured.labels
    return [
        {"name": name, "landmark": name in landmarks, "f1": _number(f1), "rows": int(rows)}
        for name, f1, rows in zip(model.label_names, measured["f1"], measured["rows"])
    ]


def landmark_entries(model: ServedModel) -> dict[str, list[dict[str, Any]]]:
    """Return what ``GET /landmarks`` lists: the landmarks, and what they add to other labels."""
    if not model.landmarks():
        return {"landmarks": [], "edges": []}
    table = model.tagger.landmarks()
    columns = ["strength", "predictability", "representativeness"]
    landmarks = [
        {"name": str(name), **{column: _number(line[column]) for column in columns}}
        for name, line in table[columns].iterrows()
    ]
    found = LandmarkWeights.from_estimator(model.tagger.pipeline, model.label_names)
    weights = found.weights.copy()
    position = {name: k for k, name in enumerate(found.labels)}
    for place, name in enumerate(found.landmarks):
        weights[place, position[name]] = 0.0  # its own label
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")[:_MOST_EDGES]
    edges = [
        {
            "landmark": found.landmarks[place],
            "label": found.labels[label],
            "weight": float(weights[place, label]),
        }
        for place, label in zip(*np.unravel_index(order, weights.shape))
        if abs(weights[place, label]) >= _LEAST_EDGE
    ]
    return {"landmarks": landmarks, "edges": edges}


def _number(value: Any) -> float | None:
    """Return a number in a form that JSON can represent."""
    return float(value) if np.isfinite(value) else None
