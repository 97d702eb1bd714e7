"""The scikit-learn pipeline that fits the columns of a data set.

Texts become weighted words, categories columns of zeros and ones, numbers are filled in and
scaled; a matrix of numbers without columns goes straight to the method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from splmll.catalogue import CATALOGUE
from splmll.datasets import Dataset
from splmll.embeddings import automatic_embedding
from splmll.landmarks import SPLMLL
from splmll.names import known_name
from splmll.tagging.settings import check_device, checked_settings, embedding_as_object
from splmll.tagging.words import Words

DEFAULT_METHOD = "SPL-MLL"
MOST_CATEGORIES = 200
TEXT = "text"  # name of the step that makes words of texts


def build_pipeline(
    data: Dataset,
    method: str = DEFAULT_METHOD,
    *,
    n_landmarks: int | None = None,
    threshold: float | str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    device: str | None = None,
    settings: Mapping[str, Any] | None = None,
    words: Words | None = None,
) -> Pipeline:
    """Return the pipeline for a data set, not yet fitted.

    ``"SPL-MLL"`` chooses its embedding when it sees the features: linear classifiers for texts and
    other sparse features, a blend for dense ones (:mod:`splmll.embeddings.automatic`).

    Parameters
    ----------
    data : Dataset
        Its columns determine the first step.
    method : str, default="SPL-MLL"
        A name from :data:`splmll.catalogue.CATALOGUE`; case does not matter.
    n_landmarks : int, optional
        Number of landmarks, for methods that have them.
    threshold : float or str, optional
        The rule that turns scores into labels, see :mod:`splmll.thresholds`; by default the
        method's own.
    random_state : int, default=0
        Seed.
    n_jobs : int, optional
        Number of parallel jobs, if the method supports it.
    device : str, optional
        Where networks are trained: "cpu", "cuda", or "auto" for a GPU if there is one.
    settings : mapping of str to Any, optional
        Other parameters of the method by name, such as ``{"embedding": "mlp",
        "embedding.dropout": 0.2}``.
    words : Words, optional
        How texts become features; by default depends on their length.

    Returns
    -------
    pipeline : Pipeline
        Its last step is the method.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.tagging.pipeline import build_pipeline
    >>> data = Dataset(np.zeros((3, 1)), np.zeros((3, 1)), ["size"], ["big"],
    ...                column_kinds={"size": "numeric"})
    >>> build_pipeline(data, "ml-knn")[-1]
    MLkNN()
    """
    name = known_method(method)
    estimator = _make(name)
    choices: dict[str, Any] = {
        "random_state": random_state,
        "n_jobs": n_jobs,
        "n_landmarks": n_landmarks,
        "threshold": threshold,
    }
    there = estimator.get_params(deep=False)
    if n_landmarks is not None and "n_landmarks" not in there:
        with_landmarks = [
            name for name in CATALOGUE if "n_landmarks" in CATALOGUE[name].make().get_params()
        ]
        raise ValueError(
            f"The method {name} has no landmarks; leave out their number, or use one of "
            f"{', '.join(with_landmarks)}."
        )
    given = {key: value for key, value in choices.items() if key in there and value is not None}
    estimator.set_params(**given)
    estimator.set_params(**checked_settings(estimator, name, settings or {}))
    if device is not None:
        check_device(device)
        if not _chooses_later(estimator):
            _set_device(estimator, name, device)
    if not data.column_kinds:
        return Pipeline([("method", estimator)])
    return Pipeline([("columns", _columns(data, words or Words())), ("method", estimator)])


def known_method(name: str) -> str:
    """Return the name of a method as it is written.

    Examples
    --------
    >>> from splmll.tagging.pipeline import known_method
    >>> known_method("spl-mll (linear)")
    'SPL-MLL (linear)'
    """
    return known_name(name, CATALOGUE, "method", "The command `splmll methods` lists them.")


def place_networks(estimator: Any, name: str, device: str, features: Any, n_labels: int) -> None:
    """Hand the device to networks that are chosen by the features, with ``embedding="auto"``.

    Parameters
    ----------
    estimator : estimator
        The method, not fitted; its embedding becomes the one that suits the features.
    name : str
        Its name, for messages.
    device : str
        "cpu", "cuda", "auto" for a GPU where there is one.
    features : array, sparse matrix or DataFrame of shape (n_rows, n_features)
        What the method will learn from.
    n_labels : int
        Number of labels.
    """
    if _chooses_later(estimator):
        estimator.set_params(embedding=automatic_embedding(features, n_labels))
        _set_device(estimator, name, device)


def _make(name: str) -> Any:
    return CATALOGUE[name].make()


def _chooses_later(estimator: Any) -> bool:
    return isinstance(estimator, SPLMLL) and estimator.get_params(deep=False)["embedding"] == "auto"


def _set_device(estimator: Any, name: str, device: str) -> None:
    """Hand the device to whatever trains networks, in the method or in a part of it."""
    has_embedding = isinstance(estimator, SPLMLL)
    if has_embedding:
        embedding_as_object(estimator)
    parameters = [each for each in estimator.get_params() if each.split("__")[-1] == "device"]
    if not parameters and device not in ("auto", "cpu"):
        remedy = "leave out --device"
        if has_embedding:
            name = f"{name} with its embedding {type(estimator.embedding).__name__}"
            remedy += ", or choose the network with --set embedding=mlp"
        raise ValueError(
            f"{name} trains no network, so it cannot use the device {device!r}; {remedy}."
        )
    estimator.set_params(**dict.fromkeys(parameters, device))


def _columns(data: Dataset, words: Words) -> ColumnTransformer:
    of_kind: dict[str, list[str]] = {"text": [], "categorical": [], "numeric": []}
    for name, kind in data.column_kinds.items():
        of_kind[kind].append(name)
    steps: list[tuple[str, Any, Any]] = []
    if of_kind["text"]:
        steps.append((TEXT, words, of_kind["text"]))
    if of_kind["categorical"]:
        encoder = OneHotEncoder(
            max_categories=MOST_CATEGORIES, handle_unknown="infrequent_if_exist"
        )
        steps.append(("categorical", encoder, of_kind["categorical"]))
    if of_kind["numeric"]:
        fill = SimpleImputer(strategy="median", keep_empty_features=True)
        steps.append(("numeric", make_pipeline(fill, StandardScaler()), of_kind["numeric"]))
    # Words stay sparse however few there are: what suits them must not depend on that.
    return ColumnTransformer(steps, sparse_threshold=1.0 if of_kind["text"] else 0.3)


def without_words(pipeline: Pipeline, features: Any) -> np.ndarray | None:
    """Return which rows have no word that the pipeline knows; None if it takes no texts.

    Parameters
    ----------
    pipeline : Pipeline
        As :func:`build_pipeline` makes it, fitted.
    features : CSR array of shape (n_rows, n_features)
        What its steps before the method made of the rows.

    Returns
    -------
    rows : ndarray of bool of shape (n_rows,), or None
    """
    places = getattr(pipeline[0], "output_indices_", {})
    texts = [place for name, place in places.items() if name.startswith(TEXT)]
    if not texts:
        return None
    return np.all([_stored(features[:, place]) == 0 for place in texts], axis=0)


def _stored(features: Any) -> np.ndarray:
    """Return how many features of every row are not 0."""
    return np.diff(sparse.csr_array(features).indptr)
