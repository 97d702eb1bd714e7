"""Paragraphs that several docstrings share: written once, put in where a line names them.

A line of a docstring that has nothing but a name in braces, such as ``{threshold}``, stands for the
paragraph of that name, at the indentation of the line.
"""

from __future__ import annotations

import re
from inspect import isfunction
from textwrap import indent
from typing import Any, TypeVar

Documented = TypeVar("Documented")

# Entries with their names and types, or the texts of entries whose types and defaults differ.
PARAGRAPHS = {
    # Arguments and results of methods
    "X": """\
X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
    Features.""",
    "Y": """\
Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
    0/1 labels; a vector is one label.""",
    "fitted_self": """\
self : object
    The fitted estimator.""",
    "probabilities": """\
probabilities : ndarray of shape (n_rows, n_labels)
    Values between 0 and 1. For a vector ``y`` one column for each of its values.""",
    # Parameters of methods
    "base_learner": """\
None is logistic regression (``LogisticRegression(max_iter=1000)``) on standardised features; sparse
ones are left as they are. Your own base learner receives X as it is.""",
    "threshold": """\
A label is predicted if its score is at least the threshold. A name is a rule from
:data:`splmll.thresholds.RULES`, fitted on out-of-fold scores of the training data.""",
    "regressor": """\
Any regressor with scikit-learn's API, which is cloned. It receives X as it is. None is ridge
regression on standardised features; sparse ones are only centred.""",
    "ridge": """\
Penalty of the default regressor, above 0, as ``alpha`` of
:class:`sklearn.linear_model.Ridge`; a tiny number is nearly plain least squares.""",
    "scale": """\
scale : {"auto", "standard"} or None, default="auto"
    Whether to standardise the features. "auto" standardises dense features and leaves sparse
    ones, such as the weights of words, and dense ones that are nearly all zero, as they are.""",
    "scale_of_distances": """\
scale : {"auto", "minmax", "standard"} or None, default="auto"
    Divide every feature by its range in the training rows, by its standard deviation, or leave
    it.""",
    "standard_for_dense": """\
"auto" is "standard" for dense features and leaves sparse ones alone.""",
    "random_state": """\
random_state : int, RandomState instance or None, default=None
    Seed; the same seed gives the same model.""",
    "seed_of_kernel_rows": """\
random_state : int, RandomState instance or None, default=None
    Draws the rows of the kernel features; without effect up to 3,000 rows.""",
    "seed_of_folds": """\
random_state : int, RandomState instance or None, default=None
    Seed of the folds. The inner estimator keeps its own.""",
    "rows_to_split": """\
X : array-like with n_rows rows
    Only its length is looked at.
y : array, sparse matrix or DataFrame of shape (n_rows, n_labels)
    Labels, 0 or 1.
groups : array-like of shape (n_rows,), optional
    Rows of one group stay together. Sizes and label frequencies are then as even as the
    groups allow.""",
    "numerical_labels_": """\
reconstruction_ : CSR array of shape (n_rows, n_rows)
    The weights W.
numerical_labels_ : ndarray of shape (n_rows, n_labels)
    The numerical labels.
regression_ : SignRegression
    The fitted regression.
objective_ : ndarray of shape (n_steps,)
    Objective of the third step after each of its steps; it never rises.""",
    "jobs_of_search": """\
n_jobs : int or None, default=None
    Number of parallel jobs of the neighbour search.""",
    # Parameters of networks
    "learning_rate": """\
learning_rate : float, default=1e-3
    Step size of Adam.""",
    "max_epochs": """\
max_epochs : int, default=200
    Largest number of passes over the training rows.""",
    "patience": """\
Epochs without improvement on the held-out rows before training stops.""",
    "training": """\
learning_rate, weight_decay : float, default=1e-3, 1e-4
    Step size and weight decay of Adam.
batch_size : int or "auto", default="auto"
    Rows per step; "auto" is 64 up to 5000 rows and 256 beyond.
max_epochs : int, default=200
    Largest number of passes over the training rows.
patience : int, default=8
    Epochs without improvement on the held-out rows before training stops.""",
    "device": """\
device : str, default="auto"
    Where the network is trained: "cpu", "cuda", or "auto" for a GPU where there is one.""",
    # Parameters of estimators around others
    "inner_estimator": """\
It receives X as it was given, a DataFrame as a DataFrame. A ``sklearn.frozen.FrozenEstimator``
is not fitted again: what is learnt here then comes from its scores on all rows of ``fit``,
which should be rows it has not seen.""",
    "cv": """\
cv : int, splitter or iterable of (train, test), default=5
    Number of folds, stratified by labels and shuffled, or any splitter of scikit-learn.""",
    # Attributes
    "thresholds_": """\
thresholds_ : ndarray of shape (n_labels,)
    Threshold of each label; NaN if the rule has none.""",
    "scaler_": """\
scaler_ : StandardScaler or None
    The shared standardisation of the default base learner; None for sparse features.""",
    "feature_scale_": """\
feature_scale_ : FeatureScale
    Features are used as ``(X - shift) / scale`` with its ``shift`` and ``scale``.""",
    "regressor_of_codes_": """\
regressor_ : object
    The fitted regressor of the codes. The default one has ``coef_`` and ``intercept_`` for the
    features as given.""",
    "regressor_of_landmarks_": """\
regressor_ : object
    The fitted regressor of the landmarks.""",
    "label_mean_": """\
label_mean_ : ndarray of shape (n_labels,)
    Share of the training rows with each label.""",
    "names_": """\
label_names_in_ : ndarray of str
    Names of the labels, where Y was a DataFrame.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of str
    Names of the features, where X was a DataFrame.""",
    # Figures
    "ax": """\
ax : matplotlib Axes, optional
    Where to draw; by default a new figure.""",
    "estimator_with_landmarks": """\
estimator : SPLMLL, PublishedSPLMLL, Pipeline or search
    The fitted estimator, or a pipeline or a search around it.""",
    "label_names": """\
label_names : sequence of str, optional
    Names; by default those the estimator has seen, or the numbers of the labels.""",
    # Measures
    "true_and_predicted": """\
Y_true, Y_pred : array, sparse matrix or DataFrame of shape (n_rows, n_labels)
    True and predicted labels, 0 or 1. True ones may be NaN, not known: such cells take no part.""",
    "true_and_scores": """\
Y_true : array, sparse matrix or DataFrame of shape (n_rows, n_labels)
    True labels, 0 or 1, or NaN where not known: such labels are left out of the ranking.
scores : array or DataFrame of shape (n_rows, n_labels)
    Scores, larger for labels that are more likely to be relevant.""",
    "paper": """\
.. [1] J. Li, C. Zhang, P. Zhu, B. Wu, L. Chen, Q. Hu. SPL-MLL: Selecting Predictable Landmarks
   for Multi-Label Learning. ECCV 2020.""",
}

#: A line that names a paragraph.
PLACEHOLDER = re.compile(r"^([ \t]*)\{(\w+)\}[ \t]*$", re.MULTILINE)


def with_paragraphs(documented: Documented) -> Documented:
    """Put shared paragraphs into the docstring of a function, or of a class and its methods.

    Parameters
    ----------
    documented : function or class
        A decorated function or class.

    Returns
    -------
    documented : function or class
        The same one.

    Examples
    --------
    >>> from splmll.docstrings import with_paragraphs
    >>> @with_paragraphs
    ... def rank(X):
    ...     '''Rank the labels.
    ...
    ...     Parameters
    ...     ----------
    ...     {X}
    ...     '''
    >>> print(rank.__doc__.splitlines()[4].strip())
    X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
    """
    _substitute(documented)
    for each in vars(documented).values() if isinstance(documented, type) else ():
        method = getattr(each, "__func__", each)  # of a class method
        if isfunction(method):
            _substitute(method)
    return documented


def _substitute(documented: Any) -> None:
    # Python leaves docstrings out with -OO.
    if documented.__doc__ is not None:
        documented.__doc__ = PLACEHOLDER.sub(_paragraph, documented.__doc__)


def _paragraph(line: re.Match[str]) -> str:
    return indent(PARAGRAPHS[line[2]], line[1])
