"""C2AE: a label autoencoder whose code can be predicted from the features.

One network encodes the labels, one predicts the code from the features and one decodes it; a loss
over pairs of labels teaches the decoder to rank relevant labels above the others.

References
----------
Yeh, Wu, Ko, Wang: Learning deep latent spaces for multi-label classification. AAAI Conference on
Artificial Intelligence, 2017.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import torch
from scipy import sparse
from sklearn.utils import check_random_state
from torch import Tensor, nn

from splmll.base import Capabilities, MultilabelClassifier
from splmll.constraints import (
    COUNT,
    LAYER_SIZES,
    NOT_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    SHARE_BELOW_ONE,
)
from splmll.docstrings import with_paragraphs
from splmll.feature_scaling import SCALE_CONSTRAINT
from splmll.methods._centred_matrix import feature_scale
from splmll.methods._label_embedding import CODES_CONSTRAINT, count_of
from splmll.neural import Rows, Standardise, Training, forward, multilayer_perceptron, train
from splmll.thresholds import THRESHOLD_CONSTRAINT, fit_threshold

SHARPNESS = 5.0  # of the ranking loss, as in the released program
LEAKY_SLOPE = 0.1  # of the hidden units, likewise
MIN_ROWS_TO_WATCH = 50  # fewer rows are all needed for training


@with_paragraphs
class C2AE(MultilabelClassifier):
    r"""Canonical-correlated autoencoder (C2AE).

    Three networks share a code of dimension k: the features give :math:`A = F_x(X)`, the labels
    give :math:`E = F_e(Y)`, and the decoder :math:`F_d` maps codes to one score per label. On every
    batch training lowers

    .. math::

        \|A - E\|_F^2 + \lambda (\|A^\top A - I\|_F^2 + \|E^\top E - I\|_F^2)
        + \alpha \sum_i \Gamma_i(F_d(E)) ,

    whose first two terms are those of canonical correlation analysis. With the relevant labels
    :math:`R_i` and the others :math:`\bar R_i` of row i,

    .. math::

        \Gamma_i(p) = \frac{1}{|R_i| |\bar R_i|} \sum_{a \in R_i} \sum_{b \in \bar R_i}
        e^{-5 (p_{ia} - p_{ib})}

    asks for relevant labels to be ranked first. Rows with no or all labels have no such pair and
    count only in the other terms. New rows are scored by :math:`F_d(F_x(x))`.

    Parameters
    ----------
    n_components : int or float, default=0.8
        Dimension k of the code: a number, or a fraction of the number of labels.
    ranking_weight : float, default=1.0
        Weight :math:`\alpha` of the ranking loss. The paper tries 0.1 to 10.
    orthogonality_weight : float, default=0.5
        Weight :math:`\lambda` of the constraint that code coordinates are uncorrelated and of
        unit length.
    rank_features : bool, default=True
        Whether the ranking loss also reaches the feature network: then
        :math:`\Gamma_i(F_d(A))` is added to :math:`\Gamma_i(F_d(E))`. In the released program it
        trains encoder and decoder only.
    feature_layer_sizes : tuple of int, default=(512, 512)
        Hidden layers of the feature network.
    label_layer_sizes : tuple of int, default=(512,)
        Hidden layers of the label encoder and of the decoder.
    {scale}
    {learning_rate}
    weight_decay : float, default=1e-3
        Decoupled weight decay.
    batch_size : int, default=128
        Rows per step, raised to 2 k where it is less: k columns cannot be orthogonal in fewer than
        k rows. The constraint on the code is one of the whole batch, so all batches are made
        equally large: the rows are divided into as many batches as needed, and a few rows are
        taken twice to fill the last one. (The authors use 500; small batches learn faster.)
    {max_epochs}
    patience : int, default=15
        Passes without a better ranking loss of the validation rows before training stops.
    validation_fraction : float, default=0.2
        Share of the rows, drawn at random, that decide when to stop and where to put the threshold;
        the best epoch is kept. With fewer than 50 rows, or a share of 0, all rows train for
        ``max_epochs``.
    threshold : float or str, default="micro_f1"
        A label is predicted if its score is at least the threshold. A name is a rule from
        :data:`splmll.thresholds.RULES`, fitted on the validation rows; with fewer than 50 of them
        it is 0.5.
    device : str, default="cpu"
        Where torch trains and predicts.
    random_state : int, RandomState instance or None, default=None
        Seed of initial weights, validation rows and order of the rows.

    Attributes
    ----------
    network_ : torch.nn.Module or None
        The three networks. None where every label has one value in the training rows.
    history_ : list of dict
        Training loss of every epoch, and the ranking loss of the validation rows.
    validation_rows_ : ndarray of int
        The rows held out.
    {thresholds_}

    Notes
    -----
    A label with one value in the training rows gets the score 0 or 1 and does not take part. A
    single label has nothing to be ranked with: its absence becomes a second label, and the score
    compares the two. Unknown labels take part in no pair; the encoder sees the frequency of the
    label in their place.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import C2AE
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]] * 5)
    >>> Y = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]] * 5)
    >>> small = {"feature_layer_sizes": (16,), "label_layer_sizes": (16,), "learning_rate": 0.01}
    >>> C2AE(**small, random_state=0).fit(X, Y).predict([[0.9, 0.1]])
    array([[1, 0, 1]])
    """

    _former_names: ClassVar[dict[str, str]] = {
        "alpha": "ranking_weight",
        "lam": "orthogonality_weight",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": CODES_CONSTRAINT,
        "ranking_weight": [NOT_NEGATIVE],
        "orthogonality_weight": [NOT_NEGATIVE],
        "rank_features": ["boolean"],
        "feature_layer_sizes": [LAYER_SIZES],
        "label_layer_sizes": [LAYER_SIZES],
        "scale": SCALE_CONSTRAINT,
        "learning_rate": [POSITIVE],
        "weight_decay": [NOT_NEGATIVE],
        "batch_size": [COUNT],
        "max_epochs": [COUNT],
        "patience": [COUNT],
        "validation_fraction": [SHARE_BELOW_ONE],
        "threshold": THRESHOLD_CONSTRAINT,
        "device": [str],
        "random_state": RANDOM_STATE,
    }
    capabilities = Capabilities(
        unknown_labels=True, cost="epochs N (D + C) times the width of the layers"
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "n_components": (0.4, 0.6, 0.8, 1.0),
        "ranking_weight": (0.1, 0.5, 1.0, 2.0, 10.0),
    }

    network_: _Networks | None
    history_: list[dict[str, float]]
    validation_rows_: np.ndarray

    def __init__(
        self,
        n_components: int | float = 0.8,
        *,
        ranking_weight: float = 1.0,
        orthogonality_weight: float = 0.5,
        rank_features: bool = True,
        feature_layer_sizes: Sequence[int] = (512, 512),
        label_layer_sizes: Sequence[int] = (512,),
        scale: str | None = "auto",
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-3,
        batch_size: int = 128,
        max_epochs: int = 200,
        patience: int = 15,
        validation_fraction: float = 0.2,
        threshold: float | str = "micro_f1",
        device: str = "cpu",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.ranking_weight = ranking_weight
        self.orthogonality_weight = orthogonality_weight
        self.rank_features = rank_features
        self.feature_layer_sizes = feature_layer_sizes
        self.label_layer_sizes = label_layer_sizes
        self.scale = scale
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.threshold = threshold
        self.device = device
        self.random_state = random_state

    def _fit(self, X: Any, Y: Any) -> None:
        count_of(self.n_components, Y.shape[1], "n_components")
        rng = check_random_state(self.random_state)
        order, seed = rng.permutation(X.shape[0]), int(rng.randint(np.iinfo(np.int32).max))
        n_held = int(self.validation_fraction * X.shape[0])
        held, rows = np.split(order, [n_held if X.shape[0] >= MIN_ROWS_TO_WATCH else 0])

        # What is constant in the training rows cannot be ranked by them.
        lowest, highest = _range_of_known(Y[rows])
        self._varying = np.flatnonzero(lowest < highest)
        self._constants = lowest
        self.network_, self.history_, self.validation_rows_ = None, [], held
        if self._varying.size:
            targets = Y[:, self._varying]
            if self._varying.size == 1:
                targets = np.hstack([targets, 1 - targets])
            self._train(X, targets, rows, held, seed)
        scores = self._scores(X[held]) if held.size else np.zeros((0, Y.shape[1]))
        self._set_threshold(fit_threshold(self.threshold, Y[held], scores))

    @property
    def varying_labels_(self) -> np.ndarray:
        """Numbers of the labels that have both values in the training rows."""
        return self._varying

    @property
    def constant_scores_(self) -> np.ndarray:
        """Scores of the other labels, their one value; 0 for those that vary."""
        scores = self._constants.copy()
        scores[self._varying] = 0.0
        return scores

    def _train(
        self, X: Any, targets: np.ndarray, rows: np.ndarray, held: np.ndarray, seed: int
    ) -> None:
        n_features, n_labels = X.shape[1], targets.shape[1]
        if isinstance(self.n_components, Integral):
            n_components = min(int(self.n_components), n_labels)
        else:
            n_components = count_of(self.n_components, n_labels, "n_components")
        mean, scale = feature_scale(X[rows], self.scale)
        rows, batch_size = equal_batches(rows, max(self.batch_size, 2 * n_components))

        def build() -> _Networks:
            return _Networks(
                Standardise(mean, scale),
                _network(n_features, self.feature_layer_sizes, n_components),
                _network(n_labels, self.label_layer_sizes, n_components),
                _network(n_components, self.label_layer_sizes, n_labels),
            )

        module, self.history_ = train(
            build,
            _side_by_side(X, _filled(targets, rows)),
            targets,
            loss=_TrainingLoss(
                n_components,
                batch_size,
                self.ranking_weight,
                self.orthogonality_weight,
                self.rank_features,
            ),
            training=Training(
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                batch_size=batch_size,
                max_epochs=self.max_epochs,
                patience=self.patience,
            ),
            seed=seed,
            device=torch.device(self.device),
            rows=rows,
            validation=held if held.size else None,
        )
        assert isinstance(module, _Networks)
        # In single precision a score would depend in its last digits on the rows it is asked with.
        # Apple's devices have no other.
        self.network_ = module if self.device == "mps" else module.double()

    def _scores(self, X: Any) -> np.ndarray:
        scores = np.repeat(self._constants[None, :], X.shape[0], axis=0)
        if self.network_ is not None:
            rows = Rows(X, torch.device(self.device))
            outputs = forward(self.network_, rows).cpu().numpy().astype(np.float64)
            if self._varying.size == 1:
                outputs = 0.5 + 0.5 * (outputs[:, :1] - outputs[:, 1:])
            scores[:, self._varying] = outputs
        return scores

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return scores


# Losses ------------------------------------------------------------------------------------------


def embedding_loss(A: Tensor, E: Tensor, orthogonality_weight: float, batch_size: int) -> Tensor:
    """Distance of two codes of the same rows, and of both from having orthonormal columns.

    Parameters
    ----------
    A, E : Tensor of shape (n_rows, n_components)
        Codes from features and from labels.
    orthogonality_weight : float
        Weight of orthonormality.
    batch_size : int
        Number of rows in which columns shall have unit length. Other numbers of rows are scaled
        to it.

    Returns
    -------
    loss : Tensor
        ``|A - E|^2 + orthogonality_weight (|A'A - I|^2 + |E'E - I|^2)``.

    Examples
    --------
    >>> import torch
    >>> from splmll.methods.canonical_autoencoder import embedding_loss
    >>> code = torch.eye(3)[:, :2]
    >>> float(embedding_loss(code, code, orthogonality_weight=0.5, batch_size=3))
    0.0
    """
    share = batch_size / len(A)
    identity = torch.eye(A.shape[1], dtype=A.dtype, device=A.device)
    whitening = sum(((share * C.T @ C - identity) ** 2).sum() for C in (A, E))
    return share * ((A - E) ** 2).sum() + orthogonality_weight * whitening


def pairwise_ranking_loss(scores: Tensor, relevant: Tensor, irrelevant: Tensor) -> Tensor:
    r"""Exponential loss over all pairs of a relevant and an irrelevant label, for each row.

    The exponential of a difference is a product, so the sum over pairs is a product of two sums:

    .. math::

        \sum_{a, b} e^{-5 (p_a - p_b)} = \Big(\sum_a e^{-5 p_a}\Big) \Big(\sum_b e^{5 p_b}\Big) .

    Parameters
    ----------
    scores : Tensor of shape (n_rows, n_labels)
        Scores between 0 and 1.
    relevant, irrelevant : Tensor of shape (n_rows, n_labels)
        1 where a label is relevant, or irrelevant; unknown labels are neither.

    Returns
    -------
    loss : Tensor of shape (n_rows,)
        Mean over the pairs of each row; 0 for a row without pairs.

    Examples
    --------
    >>> import torch
    >>> from splmll.methods.canonical_autoencoder import pairwise_ranking_loss
    >>> relevant = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> pairwise_ranking_loss(torch.full((2, 3), 0.7), relevant, 1 - relevant)
    tensor([1., 0.])
    """
    low = (relevant * torch.exp(-SHARPNESS * scores)).sum(1)
    high = (irrelevant * torch.exp(SHARPNESS * scores)).sum(1)
    pairs = relevant.sum(1) * irrelevant.sum(1)
    return low * high / pairs.clamp(min=1)


@dataclass(frozen=True)
class _TrainingLoss:
    """The objective of a batch in training; the ranking loss of predictions in evaluation."""

    n_components: int
    batch_size: int
    ranking_weight: float
    orthogonality_weight: float
    rank_features: bool

    def __call__(self, outputs: Tensor, targets: Tensor, known: Tensor) -> Tensor:
        relevant, irrelevant = targets * known, (1 - targets) * known
        if outputs.shape[1] == targets.shape[1]:
            return pairwise_ranking_loss(outputs, relevant, irrelevant).mean()
        k, n_labels = self.n_components, targets.shape[1]
        A, E, from_features, from_labels = outputs.split([k, k, n_labels, n_labels], dim=1)
        ranking = pairwise_ranking_loss(from_labels, relevant, irrelevant)
        if self.rank_features:
            ranking = ranking + pairwise_ranking_loss(from_features, relevant, irrelevant)
        embedding = embedding_loss(A, E, self.orthogonality_weight, self.batch_size)
        return embedding + self.ranking_weight * self.batch_size * ranking.mean()


# Networks ----------------------------------------------------------------------------------------


class _Networks(nn.Module):
    """The three networks of C2AE.

    In training its input is features and labels side by side, and its output are both codes and
    what the decoder makes of them. In evaluation it maps the features (labels beside them are not
    looked at) to scores.
    """

    def __init__(
        self, standardise: Standardise, features: nn.Module, labels: nn.Module, decoder: nn.Module
    ) -> None:
        super().__init__()
        self.standardise = standardise
        self.features, self.labels, self.decoder = features, labels, decoder

    def forward(self, rows: Tensor) -> Tensor:
        """Return codes and scores in training, scores in evaluation."""
        rows = rows.to(self.standardise.mean.dtype)
        x, y = rows.tensor_split([len(self.standardise.mean)], dim=1)
        A = torch.sigmoid(self.features(self.standardise(x))) - 0.5
        if not self.training:
            return torch.sigmoid(self.decoder(A))
        E = torch.sigmoid(self.labels(y)) - 0.5
        decoded = [torch.sigmoid(self.decoder(code)) for code in (A, E)]
        return torch.cat([A, E, *decoded], dim=1)


def _network(n_inputs: int, hidden: Sequence[int], n_outputs: int) -> nn.Sequential:
    layers = multilayer_perceptron(n_inputs, hidden, n_outputs, dropout=0.0)
    for layer in layers:
        if isinstance(layer, nn.LeakyReLU):
            layer.negative_slope = LEAKY_SLOPE
    return layers


# Rows --------------------------------------------------------------------------------------------


def equal_batches(rows: np.ndarray, batch_size: int) -> tuple[np.ndarray, int]:
    """Return rows that divide into equal batches, and the size of these.

    Parameters
    ----------
    rows : ndarray of int
        The rows to train on.
    batch_size : int
        Largest size of a batch.

    Returns
    -------
    rows : ndarray of int
        The rows, the first few of them once more where they do not divide evenly.
    batch_size : int
        Its multiple is the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods.canonical_autoencoder import equal_batches
    >>> equal_batches(np.arange(8), 3)
    (array([0, 1, 2, 3, 4, 5, 6, 7, 0]), 3)
    >>> equal_batches(np.arange(8), 5)
    (array([0, 1, 2, 3, 4, 5, 6, 7]), 4)
    """
    n_batches = -(-len(rows) // batch_size)
    size = -(-len(rows) // n_batches)
    return np.resize(rows, n_batches * size), size


def _range_of_known(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest known value of every label; 0 where nothing is known."""
    known = ~np.isnan(Y)
    highest = np.max(Y, axis=0, where=known, initial=0.0)
    lowest = np.min(Y, axis=0, where=known, initial=1.0)
    return np.minimum(lowest, highest), highest


def _filled(targets: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Put the frequency of a label in the place of its unknown cells."""
    return np.where(np.isnan(targets), np.nanmean(targets[rows], axis=0), targets)


def _side_by_side(X: Any, Y: np.ndarray) -> Any:
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(Y)]))
    return np.hstack([X, Y])
