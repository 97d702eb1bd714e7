"""Words: which features texts become, and what happens to texts that have none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from splmll.datasets import Dataset
from splmll.persistence import load, save
from splmll.tagging import Tagger, Words
from splmll.tagging import words as module
from splmll.tagging.words import NoWordsError

LONG = " ".join(f"word{k}" for k in range(20))


def names(texts, **options) -> list[str]:
    table = texts if isinstance(texts, pd.DataFrame) else pd.DataFrame({"body": texts})
    return Words(**options).fit(table).get_feature_names_out().tolist()


def test_columns_share_their_words() -> None:
    table = pd.DataFrame({"title": ["oil", "pump"], "body": ["pump", "oil"]})
    assert names(table, short=False) == ["oil", "pump"]


def test_short_texts_are_read_closely() -> None:
    found = names(["I am ok!", "so am I"])
    assert {"i", "!", "am", "i am", "ok !", "am i"} <= set(found)
    assert " ok" in names(["I am ok!"])  # a piece of a word
    long = names([f"{LONG} I am ok!"])
    assert {"am", "ok"} <= set(long)
    assert not {"i", "!", "i am", " ok"} & set(long)


def test_a_word_of_one_row_is_kept_in_small_tables_only(monkeypatch) -> None:
    texts = ["oil pump", "oil door"]
    assert names(texts, short=False) == ["door", "oil", "pump"]
    monkeypatch.setattr(module, "ROWS_TO_DROP_WORDS", 2)
    assert names(texts, short=False) == ["oil"]


def test_hashed_words_weigh_what_known_words_weigh() -> None:
    texts = pd.DataFrame({"body": ["oil pump oil", "door", "oil door", "new oil"]})
    by_name, hashed = (Words(short=False, hashed=each).fit(texts) for each in (False, True))
    a, b = (each.transform(texts).toarray() for each in (by_name, hashed))
    assert np.allclose(a @ a.T, b @ b.T)
    assert np.allclose(np.sort(a, axis=None), np.sort(b, axis=None))
    assert hashed.transform(pd.DataFrame({"body": ["unheard of"]})).nnz == 0


def test_words_are_hashed_beyond_what_memory_takes(monkeypatch) -> None:
    texts = pd.DataFrame({"body": ["oil pump", "door"]})
    assert not Words().fit(texts).hashed_
    monkeypatch.setattr(module, "MOST_CHARACTERS", 11)
    assert Words().fit(texts).hashed_
    assert not Words(hashed=False).fit(texts).hashed_


@pytest.mark.parametrize("hashed", [False, True])
def test_words_in_a_file(hashed, tmp_path) -> None:
    texts = pd.DataFrame({"title": ["oil", "pump"], "body": ["pump!", "so oil"]})
    words = Words(hashed=hashed).fit(texts)
    save(words, tmp_path / "words")
    read = load(tmp_path / "words").transform(texts)
    assert (read != words.transform(texts)).nnz == 0


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize(
    ("texts", "empty"), [(["", " "], True), (["a", "b"], False)], ids=["empty", "no words"]
)
def test_a_column_without_words_is_named(texts, empty, hashed) -> None:
    for others in ({}, {"title": ["oil", "pump"]}):
        table = pd.DataFrame({**others, "body": texts})
        with pytest.raises(NoWordsError) as found:
            Words(short=False, characters=False, hashed=hashed).fit(table)
        assert (found.value.column, found.value.empty) == ("body", empty)


# Taggers ----------------------------------------------------------------------------------------


def data_of(texts: list[str], tags: list[int]) -> Dataset:
    Y = np.array([[tag, 1 - tag] for tag in tags])
    return Dataset(
        pd.DataFrame({"body": texts}), Y, ["body"], ["yes", "no"], column_kinds={"body": "text"}
    )


def test_a_vocabulary_of_one_word() -> None:
    tagger = Tagger.fit(data_of(["oil", ""] * 30, [1, 0] * 30), words=Words(False, False))
    assert tagger.pipeline[-1].n_features_in_ == 1
    assert tagger.tags(pd.DataFrame({"body": ["oil", "pump"]})) == [["yes"], ["no"]]


def test_frequent_words_are_words_like_others() -> None:
    tagger = Tagger.fit(data_of(["the of", "and the"] * 30, [1, 0] * 30))
    assert tagger.tags(pd.DataFrame({"body": ["of the", "the and"]})) == [["yes"], ["no"]]


def test_rows_without_any_known_word_are_told() -> None:
    notes: list[str] = []
    texts = ["oil leak", "new pump"] * 60
    texts[0] = "unheard"
    tagger = Tagger.fit(data_of(texts, [1, 0] * 60), words=Words(False), on_note=notes.append)
    assert notes == ["1 row has no word that the model knows."]
    tagged = tagger.tag(pd.DataFrame({"body": ["", "oil", "???", None]}))
    assert tagged.without_words.tolist() == [True, False, True, True]
    assert tagged.scores.iloc[0].equals(tagged.scores.iloc[2])
    assert tagged.scores.notna().all(axis=None)
