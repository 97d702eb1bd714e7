"""A neural network as a scikit-learn regressor: several outputs, early stopping, no set-up.

With it, Deep CPLST is ``CPLST(regressor=NetworkRegressor())`` and Deep FaIE is
``FaIE(regressor=NetworkRegressor())``; the layers are those of the SPL-MLL paper.

References
----------
Li, Zhang, Zhu, Wu, Chen, Hu: SPL-MLL: selecting predictable landmarks for multi-label learning.
ECCV 2020.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import nn

from splmll.constraints import (
    COUNT,
    LAYER_SIZES,
    NOT_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    SHARE_BELOW_ONE,
    CheckedParameters,
)
from splmll.docstrings import with_paragraphs
from splmll.feature_scaling import SCALE_CONSTRAINT
from splmll.methods._centred_matrix import feature_scale
from splmll.neural import (
    Standardise,
    Training,
    forward,
    multilayer_perceptron,
    squared_error,
    train,
)

MIN_ROWS_TO_WATCH = 50  # fewer rows are all needed for training


@with_paragraphs
class NetworkRegressor(MultiOutputMixin, RegressorMixin, CheckedParameters):
    """Fully connected network with leaky ReLU, trained by squared error.

    Targets and dense features are standardised inside, so that neither of them needs attention
    whatever its size. A tenth of the rows is held back to decide when to stop, and the best
    weights are kept.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int, default=(512, 64)
        Units of the hidden layers; an empty tuple is a linear model.
    dropout : float, default=0.2
        Share of hidden units dropped in training, from 0 to below 1. More for few rows.
    {scale}
    {learning_rate}
    weight_decay : float, default=1e-4
        Weight decay of Adam.
    batch_size : int, default=64
        Rows per step.
    {max_epochs}
    patience : int, default=15
        {patience}
    validation_fraction : float, default=0.1
        Share of the rows held back, from 0 (none, all epochs are run) to below 1. None are held
        back from fewer than 50 rows.
    random_state : int, RandomState instance or None, default=None
        Seed of weights, batches and held-back rows. The same seed gives the same network.
    {device}

    Attributes
    ----------
    module_ : torch.nn.Module
        The trained network, from raw features to standardised targets.
    target_mean_, target_scale_ : ndarray of shape (n_outputs,)
        What turns its outputs into targets.
    loss_curve_ : list of float
        Mean squared error of the training rows after every epoch, summed over outputs.
    validation_loss_curve_ : list of float
        The same for the held-back rows; empty where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import NetworkRegressor
    >>> X = np.linspace(-2, 2, 200).reshape(-1, 1)
    >>> model = NetworkRegressor((32,), learning_rate=0.01, random_state=0).fit(X, np.abs(X[:, 0]))
    >>> bool(model.score(X, np.abs(X[:, 0])) > 0.9)  # no line could do that
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": [LAYER_SIZES],
        "dropout": [SHARE_BELOW_ONE],
        "scale": SCALE_CONSTRAINT,
        "learning_rate": [POSITIVE],
        "weight_decay": [NOT_NEGATIVE],
        "batch_size": [COUNT],
        "max_epochs": [COUNT],
        "patience": [COUNT],
        "validation_fraction": [SHARE_BELOW_ONE],
        "random_state": RANDOM_STATE,
        "device": [str],
    }

    module_: nn.Module
    target_mean_: np.ndarray
    target_scale_: np.ndarray
    loss_curve_: list[float]
    validation_loss_curve_: list[float]

    def __init__(
        self,
        hidden_layer_sizes: tuple[int, ...] = (512, 64),
        *,
        dropout: float = 0.2,
        scale: str | None = "auto",
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-4,
        batch_size: int = 64,
        max_epochs: int = 200,
        patience: int = 15,
        validation_fraction: float = 0.1,
        random_state: Any = None,
        device: str = "auto",
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.dropout = dropout
        self.scale = scale
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: Any) -> NetworkRegressor:
        """Train the network.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.
        y : array-like of shape (n_rows, n_outputs) or (n_rows,)
            Targets.

        Returns
        -------
        self : NetworkRegressor
            The fitted regressor.
        """
        self._validate_params()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            multi_output=True,
            y_numeric=True,
        )
        targets = y.reshape(len(y), -1).astype(np.float64)
        self._one_output = y.ndim == 1
        scaler = StandardScaler().fit(targets)
        self.target_mean_, self.target_scale_ = scaler.mean_, scaler.scale_
        rng = check_random_state(self.random_state)
        rows, watched = self._split(len(targets), rng)
        module, history = train(
            lambda: self._build(X, rows, targets.shape[1]),
            X,
            scaler.transform(targets),
            loss=squared_error,
            training=Training(
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                batch_size=self.batch_size,
                max_epochs=self.max_epochs,
                patience=self.patience,
            ),
            seed=int(rng.randint(np.iinfo(np.int32).max)),
            device=torch.device(self._device()),
            rows=rows,
            validation=watched,
        )
        self.module_ = nn.Sequential(_DoublePrecision(), module.double())
        self.loss_curve_ = [record["loss"] for record in history]
        self.validation_loss_curve_ = [
            record["validation_loss"] for record in history if "validation_loss" in record
        ]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return predicted targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.

        Returns
        -------
        y : ndarray of shape (n_rows, n_outputs), or (n_rows,) where y was a vector
            Targets.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        outputs = forward(self.module_, X).cpu().numpy()
        targets = outputs * self.target_scale_ + self.target_mean_
        return targets[:, 0] if self._one_output else targets

    def _split(
        self, n_rows: int, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Rows to train on and rows to watch."""
        n_watched = int(self.validation_fraction * n_rows)
        if n_rows < MIN_ROWS_TO_WATCH or n_watched == 0:
            return np.arange(n_rows), None
        watched, rows = np.split(rng.permutation(n_rows), [n_watched])
        return rows, watched

    def _build(self, X: Any, rows: np.ndarray, n_outputs: int) -> nn.Module:
        mean, scale = feature_scale(X[rows], self.scale)
        body = multilayer_perceptron(
            X.shape[1], self.hidden_layer_sizes, n_outputs, dropout=self.dropout
        )
        return nn.Sequential(Standardise(mean, scale), body)

    def _device(self) -> str:
        if self.device != "auto":
            return self.device
        return "cuda" if torch.cuda.is_available() else "cpu"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _DoublePrecision(nn.Module):
    """Hands rows on in double precision: what a row gets then does not depend on its batch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the same rows as float64."""
        return x.double()
