"""The scikit-learn pipeline that fits the columns of a data set.

Texts become weighted words, categories columns of zeros and ones, numbers are filled in and
scaled; a matrix of numbers without columns goes straight to the method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from splmll.datasets import Dataset
from splmll.experiments.contestants import CONTESTANTS
from splmll.landmarks import SPLMLL
from splmll.names import known_name
from splmll.tagging.settings import check_device, checked_settings

DEFAULT_METHOD = "SPL-MLL"
# The linear embedding factorises a square matrix with a row for every word.
MOST_WORDS = 2000
MOST_CATEGORIES = 200
# A word of a single row teaches nothing about others; a small table has few words to lose.
MIN_ROWS_TO_DROP_WORDS = 100
# With more rows networks take long, and a linear map is learned in one pass.
MOST_NETWORK_ROWS = 20_000
# With more features the linear embedding needs more memory than networks do.
MOST_LINEAR_FEATURES = 5000


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
) -> Pipeline:
    """Return the pipeline for a data set, not yet fitted.

    ``"SPL-MLL"`` chooses its embedding: linear for texts, for other sparse features and for more
    than 20,000 rows (unless there are more than 5000 features), else the network.

    Parameters
    ----------
    data : Dataset
        Its columns decide about the first step.
    method : str, default="SPL-MLL"
        A name of :data:`splmll.experiments.contestants.CONTESTANTS`; upper and lower case are the
        same.
    n_landmarks : int, optional
        Number of landmarks, for methods that have them.
    threshold : float or str, optional
        When a score becomes a label, see :mod:`splmll.thresholds`; by default the method's rule.
    random_state : int, default=0
        Seed.
    n_jobs : int, optional
        How much the method does at the same time, where it can.
    device : str, optional
        Where networks are trained: "cpu", "cuda", "auto" for a GPU where there is one.
    settings : mapping of str to Any, optional
        Other parameters of the method by name, such as ``{"lambda1": 0.2}``.

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
    estimator = CONTESTANTS[name].make()
    choices: dict[str, Any] = {
        "random_state": random_state,
        "n_jobs": n_jobs,
        "n_landmarks": n_landmarks,
        "threshold": threshold,
    }
    there = estimator.get_params(deep=False)
    if n_landmarks is not None and "n_landmarks" not in there:
        with_landmarks = [
            name for name in CONTESTANTS if "n_landmarks" in CONTESTANTS[name].make().get_params()
        ]
        raise ValueError(
            f"The method {name} has no landmarks to count; leave their number out, or take one of "
            f"{', '.join(with_landmarks)}."
        )
    if isinstance(estimator, SPLMLL):
        if name == DEFAULT_METHOD and _suits_linear(data):
            choices["embedding"] = "linear"
        # The weights of words say how much each counts; scaling would make rare ones the largest.
        choices["scale"] = "text" not in data.column_kinds.values()
    given = {key: value for key, value in choices.items() if key in there and value is not None}
    estimator.set_params(**given)
    estimator.set_params(**checked_settings(estimator, name, settings or {}))
    if device is not None:
        check_device(device)
        _set_device(estimator, name, device)
    if not data.column_kinds:
        return Pipeline([("method", estimator)])
    return Pipeline([("columns", _columns(data)), ("method", estimator)])


def known_method(name: str) -> str:
    """Return the name of a method as it is written.

    Examples
    --------
    >>> from splmll.tagging.pipeline import known_method
    >>> known_method("spl-mll (linear)")
    'SPL-MLL (linear)'
    """
    return known_name(name, CONTESTANTS, "method", "The command `splmll methods` lists them.")


def _set_device(estimator: Any, name: str, device: str) -> None:
    """Hand the device to whatever trains networks, in the method or in a part of it."""
    parameters = [each for each in estimator.get_params() if each.split("__")[-1] == "device"]
    # Of SPL-MLL's own embeddings these two are solved by linear algebra.
    without_network = isinstance(estimator, SPLMLL) and estimator.embedding in ("linear", "kernel")
    if (without_network or not parameters) and device not in ("auto", "cpu"):
        kind = f"{name} with its {estimator.embedding} embedding" if without_network else name
        remedy = (
            "leave out --device, or ask for the network with --set embedding=mlp"
            if without_network
            else "leave out --device"
        )
        raise ValueError(f"{kind} trains no network, so it has no use for {device!r}; {remedy}.")
    if parameters:
        estimator.set_params(**dict.fromkeys(parameters, device))


def _suits_linear(data: Dataset) -> bool:
    n_rows, n_features = data.X.shape
    wide = "text" in data.column_kinds.values() or sparse.issparse(data.X)
    return (wide or n_rows > MOST_NETWORK_ROWS) and n_features <= MOST_LINEAR_FEATURES


def _columns(data: Dataset) -> ColumnTransformer:
    of_kind: dict[str, list[str]] = {"text": [], "categorical": [], "numeric": []}
    for name, kind in data.column_kinds.items():
        of_kind[kind].append(name)
    few = data.X.shape[0] < MIN_ROWS_TO_DROP_WORDS
    steps: list[tuple[str, Any, Any]] = [
        # A vectorizer takes one column: its words are not those of another.
        (
            f"text {number}",
            TfidfVectorizer(
                strip_accents="unicode",
                sublinear_tf=True,
                min_df=1 if few else 2,
                max_features=MOST_WORDS,
            ),
            name,
        )
        for number, name in enumerate(of_kind["text"])
    ]
    if of_kind["categorical"]:
        encoder = OneHotEncoder(
            max_categories=MOST_CATEGORIES, handle_unknown="infrequent_if_exist"
        )
        steps.append(("categorical", encoder, of_kind["categorical"]))
    if of_kind["numeric"]:
        fill = SimpleImputer(strategy="median", keep_empty_features=True)
        steps.append(("numeric", make_pipeline(fill, StandardScaler()), of_kind["numeric"]))
    return ColumnTransformer(steps)
