"""Checks of particular classes that take more than a line of the table.

Each looks at what one compiled routine will trust: LIBSVM, the trees, the neighbour searches and
the text vectorizers of scikit-learn, the layers of torch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from splmll.persistence.checking import (
    LARGEST_INDEX,
    Check,
    Sizes,
    are_indices,
    is_whole,
    require,
    whole,
)

# Settings that make a layer of a network larger than this are no settings of a model.
_LARGEST_LAYER = 2**16

# A run of characters of which only the last repeats, between ends of words or of the text: the time
# to search a text for it grows at most with the square of its longest run. Everything that can take
# exponential time needs a repetition within a repetition, or several in a row.
_CHARACTER = r"(?:\\[wWdDsS\W]|\[\^?(?:\\.|[^\]\\])+\]|[\w\s.,;:!?#@&%=<>~`'\"/-])"
_EDGE = r"(?:\\b|\^|\$)?"
_RUN = rf"{_EDGE}{_CHARACTER}{{1,40}}(?:[+*]|\{{\d{{1,2}}(?:,\d{{0,2}})?\}})?{_EDGE}"
SIMPLE_PATTERN = re.compile(rf"(?:\(\?[aiu]+\))?{_RUN}(?:\|{_RUN}){{0,9}}")


def simple_pattern(*attributes: str) -> Check:
    """Regular expressions that cannot take forever."""

    def check(value: Any, sizes: Sizes) -> None:
        for name in attributes:
            pattern = getattr(value, name, None)
            if pattern is not None:
                require(
                    isinstance(pattern, str) and SIMPLE_PATTERN.fullmatch(pattern),
                    f"{name} of {type(value).__name__} is {pattern!r:.100}. Only simple patterns, "
                    "a run of characters of which the last may repeat, are kept in a model file: "
                    "others can take forever. Use such a pattern, or a tokenizer of your own that "
                    "you pass as trusted",
                )

    return check


def vocabulary(vectorizer: Any, sizes: Sizes) -> None:
    """The words have the numbers 0, 1, 2 and so on: rows are built from them unseen."""
    found = getattr(vectorizer, "vocabulary_", None)
    if found is None:
        return
    require(isinstance(found, dict) and len(found) > 0, "a vocabulary is empty")
    # There may be millions: no function of ours is called for each.
    kinds = set(map(type, found.values()))
    whole_numbers = all(issubclass(kind, (int, np.integer)) for kind in kinds)
    counting = whole_numbers and sorted(found.values()) == list(range(len(found)))
    require(counting, "the numbers of a vocabulary do not count")
    names = getattr(vectorizer, "feature_names_", None)
    require(names is None or len(names) == len(found), "a vocabulary has other words than names")
    sizes["k"] = len(found)


def categories(encoder: Any, sizes: Sizes) -> None:
    """Codes are places in a row, so they stay below the width that is set aside for them."""
    found = getattr(encoder, "categories_", None)
    if found is None:
        return
    require(isinstance(found, list) and len(found) == encoder.n_features_in_, "categories missing")
    for each in found:
        require(isinstance(each, np.ndarray) and each.ndim == 1 and len(each), "categories missing")
        _require_sorted(each)
    widths = [len(each) for each in found]
    if getattr(encoder, "_infrequent_enabled", False):
        rare, codes = encoder._infrequent_indices, encoder._default_to_infrequent_mappings
        require(len(rare) == len(codes) == len(found), "rare categories are missing")
        for k, (few, code) in enumerate(zip(rare, codes, strict=True)):
            if few is None:
                require(code is None, "rare categories do not fit together")
                continue
            require(
                are_indices(few, widths[k]) and np.shape(code) == (widths[k],),
                "rare categories do not fit together",
            )
            widths[k] -= len(few) - 1
            require(are_indices(code, widths[k]), "a rare category has a code that is none")
    for attribute, limits in (
        ("drop_idx_", [len(each) for each in found]),
        ("_drop_idx_after_grouping", widths),
    ):
        dropped = getattr(encoder, attribute, None)
        if dropped is not None:
            require(len(dropped) == len(found), "dropped categories do not fit together")
            known = (d is None or is_whole(d, 0, n - 1) for d, n in zip(dropped, limits))
            require(all(known), "a dropped category is none")
    if hasattr(encoder, "_n_features_outs"):
        dropped = getattr(encoder, "_drop_idx_after_grouping", None)
        gone = [
            0 if dropped is None or d is None else 1
            for d in (dropped if dropped is not None else found)
        ]
        require(
            list(encoder._n_features_outs) == [n - g for n, g in zip(widths, gone, strict=True)],
            "the columns of an encoder do not fit its categories",
        )
        sizes["k"] = sum(encoder._n_features_outs)


def _require_sorted(categories: np.ndarray) -> None:
    """Numbers are looked up by bisection, which leads beyond the end of what is not sorted."""
    numbers = [
        each
        for each in categories.tolist()
        if isinstance(each, (bool, int, float)) and each == each
    ]
    in_order = all(a < b for a, b in pairwise(numbers))
    require(in_order, "categories that are numbers are not sorted")
    if categories.dtype.kind == "f":
        require(not np.isnan(categories[:-1]).any(), "categories that are numbers are not sorted")


def polynomial(features: Any, sizes: Sizes) -> None:
    """The columns set aside are those of the degree."""
    if not hasattr(features, "_n_out_full"):
        return
    n, low, high = features.n_features_in_, features._min_degree, features._max_degree
    require(is_whole(low, 0, 64) and is_whole(high, low, 64), "a polynomial has no degree")
    ways = math.comb if features.interaction_only else (lambda n, d: math.comb(n + d - 1, d))
    full = sum(ways(n, d) for d in range(1, high + 1)) + bool(features.include_bias)
    skipped = sum(ways(n, d) for d in range(1, low)) if low > 1 else 0
    fits = features._n_out_full == full and features.n_output_features_ == full - skipped
    require(fits, "the features of a polynomial do not match its degree")


def decision_tree(estimator: Any, sizes: Sizes) -> None:
    """The tree has the features and outputs of its estimator; its nodes were checked when read."""
    tree: Any = getattr(estimator, "tree_", None)
    if tree is None:
        return
    require(_is_tree(tree), "a decision tree is none")
    fits = tree.n_features == estimator.n_features_in_ and tree.n_outputs == estimator.n_outputs_
    require(fits, "a decision tree does not fit its features or outputs")


def _is_tree(tree: Any) -> bool:
    return (type(tree).__module__, type(tree).__name__) == ("sklearn.tree._tree", "Tree")


def forest(forest: Any, sizes: Sizes) -> None:
    """A forest hands rows to its trees without asking them whether they fit."""
    trees = getattr(forest, "estimators_", None)
    if trees is None:
        return
    require(isinstance(trees, list) and trees, "a forest has no trees")
    for each in trees:
        tree: Any = getattr(each, "tree_", None)
        fits = _is_tree(tree) and tree.n_features == forest.n_features_in_ == each.n_features_in_
        require(fits and tree.n_outputs == forest.n_outputs_, "a forest does not fit its trees")


def support_vectors(machine: Any, sizes: Sizes) -> None:
    """LIBSVM copies as many numbers as other numbers say."""
    if not hasattr(machine, "support_vectors_"):
        return
    support, vectors, coef = machine.support_, machine.support_vectors_, machine._dual_coef_
    require(isinstance(support, np.ndarray) and support.ndim == 1, "support vectors are missing")
    n_vectors, classifies = len(support), hasattr(machine, "classes_")
    n_classes = len(machine.classes_) if classifies else 2
    n_pairs = n_classes * (n_classes - 1) // 2
    n_rows = machine.shape_fit_[0]
    require(n_vectors > 0 and are_indices(support, n_rows), "support vectors are not training rows")
    require(
        sparse.issparse(vectors) == sparse.issparse(coef) == bool(machine._sparse),
        "support vectors are half sparse",
    )
    if machine.kernel != "precomputed":
        wanted = (n_vectors, machine.n_features_in_)
        require(vectors.shape == wanted, "support vectors have a wrong shape")
    else:
        require(machine.n_features_in_ == n_rows, "support vectors have a wrong shape")
    require(coef.shape == (n_classes - 1, n_vectors), "coefficients of support vectors are missing")
    if sparse.issparse(coef):
        # LIBSVM takes the stored numbers for all of them, row by row.
        whole_rows = np.tile(np.arange(n_vectors), n_classes - 1)
        filled = np.array_equal(coef.indices, whole_rows) and len(coef.data) == len(whole_rows)
        require(filled, "coefficients of support vectors are missing")
    require(
        np.shape(machine._intercept_) == (n_pairs,), "an intercept of support vectors is missing"
    )
    counts = machine._n_support
    whole_counts = np.shape(counts) == (n_classes,)
    if classifies:
        whole_counts = whole_counts and counts.min() >= 0 and counts.sum() == n_vectors
    require(whole_counts, "support vectors are missing")
    n_sigmoids = len(machine._probA)
    lengths_agree = np.shape(machine._probA) == np.shape(machine._probB) == (n_sigmoids,)
    require(lengths_agree and n_sigmoids in (0, n_pairs), "probabilities of support vectors fail")
    for name in ("probability", "_effective_probability"):
        asked = getattr(machine, name, False)
        # Where it is asked for, as many numbers are read as there are pairs of classes.
        told = asked is True and classifies and n_sigmoids == n_pairs
        require(told or asked is False or asked == "deprecated", "probabilities without numbers")


def neighbours(model: Any, sizes: Sizes) -> None:
    """As many rows and targets as said, and targets that are classes."""
    rows = getattr(model, "_fit_X", None)
    if rows is None:
        return
    require(model.n_samples_fit_ == rows.shape[0], "rows of a neighbour search are missing")
    words = {"auto", "kd_tree", "ball_tree", "brute"}
    require(getattr(model, "_fit_method", "brute") in words, "a neighbour search has no method")
    values, classes = getattr(model, "_y", None), getattr(model, "classes_", None)
    if values is None:
        return
    require(values.shape[0] == rows.shape[0], "rows of a neighbour search have no target")
    if classes is not None:
        several = isinstance(classes, list)
        columns = values.reshape(len(values), -1)
        known = classes if several else [classes]
        require(columns.shape[1] == len(known), "a neighbour search has other outputs")
        fits = (are_indices(columns[:, k], len(each)) for k, each in enumerate(known))
        require(all(fits), "a neighbour search has a class that is none")


def pipeline(pipeline: Any, sizes: Sizes) -> None:
    """Where it is known how wide the output of a step is, the next one takes that many."""
    steps = pipeline.steps
    named = all(isinstance(step, tuple) and len(step) == 2 for step in steps)
    require(isinstance(steps, list) and named, "a pipeline has no steps")
    made = [step for _, step in steps if step is not None and step != "passthrough"]
    for step, following in pairwise(made):
        width, taken = _width(step), getattr(following, "n_features_in_", None)
        fits = width is None or taken is None or width == taken
        require(
            fits, f"a {type(step).__name__} gives {width} features, the next step takes {taken}"
        )


def _width(step: Any) -> int | None:
    """Return how many features a step gives, None where that is not known from its class."""
    cls = type(step)
    known = _WIDTHS.get(cls.__name__) if cls.__module__.startswith("sklearn.") else None
    try:
        return None if known is None else known(step)
    except AttributeError:  # not fitted
        return None


def _as_many(step: Any) -> int:
    return int(step.n_features_in_)


def _one_for_each_word(step: Any) -> int:
    return len(step.vocabulary_)


def _one_for_each_component(step: Any) -> int:
    return len(step.components_)


_WIDTHS: dict[str, Callable[[Any], int]] = {
    "Binarizer": _as_many,
    "MaxAbsScaler": _as_many,
    "MinMaxScaler": _as_many,
    "Normalizer": _as_many,
    "OrdinalEncoder": _as_many,
    "PowerTransformer": _as_many,
    "QuantileTransformer": _as_many,
    "RobustScaler": _as_many,
    "StandardScaler": _as_many,
    "TfidfTransformer": _as_many,
    "CountVectorizer": _one_for_each_word,
    "DictVectorizer": _one_for_each_word,
    "TfidfVectorizer": _one_for_each_word,
    "NMF": _one_for_each_component,
    "Nystroem": _one_for_each_component,
    "PCA": _one_for_each_component,
    "TruncatedSVD": _one_for_each_component,
    "OneHotEncoder": lambda step: sum(step._n_features_outs),
    "PolynomialFeatures": lambda step: int(step.n_output_features_),
    "KMeans": lambda step: len(step.cluster_centers_),
}


def layer(layer: Any, sizes: Sizes) -> None:
    """Tensors are checked by torch when they are used; sizes that no model has are not."""
    for name, value in vars(layer).items():
        items = value if isinstance(value, (list, tuple)) else [value]
        for item in items:
            if isinstance(item, int):
                require(
                    abs(item) <= LARGEST_INDEX, f"{name} of {type(layer).__name__} is too large"
                )


def embedding_layer(layer: Any, sizes: Sizes) -> None:
    """As many rows as it says."""
    rows = layer.weight.shape[0]
    require(rows == layer.num_embeddings, "an embedding has other rows than it says")


LAYER_SIZES = whole(
    kernel_size=(1, _LARGEST_LAYER),
    stride=(1, _LARGEST_LAYER),
    dilation=(1, _LARGEST_LAYER),
    groups=(1, _LARGEST_LAYER),
    num_groups=(1, _LARGEST_LAYER),
    output_size=(1, _LARGEST_LAYER),
    output_padding=(0, _LARGEST_LAYER),
    _reversed_padding_repeated_twice=(0, _LARGEST_LAYER),
)


def padding(layer: Any, sizes: Sizes) -> None:
    """Sizes, or the two words of torch."""
    padding = layer.padding
    for item in padding if isinstance(padding, (list, tuple)) else [padding]:
        known = item in ("same", "valid") or is_whole(item, 0, _LARGEST_LAYER)
        require(known, f"the padding of a {type(layer).__name__} is {item!r}")


def splmll_model(model: Any, sizes: Sizes) -> None:
    """The landmarks are those of its labels."""
    learned, n_labels = getattr(model, "learned_", None), sizes.get("c")
    if learned is not None and n_labels is not None:
        fits = learned.map.intercept.shape == (n_labels,)
        require(fits, "the landmarks of a model do not match its labels")


def stacked(learners: Any, sizes: Sizes) -> None:
    """As many rows of weights as label sets."""
    require(learners.intercept.size == sizes["k"], "label sets have other learners")


def forgotten_cache(binarizer: Any, sizes: Sizes) -> None:
    """What is made from the classes is not read from a file."""
    require(getattr(binarizer, "_cached_dict", None) is None, "a file cannot hold a cache")
