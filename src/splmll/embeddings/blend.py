"""Several embeddings, weighted label by label: different families make different errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, optimize

from splmll.arrays import dense
from splmll.constraints import NOT_NEGATIVE
from splmll.embeddings.base import Embedding, FitContext
from splmll.progress import Stages
from splmll.statistics import split_unknown


class Blend(Embedding):
    """Embeddings combined per label with weights learned on their out-of-fold predictions.

    The weights of a label minimise its out-of-fold squared error; they are nonnegative and sum to
    one. They are pulled towards the plain mean with a weight of ``shrinkage`` times the label's
    variance, because a rare label has too few rows to tell which member is better.

    Parameters
    ----------
    members : list of embeddings
        Objects, or names as in :class:`~splmll.SPLMLL`. Their parameters are set by the class name
        in lower case: ``blend.set_params(network__dropout=0.2)``; for several members of one class,
        by ``network_1``, ``network_2``.
    shrinkage : float, default=0.1
        Weight of the pull towards the plain mean.

    Attributes
    ----------
    members_ : list of Embedding
        The fitted members.
    weights_ : ndarray of shape (n_members, n_outputs)
        The weight of each member for each output.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings import Blend, Kernel, Linear
    >>> X = np.random.default_rng(0).normal(size=(90, 3))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] ** 2 > 0.5]) * 1.0
    >>> f = Blend([Linear(), Kernel()]).fit(X, Y, fold=np.arange(90) % 3)
    >>> bool(f.weights_[1, 1] > 0.6)  # the kernel sees what no line can
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "members": [list, tuple],
        "shrinkage": [NOT_NEGATIVE],
    }

    def __init__(self, members: Any, shrinkage: float = 0.1) -> None:
        self.members = members
        self.shrinkage = shrinkage

    def check(self) -> None:
        """Refuse parameters that cannot be, before a long fit."""
        super().check()
        if len(self.members) == 0:
            raise ValueError("A blend needs at least one member.")
        for member in self._members():
            member.check()

    def check_weights(self) -> None:
        """Refuse weights of rows that one of the members cannot use."""
        for member in self._members():
            member.check_weights()

    def agreed_seed(self, seed: int) -> int:
        """Return the seed that all processes use that train this embedding together."""
        for member in self._members():
            seed = member.agreed_seed(seed)
        return seed

    def fit(self, X: Any, Y: Any, fold: np.ndarray, context: FitContext | None = None) -> Blend:
        """Learn every member on the same folds, then the weights."""
        self.check()
        context = FitContext() if context is None else context
        before = getattr(context.previous, "members_", [None] * len(self.members))
        self.members_ = self._members()
        stages, n = Stages(context.on_progress), len(self.members_)
        for k, (member, previous) in enumerate(zip(self.members_, before, strict=True)):
            stages.begin(k / n, (k + 1) / n)
            member.fit(X, Y, fold, replace(context, previous=previous, on_progress=stages))
        predictions = np.stack([member.out_of_fold_ for member in self.members_])
        labels, known = split_unknown(dense(Y))
        rows = np.ones(labels.shape, dtype=bool) if known is None else known > 0
        self.weights_ = self._weights(predictions, labels, rows, context.sample_weight)
        self.out_of_fold_ = np.empty(labels.shape)
        for k in np.unique(fold):
            # Weights that had seen these rows would flatter every label's own prediction.
            held = fold == k
            others = rows & ~held[:, None]
            weights = self._weights(predictions, labels, others, context.sample_weight)
            self.out_of_fold_[held] = np.einsum("mj,mij->ij", weights, predictions[:, held])
        return self

    def _weights(
        self,
        predictions: np.ndarray,
        labels: np.ndarray,
        rows: np.ndarray,
        sample_weight: np.ndarray | None,
    ) -> np.ndarray:
        """Return the weights of every label, learned on its own rows."""
        found = []
        for j in range(labels.shape[1]):
            its = rows[:, j]
            of_rows = None if sample_weight is None else sample_weight[its]
            found.append(
                mixing_weights(predictions[:, its, j], labels[its, j], self.shrinkage, of_rows)
            )
        return np.column_stack(found)

    def finish(self, X: Any, Y: Any, outputs: np.ndarray) -> None:
        """Finish every member for these outputs."""
        for member in self.members_:
            member.finish(X, Y, outputs)
        self.weights_ = self.weights_[:, outputs]
        del self.out_of_fold_

    def predict(self, X: Any) -> np.ndarray:
        """Return the weighted mean of the members' scores."""
        parts = [w * m.predict(X) for w, m in zip(self.weights_, self.members_, strict=True)]
        return np.sum(parts, axis=0)

    # Parameters of the members ------------------------------------------------------------------

    def _members(self) -> list[Embedding]:
        """Return a fresh copy of every member, names turned into objects."""
        from splmll.embeddings.naming import embedding_of

        return [embedding_of(member) for member in self.members]

    def _named(self) -> dict[str, int]:
        """Return the place of every member by its name."""
        names = [
            member if isinstance(member, str) else type(member).__name__.lower()
            for member in self.members
        ]
        count, seen, places = Counter(names), Counter[str](), {}
        for place, name in enumerate(names):
            seen[name] += 1
            places[f"{name}_{seen[name]}" if count[name] > 1 else name] = place
        return places

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with ``deep`` also those of the members by name."""
        params = super().get_params(deep=False)
        if deep:
            for name, place in self._named().items():
                member = self.members[place]
                if hasattr(member, "get_params"):
                    params[name] = member
                    params |= {f"{name}__{key}": v for key, v in member.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Blend:
        """Set parameters, those of members as ``member__parameter``."""
        from splmll.embeddings.naming import embedding_of

        places, members = self._named(), list(self.members)
        rest = {}
        for key, value in params.items():
            name, _, parameter = key.partition("__")
            if name not in places:
                rest[key] = value
            elif parameter:
                if isinstance(members[places[name]], str):
                    members[places[name]] = embedding_of(members[places[name]])
                members[places[name]].set_params(**{parameter: value})
            else:
                members[places[name]] = value
        if len(rest) < len(params):
            self.members = members
        super().set_params(**rest)
        return self


def mixing_weights(
    predictions: np.ndarray,
    label: np.ndarray,
    shrinkage: float,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Minimise |label - w'predictions|^2 / n + s |w - 1/M|^2 over w >= 0, then normalise.

    Rows may have weights, whose sum is then n.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings.blend import mixing_weights
    >>> label = np.array([0.0, 1.0, 0.0, 1.0])
    >>> mixing_weights(np.array([label, 1 - label]), label, shrinkage=0.0)
    array([1., 0.])
    """
    M, n = predictions.shape
    uniform = np.full(M, 1 / M)
    if n == 0 or label.min() == label.max():
        return uniform
    if sample_weight is None:
        centre = label.mean()
        pull = np.sqrt(shrinkage * label.var() * n)
        residual, target = (predictions - centre).T, label - centre
    else:
        centre = np.average(label, weights=sample_weight)
        pull = np.sqrt(shrinkage * (sample_weight @ (label - centre) ** 2))
        root = np.sqrt(sample_weight)
        residual, target = ((predictions - centre) * root).T, (label - centre) * root
    rows = np.vstack([residual, pull * np.eye(M)])
    target = np.concatenate([target, pull * uniform])
    # A normal-equations form would be shorter; nnls wants the factor, which is M x M.
    factor = linalg.qr(rows, mode="economic")
    weights, _ = optimize.nnls(factor[1], factor[0].T @ target)
    return weights / weights.sum() if weights.sum() > 0 else uniform
