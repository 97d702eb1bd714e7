"""One unit of work: a method on one part of one data set, and what came out of it.

A unit is a complete description: its key is a hash over everything that determines the result, so
that a store knows whether it has been done, and :func:`run_unit` does it.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any

import joblib
import numpy as np
import pandas as pd
import psutil
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from splmll.arrays import dense, take_rows
from splmll.base import MultilabelClassifier
from splmll.datasets import Dataset, load_dataset
from splmll.experiments.contestants import CONTESTANTS
from splmll.experiments.limits import MEGABYTE, PeakMemory
from splmll.experiments.protocol import Protocol
from splmll.experiments.search import Search, choose_settings
from splmll.extras import versions
from splmll.metrics import MEASURES, evaluate
from splmll.metrics.scorers import label_scores
from splmll.model_selection import ThresholdTuner
from splmll.parameters import as_json, changed_settings
from splmll.thresholds import fit_threshold, rule_of_text

PREPROCESSING = ("none", "standard", "minmax", "suited")
OWN_THRESHOLD = "own"
# Packages that results depend on; the last three are peers in the benchmark.
PACKAGES = (
    *("splmll", "numpy", "scipy", "scikit-learn", "torch", "joblib", "pandas"),
    *("catboost", "libmultilabel", "mlrl-boomer"),
)

_KEY_LENGTH = 32


@dataclass(frozen=True, eq=False)
class Unit:
    """A method on one part of a data set.

    Parameters
    ----------
    method : str
        Its name, a key of :data:`splmll.experiments.contestants.CONTESTANTS` or, with `estimator`,
        any other.
    data : str or Dataset
        A name for :func:`splmll.datasets.load_dataset`, or the data itself.
    protocol : Protocol
        How rows are divided, see :data:`splmll.experiments.protocol.PROTOCOLS`.
    repetition, fold : int, default=0
        Which part of the protocol.
    estimator : estimator, optional
        The method, where it is not known by name; it is not modified.
    preprocessing, threshold, search : str, str, Search
        As in :class:`splmll.experiments.runner.Experiment`. Sparse features stay sparse: they are
        divided, not shifted.
    base_seed : int, default=0
        Seed of the experiment; the seed of a repetition is derived from it.

    Examples
    --------
    >>> from splmll.experiments.protocol import PROTOCOLS
    >>> from splmll.experiments.unit import Unit
    >>> unit = Unit("ML-kNN", "emotions", PROTOCOLS["held-out"])
    >>> unit.key == Unit("ML-kNN", "emotions", PROTOCOLS["held-out"]).key
    True
    >>> unit.key == Unit("ML-kNN", "emotions", PROTOCOLS["held-out"], threshold="0.4").key
    False
    """

    method: str
    data: str | Dataset
    protocol: Protocol
    repetition: int = 0
    fold: int = 0
    estimator: Any = None
    preprocessing: str = "none"
    threshold: str = OWN_THRESHOLD
    search: Search = field(default_factory=Search)
    base_seed: int = 0

    def __post_init__(self) -> None:
        if self.preprocessing not in PREPROCESSING:
            raise ValueError(
                f"Unknown preprocessing {self.preprocessing!r}: use one of "
                f"{', '.join(PREPROCESSING)}."
            )
        if self.threshold != OWN_THRESHOLD:
            rule_of_text(self.threshold)

    @property
    def seed(self) -> int:
        """Seed of the method and of a search: that of the repetition, the same for all methods."""
        return self.base_seed + self.repetition

    @property
    def data_name(self) -> str:
        """Name of the data set."""
        return self.data if isinstance(self.data, str) else self.data.name

    @property
    def settings(self) -> dict[str, Any]:
        """What of the method differs from the defaults of its class, before any search."""
        return changed_settings(self._method())

    @property
    def settings_hash(self) -> str:
        """Hash of all settings of the method as asked for, the same for all repetitions."""
        return _hash(as_json(self._method(), full=True))

    @cached_property
    def key(self) -> str:
        """Hash over all that determines the result."""
        content = None if isinstance(self.data, str) else fingerprint(self.data)
        return _hash(
            {
                "method": self.method,
                "settings": self.settings_hash,
                "data": [self.data_name, content],
                # The number of repetitions says how many units there are, not what one is.
                "protocol": [self.protocol.name, {**asdict(self.protocol), "repetitions": None}],
                "part": [self.repetition, self.fold],
                "preprocessing": self.preprocessing,
                "threshold": self.threshold,
                "search": asdict(self.search) if self.search.kind != "none" else None,
                "seed": self.base_seed,
            }
        )

    @property
    def same_in_every_repetition(self) -> bool:
        """Whether neither the rows nor the method depend on the repetition."""
        if self.protocol.redraws_rows or self.search.kind != "none":
            return False
        known = self.estimator is None and self.threshold == OWN_THRESHOLD
        seedless = known and CONTESTANTS[self.method].seedless
        return seedless or not _seed_names(self._method())

    def columns(self) -> dict[str, Any]:
        """Return what a table of results says about the unit itself."""
        return {
            "key": self.key,
            "data": self.data_name,
            "method": self.method,
            "protocol": self.protocol.name,
            "protocol_description": self.protocol.describe(),
            "repetition": self.repetition,
            "fold": self.fold,
            "seed": self.seed,
            "preprocessing": self.preprocessing,
            "threshold": self.threshold,
            "search": self.search.kind,
            "search_description": self.search.describe(),
            "settings_hash": self.settings_hash,
        }

    def make_model(self, X: Any) -> Any:
        """Return the method with its seed, threshold rule and preprocessing of such features."""
        method = self._method()
        method.set_params(**dict.fromkeys(_seed_names(method), self.seed))
        scaler = _scaler(self.preprocessing, X)
        if scaler is None:
            return method
        return Pipeline([("preprocessing", scaler), ("method", method)])

    def _method(self) -> Any:
        """The method with its threshold rule."""
        if self.estimator is None:
            method = CONTESTANTS[self.method].make()
        else:
            method = clone(self.estimator)
        if self.threshold == OWN_THRESHOLD:
            return method
        rule = rule_of_text(self.threshold)
        if isinstance(method, ThresholdTuner):
            return method.set_params(rule=rule)
        if _takes_threshold(method, rule):
            return method.set_params(threshold=rule)
        if isinstance(method, Pipeline) and _takes_threshold(method[-1], rule):
            return method.set_params(**{f"{method.steps[-1][0]}__threshold": rule})
        return ThresholdTuner(method, rule)


@dataclass(frozen=True, eq=False)
class UnitResult:
    """What came out of a unit.

    Attributes
    ----------
    status : {"done", "failed", "timeout", "memory"}
        Whether there is a result, and if not, why.
    error, traceback : str or None
        What went wrong, in one line and in full.
    measures : dict of str to float
        Values of :data:`splmll.metrics.MEASURES`; NaN for those that look at more labels than there
        are.
    settings : dict
        What differs from the defaults of the method's class, after the search.
    search_seconds, fit_seconds, predict_seconds : float
        Time of the search, of the final fit, and of scores and labels for the test rows.
    processor_seconds : float
        Processor time of the three, over all threads: what a busy machine does not change much.
    peak_memory_mb : float
        Largest resident size of the process.
    n_train, n_test, n_labels, n_features : int
        Sizes.
    arrays : UnitArrays or None
        True labels, scores and predicted labels of the test rows.
    started, finished : str
        Times, in UTC.
    versions, host : dict
        Versions of the packages and facts about the machine.
    """

    status: str
    started: str
    error: str | None = None
    traceback: str | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Any] | None = None
    search_seconds: float = float("nan")
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    processor_seconds: float = float("nan")
    peak_memory_mb: float = float("nan")
    n_train: int | None = None
    n_test: int | None = None
    n_labels: int | None = None
    n_features: int | None = None
    arrays: UnitArrays | None = None
    finished: str = field(default_factory=lambda: now())
    versions: Mapping[str, str] = field(default_factory=lambda: versions(PACKAGES))
    host: Mapping[str, Any] = field(default_factory=lambda: host_facts())

    @classmethod
    def failure(
        cls, status: str, error: str, traceback: str | None = None, started: str | None = None
    ) -> UnitResult:
        """Return the result of a unit that has none."""
        return cls(status, started or now(), error=error, traceback=traceback)


@dataclass(frozen=True, eq=False)
class UnitArrays:
    """True labels, scores and predicted labels, from which any measure can be computed.

    Attributes
    ----------
    truth, labels : ndarray of uint8, shape (n_test, n_labels)
        True and predicted labels of the test rows.
    scores : ndarray of shape (n_test, n_labels)
        Scores of the test rows; float32, or float64 where rounding would make different scores of
        a row equal.
    offset : float
        What the method subtracted from its scores: it compares them with a threshold before that.
    validation_truth, validation_scores : ndarray or None
        True labels and scores of the validation rows, where the protocol has them.
    tunable_scores : ndarray or None
        Scores of the test rows by the model that scored the validation rows, where it is not the
        model of ``scores``.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.experiments.unit import UnitArrays
    >>> arrays = UnitArrays(np.array([[1, 0]]), np.array([[0.2, -0.3]]), np.array([[1, 0]]), 0.5)
    >>> arrays.cut(0.1)
    array([[1, 1]], dtype=uint8)
    """

    truth: np.ndarray
    scores: np.ndarray
    labels: np.ndarray
    offset: float = 0.0
    validation_truth: np.ndarray | None = None
    validation_scores: np.ndarray | None = None
    tunable_scores: np.ndarray | None = None

    def cut(self, threshold: float | str) -> np.ndarray:
        """Return the labels that another threshold of the method would have predicted.

        A rule is fitted on the validation rows, and the scores of the model that it was fitted on
        are cut: another fit of the same method may have another scale.
        """
        rule = rule_of_text(str(threshold))
        if not isinstance(rule, str):
            return (self.scores >= np.float64(rule - self.offset)).astype(np.uint8)
        if self.validation_scores is None:
            raise ValueError(
                f"The rule {rule!r} has to be learnt from rows that are not measured on, and this "
                "protocol keeps none: run the experiment with it, or use a number, or the "
                "protocol 'paper'."
            )
        usual = 0.5 - self.offset  # the usual cut of scores, from where these are measured
        fitted = fit_threshold(rule, self.validation_truth, self.validation_scores, default=usual)
        scores = self.scores if self.tunable_scores is None else self.tunable_scores
        return fitted.apply(np.asarray(scores, dtype=np.float64))


def run_unit(unit: Unit) -> UnitResult:
    """Do a unit of work in this process.

    Errors of the method are not caught.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.experiments.protocol import PROTOCOLS
    >>> from splmll.experiments.unit import Unit, run_unit
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> data = Dataset(X, (X > 0).astype(int), ["a", "b"], ["right", "up"], name="corners")
    >>> result = run_unit(Unit("ML-kNN", data, PROTOCOLS["held-out"]))
    >>> result.n_train, result.n_test, result.measures["hamming_loss"] < 0.2
    (180, 20, True)
    """
    started = now()
    with PeakMemory() as memory:
        data = load_dataset(unit.data) if isinstance(unit.data, str) else unit.data
        n_labels = data.Y.shape[1]
        part = unit.protocol.repetition(data, unit.repetition, unit.base_seed)[unit.fold]
        model = unit.make_model(data.X)
        Y = data.Y if _takes_sparse_labels(model) else dense(data.Y)
        X_test, Y_test = take_rows(data.X, part.test), dense(data.Y[part.test])

        start, processor = time.perf_counter(), time.process_time()
        if unit.search.kind != "none":
            held = np.empty(0, dtype=int) if part.validation is None else part.validation
            rows = np.r_[part.train, held]
            X_seen, Y_seen = take_rows(data.X, rows), Y[rows]
            found = choose_settings(
                unit.search, model, X_seen, Y_seen, n_validation=len(held), seed=unit.seed
            )
            model.set_params(**found)
        searched = time.perf_counter()
        model.fit(take_rows(data.X, part.train), Y[part.train])
        fitted = time.perf_counter()
        scores = label_scores(model, X_test, n_labels)
        labels = _small(dense(model.predict(X_test)).reshape(len(scores), -1))
        predicted = time.perf_counter()
        processor = time.process_time() - processor

        validation: dict[str, np.ndarray] = {}
        if part.threshold_rows is not None:
            # By a second fit that has not seen these rows. What is tuned on them is applied to
            # its own scores of the test rows: the first fit may have another scale.
            kept = np.setdiff1d(part.train, part.threshold_rows)
            second = clone(model).fit(take_rows(data.X, kept), Y[kept])
            validation = _judged(second, data, part.threshold_rows)
            validation["tunable_scores"] = compact(label_scores(second, X_test, n_labels))
        if part.validation is not None:
            validation = _judged(model, data, part.validation)
        measures = evaluate(Y_test, scores, labels, measures_for(n_labels))
    method = _method_in(model)
    return UnitResult(
        status="done",
        started=started,
        measures={name: measures.get(name, float("nan")) for name in MEASURES},
        settings=changed_settings(method),
        search_seconds=searched - start,
        fit_seconds=fitted - searched,
        predict_seconds=predicted - fitted,
        processor_seconds=processor,
        peak_memory_mb=memory.megabytes,
        n_train=len(part.train),
        n_test=len(part.test),
        n_labels=n_labels,
        n_features=data.X.shape[1],
        arrays=UnitArrays(
            truth=_small(Y_test),
            scores=compact(scores),
            labels=labels,
            offset=float(getattr(method, "offset_", 0.0)),
            **validation,
        ),
    )


def measures_for(n_labels: int) -> list[str]:
    """Return the measures that data with so many labels can have."""
    return [
        name
        for name, measure in MEASURES.items()
        if getattr(measure.function, "keywords", {}).get("k", 1) <= n_labels
    ]


def compact(scores: np.ndarray) -> np.ndarray:
    """Return scores as float32 where that leaves all rankings as they are.

    Rounding never swaps two scores, but it can make them equal, and ties count as errors.
    """
    rounded = scores.astype(np.float32)
    differ, still_differ = (
        np.diff(np.sort(values, axis=1), axis=1) > 0 for values in (scores, rounded)
    )
    return rounded if np.array_equal(differ, still_differ) else scores


@lru_cache(maxsize=32)
def fingerprint(data: Dataset) -> str:
    """Return a hash of the content of a data set: features, labels, names and split."""
    matrices = [_canonical(matrix) for matrix in (data.X, data.Y)]
    names = [list(names) for names in (data.feature_names, data.label_names)]
    return joblib.hash([*matrices, *names, data.train, data.test])


def _canonical(matrix: Any) -> Any:
    """Return arrays that are equal for equal content, however it is stored."""
    if isinstance(matrix, pd.DataFrame):
        return str(matrix.dtypes.to_list()), pd.util.hash_pandas_object(matrix, False).to_numpy()
    if not sparse.issparse(matrix):
        return np.ascontiguousarray(matrix)
    stored = sparse.csr_array(matrix, copy=True)
    stored.sum_duplicates()
    return stored.data, stored.indices.astype(np.int64), stored.indptr.astype(np.int64)


def host_facts() -> dict[str, Any]:
    """Return name, system, processor, cores and memory of this machine."""
    return {
        "name": platform.node(),
        "system": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "memory_mb": round(psutil.virtual_memory().total / MEGABYTE),
    }


def now() -> str:
    """Return the time in UTC, as text that sorts by time."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


# What a unit is made of -----------------------------------------------------------------------


def _seed_names(estimator: Any) -> list[str]:
    return [
        name
        for name in estimator.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    ]


def _scaler(preprocessing: str, X: Any) -> Any:
    sparse_features = sparse.issparse(X)
    if preprocessing == "suited":
        as_it_is = sparse_features or isinstance(X, pd.DataFrame) or np.isin(X, (0, 1)).all()
        preprocessing = "none" if as_it_is else "standard"
    if preprocessing == "none":
        return None
    if preprocessing == "standard":
        return StandardScaler(with_mean=not sparse_features)
    return MaxAbsScaler() if sparse_features else MinMaxScaler()


def _judged(model: Any, data: Dataset, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return true labels and scores of rows that a model has not seen."""
    scores = label_scores(model, take_rows(data.X, rows), data.Y.shape[1])
    return {"validation_truth": _small(dense(data.Y[rows])), "validation_scores": compact(scores)}


def _method_in(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _takes_threshold(method: Any, rule: float | str) -> bool:
    from splmll.published import PublishedSPLMLL

    if isinstance(method, PublishedSPLMLL):  # the paper's threshold is a number
        return not isinstance(rule, str)
    return isinstance(method, MultilabelClassifier) and "threshold" in method.get_params(False)


def _takes_sparse_labels(model: Any) -> bool:
    # Ours take what they get; others mostly fail on it, also inside a tuner.
    method = _method_in(model)
    return isinstance(method, MultilabelClassifier) and not isinstance(method, ThresholdTuner)


def _small(labels: np.ndarray) -> np.ndarray:
    """Return labels with a byte for each, unless some are unknown (NaN)."""
    unknown = labels.dtype.kind == "f" and bool(np.isnan(labels).any())
    return labels if unknown else labels.astype(np.uint8)


def _hash(described: Any) -> str:
    text = json.dumps(described, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_LENGTH]
