"""The paper's figures 3 to 6, from models fitted here.

Each function returns a matplotlib figure and the sentence that belongs under it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from splmll.datasets import Dataset
from splmll.experiments.protocol import standard_split
from splmll.landmarks import SPLMLL
from splmll.plots import (
    ConvergenceDisplay,
    LabelCompanyDisplay,
    PredictionsDisplay,
    SelectionDisplay,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The paper: with "amazed" 56% of the songs are also "angry", and so on.
PRINTED_COMPANY = {
    ("amazed-suprised", "angry-aggresive"): 0.56,
    ("quiet-still", "relaxing-calm"): 0.70,
    ("quiet-still", "sad-lonely"): 0.71,
}
EXAMPLE_ROWS = 8


def selection_figure(
    datasets: list[Dataset], models: list[SPLMLL], seed: int = 0
) -> tuple[Figure, str]:
    """Draw B of Algorithm 1 on each data set (Figure 3), and that of the exact solver below.

    Parameters
    ----------
    datasets : list of Dataset
        The paper shows emotions and scene.
    models : list of SPLMLL
        Fitted by the exact solver on the training rows of each.
    seed : int, default=0
        Seed of Algorithm 1.

    Returns
    -------
    figure : Figure
    caption : str
    """
    figure, grid = _panels(2, len(datasets), 4.4, 3.6)
    strongest = []
    for data, exact, (above, below) in zip(datasets, models, grid.T):
        X, Y, _, _ = parts(data, seed)
        names = np.array(data.label_names)
        # With a diagonal B there would be nothing to see beside the diagonal.
        published = SPLMLL.as_published(full_selection=True, random_state=seed).fit(X, Y)
        SelectionDisplay.from_estimator(published, label_names=data.label_names, ax=above)
        above.set_title(f"{data.name}: Algorithm 1")
        SelectionDisplay.from_estimator(exact, label_names=data.label_names, ax=below)
        below.set_title(f"{data.name}: exact, out of fold")
        first, second = names[np.argsort(-exact.selection_)[:2]]
        strongest.append(f"{first} and {second} on {data.name}")
    return figure, (
        "The selection matrix B. Above: Algorithm 1 with the published settings, not projected to "
        "its diagonal. The training error of the network falls to zero there, every label looks "
        "predictable, and all of them become landmarks alike. Below: the exact solver, which "
        "judges labels by predictions out of fold; its strongest landmarks are "
        f"{', '.join(strongest)}. The paper names Amazed and Quiet on emotions, FallFoliage and "
        "Field on scene."
    )


def company_figure(emotions: Dataset) -> tuple[Figure, str]:
    """Draw how often the paper's pairs of emotions stand together (Figure 4).

    Parameters
    ----------
    emotions : Dataset
        All rows of it are counted.

    Returns
    -------
    figure : Figure
    caption : str
    """
    pairs = list(PRINTED_COMPANY)
    display = LabelCompanyDisplay.from_labels(emotions.Y, pairs, emotions.label_names)
    compared = [
        f"{other} given {given}: counted {share:.0%}, printed {printed:.0%}"
        for ((given, other), printed), share in zip(PRINTED_COMPANY.items(), display.shares)
    ]
    return display.figure_, (
        f"Rows with one label, with and without another, in all {emotions.Y.shape[0]} rows of "
        f"emotions. {'; '.join(compared)}."
    )


def predictions_figure(data: Dataset, model: Any, seed: int = 0) -> tuple[Figure, str]:
    """Draw some test rows with their predicted labels (Figure 5).

    Parameters
    ----------
    data : Dataset
        Pictures are shown where it has them, otherwise the features of the rows.
    model : SPLMLL
        Fitted on the training rows of ``parts(data, seed)``.
    seed : int, default=0
        Seed of the draw of rows.

    Returns
    -------
    figure : Figure
    caption : str
    """
    _, _, X_test, Y_test = parts(data, seed)
    labelled = np.flatnonzero(np.asarray(Y_test.sum(axis=1)).ravel() > 0)
    n_shown = min(EXAMPLE_ROWS, len(labelled))
    drawn = np.sort(np.random.default_rng(seed).choice(labelled, n_shown, replace=False))
    rows = X_test[drawn]
    pictures = rows
    if data.image_shape is not None:
        pictures = np.asarray(rows).reshape(-1, *data.image_shape)
    display = PredictionsDisplay.from_estimator(
        model, rows, Y_test[drawn], pictures=pictures, label_names=data.label_names
    )
    shown = "pictures" if data.image_shape is not None else "rows (the curve is its features)"
    return display.figure_, (
        f"{n_shown} test {shown} of {data.name}, drawn by chance with seed {seed}: landmarks "
        "predicted rightly red, other labels predicted rightly green, missed ones grey, wrong ones "
        "black."
    )


def convergence_figure(datasets: list[Dataset], seed: int = 0) -> tuple[Figure, str]:
    """Draw all terms of the objective against the epochs of Algorithm 1 (Figure 6).

    Parameters
    ----------
    datasets : list of Dataset
        The paper shows emotions, yeast and tmc2007.
    seed : int, default=0
        Seed of the fits.

    Returns
    -------
    figure : Figure
    caption : str
    """
    figure, grid = _panels(1, len(datasets), 4.6, 3.4)
    epochs = []
    for data, ax in zip(datasets, grid[0]):
        X, Y, _, _ = parts(data, seed)
        model = SPLMLL.as_published(random_state=seed).fit(X, Y)
        ConvergenceDisplay.from_estimator(model, ax=ax)
        ax.set_title(data.name)
        epochs.append(f"{data.name} {len(model.objective_)}")
    return figure, (
        "The terms of the objective and their sum in Algorithm 1 with the published settings. "
        f"Epochs until it stopped: {', '.join(epochs)}."
    )


def parts(data: Dataset, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Return the parts of the held-out protocol.

    Parameters
    ----------
    data : Dataset
        The data set.
    seed : int, default=0
        Seed of the draw of test rows where it has no standard split.

    Returns
    -------
    X, Y, X_test, Y_test : array or sparse array

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.experiments.figures import parts
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> data = Dataset(X, (X > 20).astype(int), ["x"], ["large"])
    >>> [len(part) for part in parts(data)]
    [36, 36, 4, 4]
    """
    train, test = standard_split(data, seed)
    return replace(data, train=train, test=test).split()


def _panels(n_rows: int, n_columns: int, width: float, height: float) -> tuple[Figure, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(
        n_rows,
        n_columns,
        figsize=(width * n_columns, height * n_rows),
        layout="constrained",
        squeeze=False,
    )
