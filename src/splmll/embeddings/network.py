"""Neural networks: the paper's fully connected one, and your own torch modules.

The rows of a fold decide when the training of that fold's network stops, and the networks of all
folds are averaged: the same fits give the held-out predictions and an ensemble.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.base import clone
from torch import nn

from splmll.arrays import dense
from splmll.constraints import COUNT, LAYER_SIZES, NOT_NEGATIVE, POSITIVE, SHARE_BELOW_ONE, Choice
from splmll.docstrings import with_paragraphs
from splmll.embeddings.base import FitContext, FoldModels
from splmll.feature_scaling import SCALE_CONSTRAINT, fitted_scaler
from splmll.neural import (
    Logistic,
    Rows,
    Standardise,
    Training,
    cross_entropy,
    forward,
    multilayer_perceptron,
    squared_error,
    train,
)
from splmll.parallel_training import agreed_seed

# batch_size="auto": larger data have steps enough with larger batches, which are much cheaper.
SMALL_BATCH, LARGE_BATCH, SMALL_DATA_ROWS = 64, 256, 5000

_TRAINING: dict[str, list[Any]] = {
    "loss": [Choice("cross_entropy", "squared")],
    "learning_rate": [POSITIVE],
    "weight_decay": [NOT_NEGATIVE],
    "batch_size": [COUNT, Choice("auto")],
    "max_epochs": [COUNT],
    "patience": [COUNT],
    "device": [str],
}


@with_paragraphs
class TorchModule(FoldModels):
    """Your own torch module, trained end to end.

    X may be an array with more than two dimensions (images) or a torch Dataset.

    Parameters
    ----------
    module : torch.nn.Module
        A module with one output per label. It is copied and trained once for each fold.
    loss : {"cross_entropy", "squared"}, default="squared"
        "squared" is the paper's first term: the module returns scores near 0 and 1. With
        "cross_entropy" its outputs are logits, and f(x) is their logistic function.
    {training}
    {device}

    Examples
    --------
    >>> import numpy as np
    >>> from torch import nn
    >>> from splmll.embeddings import TorchModule
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> f = TorchModule(nn.Linear(3, 2), max_epochs=2)
    >>> f.fit(X, (X[:, :2] > 0) * 1.0, fold=np.arange(60) % 2).out_of_fold_.shape
    (60, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"module": [nn.Module], **_TRAINING}

    uses_weights: ClassVar[bool] = True

    def __init__(
        self,
        module: nn.Module,
        loss: str = "squared",
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-4,
        batch_size: int | str = "auto",
        max_epochs: int = 200,
        patience: int = 8,
        device: str = "auto",
    ) -> None:
        self.module = module
        self.loss = loss
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.device = device

    def agreed_seed(self, seed: int) -> int:
        """Return the seed of the first of the processes that train together."""
        return agreed_seed(seed)

    def training_device(self) -> torch.device:
        """Return where networks are trained and used."""
        if self.device != "auto":
            return torch.device(self.device)
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def build(
        self, X: Any, rows: np.ndarray, n_outputs: int, weights: np.ndarray | None = None
    ) -> nn.Module:
        """Return a fresh network for these features; the rows may have weights."""
        module = copy.deepcopy(self.module)
        shape = forward(module, X, torch.as_tensor(rows[:1])).shape
        if shape != (1, n_outputs):
            raise ValueError(
                f"The torch module returns outputs of shape {tuple(shape)} for one row, but "
                f"there are {n_outputs} labels: its last layer must have {n_outputs} outputs."
            )
        return module

    def _fit_one(
        self, X: Any, Y: Any, rows: np.ndarray, held: np.ndarray, k: int, context: FitContext
    ) -> nn.Module:
        logistic = self.loss == "cross_entropy"
        before = getattr(context.previous, "models_", [])
        holder: dict[str, nn.Module] = {}
        report = context.report

        def snapshot() -> TorchModule:
            now = clone(self)
            now.models_, now.outputs_ = [copy.deepcopy(holder["module"]).eval()], None
            return now

        def build() -> nn.Module:
            if k < len(before):
                module = copy.deepcopy(before[k])
                module = module.logits if isinstance(module, Logistic) else module
            else:
                module = self.build(X, rows, Y.shape[1], context.weights_of(rows))
            holder["module"] = Logistic(module) if logistic else module
            return module

        def on_epoch(epoch: int, loss: float) -> bool:
            return report is not None and report(k, self.max_epochs, snapshot)

        module, _ = train(
            build,
            X,
            dense(Y),
            loss=cross_entropy if logistic else squared_error,
            training=self._training(len(rows)),
            seed=context.seed + k,
            device=self.training_device(),
            rows=rows,
            validation=held,
            on_epoch=on_epoch,
            sample_weight=context.sample_weight,
        )
        return Logistic(module) if logistic else module

    def _training(self, n_rows: int) -> Training:
        batch = self.batch_size
        if batch == "auto":
            batch = SMALL_BATCH if n_rows <= SMALL_DATA_ROWS else LARGE_BATCH
        return Training(
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            batch_size=int(batch),
            max_epochs=self.max_epochs,
            patience=self.patience,
        )

    def _predict_one(self, model: Any, X: Any) -> np.ndarray:
        return forward(model, Rows(X, self.training_device())).cpu().numpy().astype(np.float64)


@with_paragraphs
class Network(TorchModule):
    """Fully connected layers with leaky ReLU, the paper's network.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int, default=(512, 64)
        The paper's layers.
    dropout : float, default=0.5
        Share of hidden units dropped in training.
    loss : {"cross_entropy", "squared"}, default="cross_entropy"
        "cross_entropy" ranks rare labels far better; "squared" is the paper's first term.
    {training}
    {scale}
        The scaler is a part of the network.
    {device}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings import Network
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> f = Network((8,), max_epochs=2).fit(X, (X[:, :2] > 0) * 1.0, fold=np.arange(60) % 2)
    >>> bool(0 < f.out_of_fold_.min() and f.out_of_fold_.max() < 1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": [LAYER_SIZES],
        "dropout": [SHARE_BELOW_ONE],
        "scale": SCALE_CONSTRAINT,
        **_TRAINING,
    }

    def __init__(
        self,
        hidden_layer_sizes: tuple[int, ...] = (512, 64),
        dropout: float = 0.5,
        loss: str = "cross_entropy",
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-4,
        batch_size: int | str = "auto",
        max_epochs: int = 200,
        patience: int = 8,
        scale: str | None = "auto",
        device: str = "auto",
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.dropout = dropout
        self.loss = loss
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.scale = scale
        self.device = device

    def build(
        self, X: Any, rows: np.ndarray, n_outputs: int, weights: np.ndarray | None = None
    ) -> nn.Module:
        """Return a fresh network for these features; the rows may have weights."""
        hidden = tuple(self.hidden_layer_sizes)
        body = multilayer_perceptron(X.shape[1], hidden, n_outputs, dropout=self.dropout)
        scaler = fitted_scaler(X[rows], self.scale, weights)
        if scaler is None:
            return body
        mean = np.zeros(X.shape[1]) if scaler.mean_ is None else scaler.mean_
        return nn.Sequential(Standardise(mean, scaler.scale_), body)
