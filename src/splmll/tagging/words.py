"""Words of texts as features: all of them, weighted by TF-IDF, from any number of text columns.

The columns of a row form one text: a word means the same in a title and in a body. Short texts get
more features, because a single word there has little context.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from splmll.constraints import CheckedParameters, Choice

# A word of a single row teaches nothing about others; a small table has few words to lose.
ROWS_TO_DROP_WORDS = 100
# Texts with fewer words than this on average are short; docs/command_line.md has the measurements.
SHORT_TEXT = 15
# All words, and every mark by itself: "?!" and a smiling face say much where little else is said.
_WORDS_AND_MARKS = r"(?u)\w+|[^\w\s]"
_LONGER_WORDS = r"(?u)\b\w\w+\b"
# More characters than this, and words are hashed: a vocabulary of all pairs may need gigabytes.
MOST_CHARACTERS = 300_000_000
HASHED_FEATURES = 2**20
_ROWS_AT_ONCE = 1000
PIECE_LENGTHS = (3, 5)  # characters of the pieces of words
ROWS_OF_PIECES = 5  # a piece of fewer rows is the tail of a rare word


class NoWordsError(ValueError):
    """A text column has no word to learn from.

    Attributes
    ----------
    column : str
        Its name, or its number if it has none.
    empty : bool
        Whether it is completely empty.
    """

    def __init__(self, column: str, empty: bool) -> None:
        self.column, self.empty = column, empty
        super().__init__(f"the column {column!r} {self.reason}")

    @property
    def reason(self) -> str:
        """What is wrong with the column."""
        return "is empty" if self.empty else "has no word that occurs in several rows"


class Words(TransformerMixin, CheckedParameters):
    """The words of text columns, weighted by TF-IDF with logarithmic counts.

    Words that occur in only one row are left out; in tables with fewer than 100 rows, all words are
    kept. Accents and case make no difference. Frequent words are kept, because their weight is
    small anyway.

    Parameters
    ----------
    short : bool or "auto", default="auto"
        Whether words of a single letter, punctuation marks and pairs of neighbouring words are
        features, too, which helps in short texts. "auto": if texts have fewer than 15 words on
        average.
    characters : bool or "auto", default="auto"
        Whether pieces of words, of 3 to 5 characters, are features, too. They help, but in long
        texts a fit takes ten times as long. "auto": in short texts.
    hashed : bool or "auto", default="auto"
        Whether words are hashed into 2**20 buckets, which two words may share, instead of being
        kept in a vocabulary that has to fit into memory. "auto": beyond 300 million characters.

    Attributes
    ----------
    short_, characters_, hashed_ : bool
        What was chosen.
    vectorizers_ : list
        For words and, with ``characters_``, for pieces of words: a vectorizer with a vocabulary, or
        ``HashedWords``.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.tagging.words import Words
    >>> texts = pd.DataFrame({"title": ["Oil", "Pump"], "body": ["leaks", "leaks oil"]})
    >>> words = Words(characters=False).fit(texts)
    >>> words.get_feature_names_out().tolist()
    ['leaks', 'leaks oil', 'oil', 'oil leaks', 'pump', 'pump leaks']
    >>> words.transform(pd.DataFrame({"title": ["more oil"], "body": [""]})).toarray().round(2)
    array([[0., 0., 1., 0., 0., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "short": ["boolean", Choice("auto")],
        "characters": ["boolean", Choice("auto")],
        "hashed": ["boolean", Choice("auto")],
    }

    def __init__(
        self,
        short: bool | str = "auto",
        characters: bool | str = "auto",
        hashed: bool | str = "auto",
    ) -> None:
        self.short = short
        self.characters = characters
        self.hashed = hashed

    def fit(self, X: Any, y: Any = None) -> Words:
        """Learn the words.

        Parameters
        ----------
        X : DataFrame or array of str of shape (n_rows, n_columns)
            The text columns.
        y : ignored

        Returns
        -------
        self : Words

        Raises
        ------
        NoWordsError
            If a column has no word that becomes a feature.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> sparse.csr_array:
        """Learn the words and return the weights of these rows, see :meth:`transform`."""
        self._validate_params()
        columns = _columns(X)
        texts = _joined(columns)
        self._choose(columns, texts, len(texts))
        try:
            found = [each.fit_transform(texts) for each in self.vectorizers_]
        except ValueError as error:
            # No word at all: any column may stand for it, best an empty one.
            worst = min(columns, key=lambda name: any(map(str.strip, columns[name])))
            raise NoWordsError(worst, not any(map(str.strip, columns[worst]))) from error
        for name, column in columns.items():
            if not self._knows_any_of(column):
                raise NoWordsError(name, not any(map(str.strip, column)))
        return _beside(found)

    def begin(self, X: Any, n_rows: int, n_features: int) -> None:
        """Begin with the first of many rows that come in chunks; words are hashed.

        :meth:`tally` counts the words of one chunk after the other, and :meth:`settle` finishes.

        Parameters
        ----------
        X : DataFrame or array of str of shape (some rows, n_columns)
            The first rows, which decide what becomes a feature.
        n_rows : int
            Number of all rows.
        n_features : int
            Number of buckets that words are hashed into.
        """
        self.set_params(hashed=True)
        self._validate_params()
        columns = _columns(X)
        self._choose(columns, _joined(columns), n_rows)
        width = n_features // len(self.vectorizers_)
        for each in self.vectorizers_:
            each.n_features = width
        self._rows_with = [np.zeros(width, dtype=np.int64) for _ in self.vectorizers_]
        self._n_rows = n_rows

    def tally(self, X: Any) -> None:
        """Count the words of some rows."""
        texts = _joined(_columns(X))
        for each, rows_with in zip(self.vectorizers_, self._rows_with, strict=True):
            rows_with += each.rows_with(texts)

    def settle(self) -> Words:
        """Weight the words by the number of rows that have them."""
        for each, rows_with in zip(self.vectorizers_, self._rows_with, strict=True):
            each.weigh(rows_with, self._n_rows)
        del self._rows_with, self._n_rows
        return self

    def _choose(self, columns: dict[str, list[str]], texts: list[str], n_rows: int) -> None:
        """Choose the features and the vectorizers."""
        self.n_features_in_ = len(columns)
        self.short_ = _mean_words(texts) < SHORT_TEXT if self.short == "auto" else bool(self.short)
        self.characters_ = self.short_ if self.characters == "auto" else bool(self.characters)
        self.hashed_ = (
            sum(map(len, texts)) > MOST_CHARACTERS if self.hashed == "auto" else bool(self.hashed)
        )
        few = n_rows < ROWS_TO_DROP_WORDS
        words: dict[str, Any] = {
            "token_pattern": _WORDS_AND_MARKS if self.short_ else _LONGER_WORDS,
            "ngram_range": (1, 2) if self.short_ else (1, 1),
            "min_df": 1 if few else 2,
        }
        pieces = {
            "analyzer": "char_wb",
            "ngram_range": PIECE_LENGTHS,
            "min_df": 1 if few else ROWS_OF_PIECES,
        }
        make = HashedWords if self.hashed_ else _weighted_words
        self.vectorizers_ = [make(**each) for each in [words, *[pieces] * self.characters_]]

    def transform(self, X: Any) -> sparse.csr_array:
        """Return the weights of the words of rows; 0 for words that are not known.

        Parameters
        ----------
        X : DataFrame or array of str of shape (n_rows, n_columns)
            The text columns.

        Returns
        -------
        weights : CSR array of shape (n_rows, n_words)
        """
        check_is_fitted(self)
        texts = _joined(_columns(X))
        return _beside([each.transform(texts) for each in self.vectorizers_])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the words and pieces of words; numbers where they are hashed."""
        check_is_fitted(self)
        return np.concatenate([each.get_feature_names_out() for each in self.vectorizers_])

    def frequent(self, n: int) -> list[str]:
        """Return the words that most rows have, the most frequent first; none if hashed."""
        check_is_fitted(self)
        if self.hashed_:
            return []
        names = self.vectorizers_[0].get_feature_names_out()
        order = np.argsort(self.vectorizers_[0].idf_, kind="stable")
        single = (str(names[k]) for k in order if str(names[k]).isalnum())
        return [word for word, _ in zip(single, range(n))]

    def _knows_any_of(self, texts: list[str]) -> bool:
        # Most columns are settled by their first rows.
        starts = range(0, len(texts), _ROWS_AT_ONCE)
        parts = (texts[start : start + _ROWS_AT_ONCE] for start in starts)
        return any(self.vectorizers_[0].transform(part).nnz for part in parts)


class HashedWords(BaseEstimator):
    """TF-IDF without a vocabulary: every word is hashed into a bucket.

    Parameters
    ----------
    analyzer, token_pattern, ngram_range
        What is counted, see :class:`sklearn.feature_extraction.text.HashingVectorizer`.
    min_df : int, default=1
        Buckets that fewer rows use are left out.
    n_features : int, default=2**20
        Number of buckets.

    Attributes
    ----------
    kept_ : ndarray of int
        The buckets that are features.
    idf_ : ndarray
        The weight of each: scikit-learn's inverse document frequency.

    Examples
    --------
    >>> from splmll.tagging.words import HashedWords
    >>> HashedWords(min_df=2).fit_transform(["a leaking pump", "pump", "oil"]).toarray()
    array([[1.],
           [1.],
           [0.]])
    """

    def __init__(
        self,
        analyzer: str = "word",
        token_pattern: str = _LONGER_WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int = 1,
        n_features: int = HASHED_FEATURES,
    ) -> None:
        self.analyzer = analyzer
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.n_features = n_features

    def fit_transform(self, texts: Iterable[str]) -> sparse.csr_array:
        """Learn the weights of the buckets and return those of these texts."""
        counts = self._counts(texts)
        self.weigh(np.bincount(counts.indices, minlength=self.n_features), counts.shape[0])
        return self._weighted(counts)

    def transform(self, texts: Iterable[str]) -> sparse.csr_array:
        """Return the weights of texts."""
        return self._weighted(self._counts(texts))

    def rows_with(self, texts: Iterable[str]) -> np.ndarray:
        """Return how many of these texts use each bucket."""
        return np.bincount(self._counts(texts).indices, minlength=self.n_features)

    def weigh(self, rows_with: np.ndarray, n_rows: int) -> None:
        """Learn the weights of the buckets from how many of all rows use each."""
        self.kept_ = np.flatnonzero(rows_with >= self.min_df)
        if not len(self.kept_):
            raise ValueError("no word is left")  # as scikit-learn does for an empty vocabulary
        self.idf_ = np.log((1 + n_rows) / (1 + rows_with[self.kept_])) + 1

    def _weighted(self, counts: Any) -> sparse.csr_array:
        weights = sparse.csr_array(counts[:, self.kept_])
        weights.data = (1 + np.log(weights.data)) * self.idf_[weights.indices]
        return sparse.csr_array(normalize(weights))

    def get_feature_names_out(self) -> np.ndarray:
        """Return the numbers of the buckets."""
        return np.array([f"#{place}" for place in self.kept_], dtype=object)

    def _counts(self, texts: Iterable[str]) -> Any:
        return HashingVectorizer(
            analyzer=self.analyzer,
            token_pattern=self.token_pattern,
            ngram_range=self.ngram_range,
            strip_accents="unicode",
            n_features=self.n_features,
            alternate_sign=False,
            norm=None,
        ).transform(texts)


def _weighted_words(**options: Any) -> TfidfVectorizer:
    return TfidfVectorizer(strip_accents="unicode", sublinear_tf=True, **options)


def _columns(X: Any) -> dict[str, list[str]]:
    """Return the texts of every column by its name; numbers where there are no names."""
    if isinstance(X, pd.DataFrame):
        return {str(name): X[name].tolist() for name in X.columns}
    cells = np.asarray(X, dtype=object)
    return {str(k): cells[:, k].tolist() for k in range(cells.shape[1])}


def _joined(columns: dict[str, list[str]]) -> list[str]:
    """Return one text for each row."""
    if len(columns) == 1:
        return next(iter(columns.values()))
    return ["\n".join(cells) for cells in zip(*columns.values(), strict=True)]


def _mean_words(texts: list[str]) -> float:
    filled = [len(text.split()) for text in texts if text.strip()]
    return float(np.mean(filled)) if filled else 0.0


def _beside(parts: list[Any]) -> sparse.csr_array:
    joined = parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")
    return sparse.csr_array(joined)
