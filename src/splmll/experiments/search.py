"""The search for a method's settings within the training rows, with one budget for all methods.

What is tried is written in the ``search_space`` of a compared method's class, and here for SPL-MLL;
how many of it and by which measure it is judged is the same for every method of an experiment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from math import prod
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import Pipeline

from splmll.landmarks import SPLMLL
from splmll.metrics import SCORERS
from splmll.model_selection import MultilabelStratifiedKFold, ThresholdTuner

KINDS = ("none", "grid")

# SPL-MLL chooses pull and number of landmarks out of fold by itself. What is left are the kind of
# embedding, or the settings of one that was given as an object, and by which measure it chooses.
SPL_MLL_SPACE: dict[str, Sequence[Any]] = {
    "embedding": ("auto", "linear", "svm", "kernel", "mlp", "blend"),
    "scoring": ("average_precision", "ranking_loss", "micro_f1"),
    "n_landmarks": (None, 0.5, 0.75, 1.0),
    "embedding__dropout": (0.0, 0.2, 0.5),
    "embedding__learning_rate": (3e-4, 1e-3, 3e-3),
    "embedding__ridge": (1e-3, 1e-2, 1e-1, 1.0),
}

Settings = dict[str, Any]


@dataclass(frozen=True)
class Search:
    """How settings are searched for.

    Parameters
    ----------
    kind : {"none", "grid"}, default="none"
        Not at all; or every candidate on all training rows, by scikit-learn's ``GridSearchCV``.
    n_candidates : int, default=12
        How many settings are tried: those the method comes with, and others drawn from its
        search space.
    scoring : str, default="average_precision"
        The measure that decides, a key of :data:`splmll.metrics.SCORERS`.
    n_folds : int, default=3
        Inner folds, where the protocol sets no validation rows apart.
    parameters : tuple of str, default=()
        Vary these alone, such as ``("ridge",)``; by default all of a method's search space.

    Examples
    --------
    >>> from splmll.experiments.search import Search
    >>> print(Search("grid", n_candidates=8).describe())
    Settings by grid search: 8 candidates each, judged by average precision.
    """

    kind: str = "none"
    n_candidates: int = 12
    scoring: str = "average_precision"
    n_folds: int = 3
    parameters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"Unknown search {self.kind!r}: use one of {', '.join(KINDS)}.")
        if self.scoring not in SCORERS:
            raise ValueError(
                f"Unknown measure {self.scoring!r} to search by: use one of {', '.join(SCORERS)}."
            )
        if self.n_candidates < 1:
            raise ValueError(f"n_candidates must be at least 1, got {self.n_candidates!r}.")

    def describe(self) -> str:
        """Return the sentence that says in a caption what was done."""
        if self.kind == "none":
            return "Every method with its default settings."
        names = " and ".join(self.parameters)
        what = f"The {names} of methods that have one" if names else "Settings"
        return (
            f"{what} by grid search: {self.n_candidates} candidates each, judged by "
            f"{self.scoring.replace('_', ' ')}."
        )


def choose_settings(
    search: Search, model: Any, X: Any, Y: Any, *, n_validation: int = 0, seed: int = 0
) -> Settings:
    """Return the best of the settings that the budget allows to try.

    The model is not fitted; the settings are for its ``set_params``, none where there is nothing to
    search. Of the rows the last `n_validation` judge; without any, inner folds of all rows do.
    """
    space = search_space(model)
    if search.parameters:
        space = {
            name: values
            for name, values in space.items()
            if name.rpartition("method__")[2] in search.parameters
        }
    if search.kind == "none" or not space:
        return {}
    # Each candidate is a grid of a single point: the search takes a list of grids.
    grids = [
        {name: [value] for name, value in candidate.items()}
        for candidate in candidates(model, space, search.n_candidates, seed)
    ]
    found = GridSearchCV(
        model,
        grids,
        scoring=SCORERS[search.scoring],
        cv=_splitter(search, X.shape[0], n_validation, seed),
        refit=False,  # by the caller, on the training rows alone
        error_score=np.nan,  # a setting can be impossible for some data; it then loses
    ).fit(X, Y)
    return dict(found.best_params_)


def search_space(model: Any) -> dict[str, Sequence[Any]]:
    """Return what may be varied of the method inside a model, parameter by parameter.

    That is the ``search_space`` of its class; for SPL-MLL ``SPL_MLL_SPACE``. SPL-MLL as published
    stays as published. Left out are parameters that this model has not got, such as those of a base
    learner that it does without, and those that differ from their default: they were chosen on
    purpose.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from splmll.experiments.search import search_space
    >>> from splmll.methods import MLkNN
    >>> sorted(search_space(make_pipeline(MinMaxScaler(), MLkNN())))
    ['mlknn__n_neighbors', 'mlknn__scale']
    """
    prefix, method = _innermost(model)
    present = method.get_params(deep=True)
    space: Mapping[str, Sequence[Any]] = (
        SPL_MLL_SPACE if isinstance(method, SPLMLL) else getattr(method, "search_space", {})
    )
    return {
        prefix + name: values
        for name, values in space.items()
        if name in present and _is_default(name, present, method)
    }


def candidates(
    model: Any, space: Mapping[str, Sequence[Any]], n_candidates: int, seed: int
) -> list[Settings]:
    """Return different settings to try: those of the model first, then others of the space.

    Examples
    --------
    >>> from splmll.experiments.search import candidates
    >>> from splmll.methods import MLkNN
    >>> tried = candidates(MLkNN(), {"n_neighbors": [5, 10, 20]}, 9, seed=0)
    >>> tried[0], len(tried)
    ({'n_neighbors': 10}, 3)
    """
    present = model.get_params(deep=True)
    own = {name: present[name] for name in space}
    sizes = [len(values) for values in space.values()]
    tried = [own]
    # A product of small lists: its points can be numbered and drawn without replacement.
    for point in np.random.default_rng(seed).permutation(prod(sizes)):
        if len(tried) == n_candidates:
            break
        position = np.unravel_index(point, sizes)
        settings = {name: space[name][i] for name, i in zip(space, position)}
        if settings != own:
            tried.append(settings)
    return tried


def _splitter(search: Search, n_rows: int, n_validation: int, seed: int) -> Any:
    if n_validation == 0:
        return MultilabelStratifiedKFold(search.n_folds, random_state=seed)
    only_trained_on, only_fold = -1, 0
    fold_of = np.full(n_rows, only_trained_on)
    fold_of[n_rows - n_validation :] = only_fold
    return PredefinedSplit(fold_of)


def _innermost(model: Any) -> tuple[str, Any]:
    """Return the method inside pipelines and tuners, and what its parameters' names begin with."""
    prefix = ""
    while not hasattr(model, "search_space"):
        if isinstance(model, Pipeline):
            name, model = model.steps[-1]
            prefix += f"{name}__"
        elif isinstance(model, ThresholdTuner):
            model = model.estimator
            prefix += "estimator__"
        else:
            break
    return prefix, model


def _is_default(name: str, present: Mapping[str, Any], method: Any) -> bool:
    part, _, last = name.rpartition("__")
    owner = present[part] if part else method
    default = signature(type(owner).__init__).parameters[last].default
    return bool(present[name] is default or present[name] == default)
