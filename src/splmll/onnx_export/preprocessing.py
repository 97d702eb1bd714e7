"""Preprocessing steps of scikit-learn as ONNX operators, in double precision.

Scalers and projections are converted by skl2onnx. Missing values, categories and the choice of
columns are written here, because skl2onnx has them in single precision only, or not at all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from splmll.extras import required
from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.graph import ML_DOMAIN, ML_OPSET, OPSET, Graph
from splmll.tagging import Words

# What skl2onnx converts faithfully; a class derived from one may do otherwise.
_CONVERTED = (
    MaxAbsScaler,
    MinMaxScaler,
    PCA,
    RobustScaler,
    SelectKBest,
    StandardScaler,
    TruncatedSVD,
    VarianceThreshold,
)
_OUT_OF_TEXTS = (CountVectorizer, HashingVectorizer, Words)  # TfidfVectorizer is the first


@dataclass(frozen=True)
class Table:
    """Columns on their way through the steps: numbers in one tensor, texts in another.

    Attributes
    ----------
    numbers, texts : str or None
        The tensors.
    is_text : tuple of bool
        For every column of the table whether it is the next one of ``texts`` or of ``numbers``;
        empty where all are numbers.
    """

    numbers: str | None
    texts: str | None = None
    is_text: tuple[bool, ...] = ()

    @property
    def features(self) -> str:
        """The tensor of numbers that a model takes."""
        if self.numbers is None or self.texts is not None:
            raise CannotExportError(
                "A step or model that takes texts cannot be exported. Turn them into numbers with "
                "a OneHotEncoder."
            )
        return self.numbers

    def take(self, graph: Graph, columns: np.ndarray) -> Table:
        """Return a table of some columns, numbers or texts."""
        if not any(self.is_text):
            return Table(graph.columns(self.features, columns))
        are_texts = np.asarray(self.is_text)
        chosen = are_texts[columns]
        places = np.where(are_texts, np.cumsum(are_texts), np.cumsum(~are_texts))[columns] - 1
        if chosen.all():
            return Table(None, graph.columns(str(self.texts), places), (True,) * len(columns))
        if chosen.any():
            raise CannotExportError(
                "A step that takes numbers and categories together cannot be exported. Give them "
                "to different steps of the ColumnTransformer."
            )
        return Table(graph.columns(str(self.numbers), places))


def text_columns(step: Any, columns: np.ndarray, names: Sequence[str]) -> set[int]:
    """Return which columns of the input are texts, because a OneHotEncoder takes them as such.

    Parameters
    ----------
    step : transformer
        The first step.
    columns : ndarray of int
        Columns that it receives.
    names : sequence of str
        Names of all columns of the input.

    Returns
    -------
    texts : set of int
        Numbers of columns.
    """
    if isinstance(step, Pipeline):
        return text_columns(step[0], columns, names)
    if isinstance(step, ColumnTransformer):
        found = (text_columns(part, columns[chosen], names) for part, chosen, _ in parts_of(step))
        return set().union(*found)
    if isinstance(step, _OUT_OF_TEXTS):
        which = " and ".join(repr(names[k]) for k in columns)
        subject, rest = f"columns {which} hold", "those columns"
        if len(columns) == 1:
            subject, rest = f"column {which} holds", "that column"
        raise CannotExportError(
            f"The {subject} texts, which cannot be exported: ONNX does not split them into words "
            f"as {type(step).__name__} does. Fit a model without {rest}."
        )
    if isinstance(step, OneHotEncoder):
        kinds = (np.asarray(found).dtype.kind for found in step.categories_)
        return {int(column) for column, kind in zip(columns, kinds) if kind in "OUST"}
    return set()


def add_step(graph: Graph, step: Any, table: Table) -> Table:
    """Return what a fitted transformer makes of a table.

    Parameters
    ----------
    graph : Graph
        Where to add.
    step : transformer
        A transformer of scikit-learn, a pipeline of them or a ``ColumnTransformer``.
    table : Table
        What it receives.

    Returns
    -------
    table : Table
        Numbers, unless the step hands texts on.
    """
    if isinstance(step, Pipeline):
        for _, each in step.steps:
            table = add_step(graph, each, table)
        return table
    if step in (None, "passthrough") or (
        isinstance(step, FunctionTransformer) and step.func is None
    ):
        return table
    if isinstance(step, ColumnTransformer):
        return Table(_side_by_side(graph, step, table))
    if isinstance(step, OneHotEncoder):
        return Table(_one_hot(graph, step, table))
    if isinstance(step, SimpleImputer):
        return Table(_filled(graph, step, table.features))
    if type(step) in _CONVERTED:
        return Table(_converted(graph, step, table.features))
    able = ", ".join(sorted(kind.__name__ for kind in (*_CONVERTED, OneHotEncoder, SimpleImputer)))
    raise CannotExportError(
        f"The step {type(step).__name__} cannot be exported. Steps that can: {able}."
    )


# Columns -------------------------------------------------------------------------------------


def parts_of(step: ColumnTransformer) -> Iterator[tuple[Any, np.ndarray, float]]:
    """Yield the transformers, the numbers of their columns and their weights."""
    position = {name: k for k, name in enumerate(getattr(step, "feature_names_in_", ()))}
    weights = step.transformer_weights or {}
    for name, part, columns in step.transformers_:
        if not isinstance(columns, slice):
            columns = [position.get(each, each) for each in np.atleast_1d(columns).tolist()]
        chosen = np.arange(step.n_features_in_)[columns]
        if len(chosen) and not (isinstance(part, str) and part == "drop"):
            yield part, chosen, float(weights.get(name, 1.0))


def _side_by_side(graph: Graph, step: ColumnTransformer, table: Table) -> str:
    blocks = []
    for part, columns, weight in parts_of(step):
        block = add_step(graph, part, table.take(graph, columns)).features
        blocks.append(block if weight == 1 else graph.node("Mul", block, weight))
    return graph.node("Concat", *blocks, axis=1)


# Categories ----------------------------------------------------------------------------------


def _one_hot(graph: Graph, encoder: OneHotEncoder, table: Table) -> str:
    """Look up, column by column, what every category adds to the zeros and ones.

    The encoder itself says what its output is for the first category of every column and how it
    changes with another one. So rare categories, dropped ones and unknown ones are treated as the
    encoder does.
    """
    if table.texts is None or not all(table.is_text):
        raise CannotExportError(
            "A OneHotEncoder of numbers cannot be exported. Give it texts, or leave the numbers as "
            "they are."
        )
    first = np.array([[found[0] for found in encoder.categories_]], dtype=object)
    base = _encoded(encoder, first)[0]
    changes = []
    for column, found in enumerate(encoder.categories_):
        if not all(isinstance(category, str) for category in found):
            raise CannotExportError(
                "A OneHotEncoder with missing categories cannot be exported. Replace them "
                "by an empty text."
            )
        rows = np.repeat(first, len(found) + 1, axis=0)
        rows[:, column] = [*found, _unseen(found)]
        known = _encoded(encoder, rows[:-1]) - base
        # Where the encoder would raise an error, the scores become "not a number".
        last = np.full((1, len(base)), np.nan)
        if encoder.handle_unknown != "error":
            last = _encoded(encoder, rows[-1:]) - base
        changes.append(np.vstack([known, last]))
    # Each column of the table has its own columns of zeros and ones, one after the other.
    starts: list[int] = []
    ends = [len(base)]
    for change in reversed(changes):
        varied = np.flatnonzero(np.any(np.nan_to_num(change) != 0, axis=0))
        starts.insert(0, int(varied[0]) if len(varied) else ends[0])
        ends.insert(0, starts[0])
    starts[0] = 0
    blocks = []
    for column, (start, end) in enumerate(zip(starts, ends[1:])):
        if start == end:
            continue
        block = np.ascontiguousarray(changes[column][:, start:end], dtype=np.float32)
        number = graph.node(
            "LabelEncoder",
            graph.node("Gather", table.texts, np.array(column), axis=1),
            domain=ML_DOMAIN,
            keys_strings=[str(category) for category in encoder.categories_[column]],
            values_int64s=list(range(len(encoder.categories_[column]))),
            default_int64=len(encoder.categories_[column]),
        )
        blocks.append(graph.node("Gather", block, number, axis=0))
    return graph.node("Add", graph.node("Concat", *blocks, axis=1), base)


def _encoded(encoder: OneHotEncoder, rows: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        # Rows without column names, and a category that is meant to be unknown.
        warnings.simplefilter("ignore", UserWarning)
        encoded = encoder.transform(rows)
    return np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded, np.float64)


def _unseen(categories: np.ndarray) -> str:
    """Return a text that is none of the categories."""
    return max(map(str, categories), key=len) + "?"


# Numbers -------------------------------------------------------------------------------------


def _filled(graph: Graph, imputer: SimpleImputer, numbers: str) -> str:
    of_texts = any(isinstance(value, str) for value in imputer.statistics_)
    if of_texts or not _is_nan(imputer.missing_values):
        raise CannotExportError(
            "A SimpleImputer can be exported only if it replaces NaN by numbers. Use NaN for "
            "missing numbers and an empty text for missing categories."
        )
    statistics = imputer.statistics_.astype(np.float64)
    is_missing = graph.node("IsNaN", numbers)
    filled = graph.node("Where", is_missing, np.nan_to_num(statistics), numbers)
    if np.isnan(statistics).any():
        # A column without any value in training is left out.
        filled = graph.columns(filled, np.flatnonzero(~np.isnan(statistics)))
    if imputer.indicator_ is None:
        return filled
    marks = graph.cast(graph.columns(is_missing, imputer.indicator_.features_), np.float64)
    return graph.node("Concat", filled, marks, axis=1)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isnan(value))


def _converted(graph: Graph, step: Any, numbers: str) -> str:
    purpose = f"Exporting the step {type(step).__name__}"
    skl2onnx = required("skl2onnx", "onnx", purpose)
    types = required("skl2onnx.common.data_types", "onnx", purpose)
    model = skl2onnx.to_onnx(
        step,
        initial_types=[("numbers", types.DoubleTensorType([None, step.n_features_in_]))],
        target_opset={"": OPSET, ML_DOMAIN: ML_OPSET},
    )
    return graph.absorb(model, numbers)
