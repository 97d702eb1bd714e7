"""Which rows a method learns from and which it is measured on.

Five ways of doing it, each with one sentence for the caption of a table. All methods of an
experiment get the same rows and the same seeds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator, KFold

from splmll.datasets import Dataset
from splmll.model_selection import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit
from splmll.words import counted

# A data set without a standard split is tested on one row of so many.
ROWS_PER_TEST_ROW = 10
# The share of the training rows that the paper keeps for validation.
VALIDATION_SHARE = 0.1
# In the benchmark: test rows of a set without a split, and training rows for the threshold.
TEST_SHARE = 1 / 3
THRESHOLD_SHARE = 0.2
FEWEST_THRESHOLD_ROWS = 60


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one fit.

    Attributes
    ----------
    train, test : ndarray of int
        Row numbers.
    validation : ndarray of int or None
        Rows for choosing settings: neither trained on nor measured on.
    threshold_rows : ndarray of int or None
        Some of the training rows: a second fit without them gives scores to choose thresholds on.
    """

    train: np.ndarray
    test: np.ndarray
    validation: np.ndarray | None = None
    threshold_rows: np.ndarray | None = None


@dataclass(frozen=True)
class Protocol(ABC):
    """A way of dividing rows into those to learn from and those to be measured on.

    Parameters
    ----------
    repetitions : int
        How often everything is done, each time with another seed.

    Attributes
    ----------
    name : str
        Its key in `PROTOCOLS`.
    title : str
        Its name over a table.
    gist, sentence : str
        What is done, in a few words and for a caption.
    redraws_rows : bool
        Whether every repetition divides the rows anew. Where it does not, a method without
        randomness gives the same result every time.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    gist: ClassVar[str]
    sentence: ClassVar[str]
    redraws_rows: ClassVar[bool] = False

    repetitions: int = 1

    def __post_init__(self) -> None:
        if self.repetitions < 1:
            raise ValueError(
                f"repetitions must be a whole number of at least 1, got {self.repetitions!r}."
            )

    @property
    def folds(self) -> int:
        """Number of fits in every repetition."""
        return 1

    @abstractmethod
    def repetition(self, data: Dataset, repetition: int, seed: int = 0) -> list[Part]:
        """Return the rows of the fits of one repetition, fold by fold.

        Repetitions are counted from 0; the seed is that of all of them. The same data and seed
        give the same rows.
        """

    def describe(self) -> str:
        """Return the sentence that says in a caption what was done."""
        seeds, repetitions = (counted(self.repetitions, word) for word in ("seed", "repetition"))
        return self.sentence.format(seeds=seeds, repetitions=repetitions)


@dataclass(frozen=True)
class HeldOut(Protocol):
    """The standard split of the data, in every repetition with another seed for the methods.

    A data set without a split is tested on a random tenth of its rows, the same in all repetitions.

    Parameters
    ----------
    repetitions : int, default=5
        Number of seeds.

    Examples
    --------
    >>> from splmll.experiments.protocol import HeldOut
    >>> HeldOut(3).describe().split(";")[0]
    'Held out: trained on the training rows of the standard split, measured on its test rows'
    """

    name = "held-out"
    title = "Held-out test rows"
    gist = "held-out (trained on the training rows, measured on the test rows)"

    sentence = (
        "Held out: trained on the training rows of the standard split, measured on its test rows; "
        "a data set without a split is measured on a random tenth of its rows. {seeds} for methods "
        "with randomness, which see the same rows."
    )

    repetitions: int = 5

    def repetition(self, data: Dataset, repetition: int, seed: int = 0) -> list[Part]:
        """Return the standard split."""
        return [Part(*standard_split(data, seed))]


@dataclass(frozen=True)
class CrossValidation(Protocol):
    """K folds of all rows, whatever the standard split, drawn anew in every repetition.

    Parameters
    ----------
    repetitions : int, default=1
        How often the folds are drawn.
    n_folds : int, default=5
        Number of folds.
    stratified : bool, default=True
        Give all folds the same label frequencies.

    Examples
    --------
    >>> from splmll.experiments.protocol import CrossValidation
    >>> CrossValidation(repetitions=2, n_folds=10, stratified=False).describe()
    'Cross-validation on all rows: 10 folds, random, drawn 2 times.'
    """

    name = "cv"
    title = "Cross-validation"
    gist = "cross-validation"
    redraws_rows = True

    repetitions: int = 1
    n_folds: int = 5
    stratified: bool = True

    @property
    def folds(self) -> int:  # noqa: D102 - as above
        return self.n_folds

    def describe(self) -> str:  # noqa: D102 - as above
        kind = "multi-label stratified" if self.stratified else "random"
        drawn = f", drawn {self.repetitions} times" if self.repetitions > 1 else ""
        return f"Cross-validation on all rows: {self.n_folds} folds, {kind}{drawn}."

    def repetition(self, data: Dataset, repetition: int, seed: int = 0) -> list[Part]:
        """Return the folds."""
        folds: BaseCrossValidator = (
            MultilabelStratifiedKFold(self.n_folds, random_state=seed + repetition)
            if self.stratified
            else KFold(self.n_folds, shuffle=True, random_state=seed + repetition)
        )
        return [Part(*rows) for rows in folds.split(np.arange(data.Y.shape[0]), data.Y)]


@dataclass(frozen=True)
class PaperProtocol(Protocol):
    """What the paper describes: the standard split, and a tenth of the training rows set apart.

    Every repetition sets other rows apart for validation. Settings are chosen on them where there
    is a search; without one they are left unused, so that all methods learn from the same rows.

    Parameters
    ----------
    repetitions : int, default=10
        How often rows are set apart.

    Examples
    --------
    >>> from splmll.datasets import load_dataset
    >>> from splmll.experiments.protocol import PaperProtocol
    >>> (part,) = PaperProtocol().repetition(load_dataset("digit-scenes"), 0)
    >>> len(part.train), len(part.validation), len(part.test)
    (2700, 300, 1000)
    """

    name = "paper"
    title = "The paper's protocol"
    gist = (
        "the paper's (the standard split; every repetition holds back another tenth of the "
        "training rows for validation)"
    )
    redraws_rows = True

    sentence = (
        "The paper's protocol: measured on the test rows of the standard split (a random tenth of "
        "the rows where a set has none), {repetitions}, each with another tenth of the training "
        "rows set apart for validation."
    )

    repetitions: int = 10

    def repetition(self, data: Dataset, repetition: int, seed: int = 0) -> list[Part]:
        """Return the standard split, with a tenth of its training rows set apart."""
        train, test = standard_split(data, seed)
        kept, validation = _stratified(data, train, VALIDATION_SHARE, seed + repetition)
        return [Part(kept, test, validation)]


@dataclass(frozen=True)
class Resubstitution(Protocol):
    """Trained and measured on the same rows: no statement about new rows at all.

    It exists only because the tmc2007 rows of the paper's tables were obtained in this way, so that
    something comparable can stand beside them. Methods must not be ranked by it.

    Parameters
    ----------
    repetitions : int, default=1
        Number of seeds.

    Examples
    --------
    >>> from splmll.experiments.protocol import Resubstitution
    >>> Resubstitution().describe().split(". ")[1]
    'Measured on the training rows: no result for new rows, no ground to rank methods by.'
    """

    name = "resubstitution"
    title = "Resubstitution (training rows)"
    gist = "resubstitution (measured on the training rows, no estimate of anything else)"
    sentence = (
        "Resubstitution: trained and measured on the same rows, the training rows of the standard "
        "split, as the paper's tmc2007 rows were. Measured on the training rows: no result for new "
        "rows, no ground to rank methods by."
    )

    def repetition(self, data: Dataset, repetition: int, seed: int = 0) -> list[Part]:
        """Return the training rows, twice."""
        train, _ = standard_split(data, seed)
        return [Part(train, train)]


@dataclass(frozen=True)
class BenchmarkProtocol(Protocol):
    """The standard split, a stratified third where there is none, and a threshold for all methods.

    A second fit, without a fifth of the training rows, gives every method honest scores on which
    the same rule chooses its threshold. The rows of the benchmark's own data sets come with the
    library: results stay comparable, whatever becomes of the draw.

    Parameters
    ----------
    repetitions : int, default=1
        Number of seeds; only the methods' seed differs between them.
    most_rows : int, default=25000
        A data set without a split that has more rows is a sample of so many, the same for all.
    most_train, most_test : int, float or None, default=None
        Learn from and measure on no more than so many rows of the split, for a quick look; a float
        is a share of its rows.

    Examples
    --------
    >>> from splmll.datasets import load_dataset
    >>> from splmll.experiments.protocol import BenchmarkProtocol
    >>> (part,) = BenchmarkProtocol().repetition(load_dataset("digit-scenes"), 0)
    >>> len(part.train), len(part.threshold_rows), len(part.test)
    (3000, 600, 1000)
    """

    name = "benchmark"
    title = "Benchmark"
    gist = "benchmark (standard split, or a stratified third of the rows for testing)"

    repetitions: int = 1
    most_rows: int = 25_000
    most_train: int | float | None = None
    most_test: int | float | None = None

    def describe(self) -> str:  # noqa: D102 - as above
        quick = (
            f" At most {_amount(self.most_train)} training and {_amount(self.most_test)} test rows."
            if self.most_train is not None
            else ""
        )
        return (
            "Benchmark: trained and measured on the standard split; a data set without one on a "
            "label-stratified draw of a third of the rows for testing (of at most "
            f"{self.most_rows:,} rows drawn by chance). {counted(self.repetitions, 'seed')}.{quick}"
        )

    def repetition(self, data: Dataset, repetition: int, seed: int = 0) -> list[Part]:
        """Return the split, with some training rows for the threshold."""
        from splmll.experiments.benchmark.rows import rows_of  # which imports this module

        known = rows_of(data) if seed == 0 else None
        if data.train is not None and data.test is not None:
            train, test = data.train, data.test
        elif known is not None:
            train, test = known.train, known.test
        else:
            rows = _at_most(self.most_rows, np.arange(data.Y.shape[0]), seed)
            train, test = _stratified(data, rows, TEST_SHARE, seed)
        if known is not None and self.most_train is None and self.most_test is None:
            return [Part(train, test, threshold_rows=known.threshold_rows)]
        train, test = _at_most(self.most_train, train, seed), _at_most(self.most_test, test, seed)
        share = max(THRESHOLD_SHARE, min(0.5, FEWEST_THRESHOLD_ROWS / len(train)))
        _, threshold_rows = _stratified(data, train, share, seed)
        return [Part(train, test, threshold_rows=threshold_rows)]


#: Every protocol by name, with its usual number of repetitions.
PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {kind.name: kind() for kind in Protocol.__subclasses__()}
)


def standard_split(data: Dataset, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and test rows of the standard split, or a random tenth as the test rows.

    The seed is that of the draw for a data set without a split.
    """
    if data.train is not None and data.test is not None:
        return data.train, data.test
    n_rows = data.Y.shape[0]
    order = np.random.default_rng(seed).permutation(n_rows)
    n_test = max(1, n_rows // ROWS_PER_TEST_ROW)
    return order[n_test:], order[:n_test]


def _amount(most: int | float | None) -> str:
    return f"{most:.1%} of the" if isinstance(most, float) else "all" if most is None else str(most)


def _at_most(most: int | float | None, rows: np.ndarray, seed: int) -> np.ndarray:
    n_rows = round(most * len(rows)) if isinstance(most, float) else most
    if n_rows is None or len(rows) <= n_rows:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, n_rows, replace=False))


def _stratified(
    data: Dataset, rows: np.ndarray, share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Divide rows so that the second part, this share of them, has the labels of the whole."""
    splitter = MultilabelStratifiedShuffleSplit(1, test_size=share, random_state=seed)
    first, second = next(splitter.split(rows, data.Y[rows]))
    return rows[np.sort(first)], rows[np.sort(second)]
