"""Tagger in Python: columns of all kinds in, labels by name out, the same after a file."""

from __future__ import annotations

import gzip
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from splmll import SPLMLL
from splmll.datasets import Dataset, DatasetError, read_table, write_dataset
from splmll.datasets.chunks import read_chunks
from splmll.embeddings import OneVsRest
from splmll.persistence import ModelFileError, save
from splmll.tagging import Tagger, read_examples
from splmll.tagging.files import iterate_rows, read_alike
from splmll.tagging.output import prediction_writer, tag_delimiter
from splmll.tagging.pipeline import build_pipeline
from tagged_notes import write_notes


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    return write_notes(tmp_path_factory.mktemp("notes") / "notes.csv", 200)


@pytest.fixture(scope="module")
def tagger(notes) -> Tagger:
    data, reading = read_examples(notes, ["tags"], ignore=["id"])
    return Tagger.fit(data, reading=reading)


def corners(n_rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    return X, np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] + X[:, 1] > 0]).astype(int)


# Columns ----------------------------------------------------------------------------------------


def test_every_kind_of_column_becomes_features(tagger) -> None:
    assert tagger.column_kinds == {"body": "text", "hours": "numeric", "site": "categorical"}
    columns = tagger.pipeline[0].get_feature_names_out()
    assert "text__rotor" in columns
    assert "numeric__hours" in columns
    assert "categorical__site_north" in columns
    assert isinstance(tagger.pipeline[-1].embedding_, OneVsRest)


def test_it_learns_and_says_so_on_rows_it_had_not_seen(tagger, tmp_path) -> None:
    assert (tagger.measured.how, tagger.measured.n_rows) == ("out of fold", 200)
    assert tagger.measured.measures["micro_f1"] > 0.9
    assert tagger.measured.alone.keys() == tagger.measured.measures.keys()
    assert list(tagger.measured.labels.index) == ["door", "oil", "pump", "urgent"]
    other = read_alike(
        write_notes(tmp_path / "other.csv", 80, seed=1), tagger.reading, tagger.column_kinds
    )
    assert tagger.evaluate(other).measures["micro_f1"] > 0.9


def test_a_column_of_names_that_never_come_again_is_named(notes) -> None:
    data, _ = read_examples(notes, ["tags"])
    with pytest.raises(DatasetError, match=r"the column 'id' has no word .* --ignore id"):
        Tagger.fit(data)


def test_words_decide(tagger) -> None:
    rows = pd.DataFrame(
        {"site": "north", "body": ["oil leak, rotor seal", "door hinge lock"], "hours": [0.0, None]}
    )
    assert tagger.tags(rows) == [["oil", "pump"], ["door"]]
    assert tagger.predict(rows).loc[1].to_dict() == {"door": 1, "oil": 0, "pump": 0, "urgent": 0}
    scores = tagger.scores(rows)
    assert (scores["door"] > 0.5).tolist() == [False, True]


def test_missing_and_new_values_are_no_obstacle(tagger) -> None:
    rows = pd.DataFrame({"body": [None, "pump"], "hours": [None, "3"], "site": [None, "the moon"]})
    assert tagger.predict(rows).shape == (2, 4)


def test_no_word_is_left_out_but_those_of_a_single_row() -> None:
    rng = np.random.default_rng(0)
    pairs = rng.permutation(np.repeat(np.arange(3000), 2)).reshape(150, 40)
    texts = [" ".join(f"w{word}" for word in row) for row in pairs]
    texts[0] += " only here"
    data = Dataset(
        pd.DataFrame({"body": texts}), (pairs[:, :2] % 2), ["body"], ["odd", "even"],
        column_kinds={"body": "text"},
    )  # fmt: skip
    words = build_pipeline(data)[0].fit(data.X).get_feature_names_out()
    assert len(words) == sum(len({k for k in range(150) if w in pairs[k]}) > 1 for w in range(3000))


def test_words_stay_sparse_however_few_there_are(tagger, notes) -> None:
    rows, _ = next(iterate_rows(notes, tagger.reading, tagger.column_kinds, rows=50))
    assert sparse.issparse(tagger.pipeline[0].transform(rows))


def test_a_matrix_passes_straight_through() -> None:
    X, Y = corners()
    data = Dataset(X, Y, list("xyz"), ["right", "up", "both"])
    tagger = Tagger.fit(data, "SPL-MLL (linear)", n_landmarks=2)
    assert [name for name, _ in tagger.pipeline.steps] == ["method"]
    assert len(tagger.landmark_names) == 2
    assert tagger.tags(np.array([[2.0, -1.0, 0.0]])) == [["right", "both"]]
    with pytest.raises(ValueError, match="have 2 features, but the model has 3"):
        tagger.predict(X[:, :2])


def test_sparse_labels_and_a_single_label() -> None:
    X, Y = corners()
    data = Dataset(X, sparse.csr_array(Y), list("xyz"), ["right", "up", "both"])
    assert Tagger.fit(data, "SPL-MLL (linear)").tags(np.array([[2.0, 2.0, 0.0]])) == [
        ["right", "up", "both"]
    ]
    one = Tagger.fit(Dataset(X, Y[:, :1], list("xyz"), ["right"]), "BR")
    assert one.measured.labels.loc["right", "f1"] == one.measured.measures["micro_f1"]


# Measuring --------------------------------------------------------------------------------------


def test_labels_of_a_test_file_are_found_by_name(tagger, notes) -> None:
    data = read_alike(notes, tagger.reading, tagger.column_kinds)
    turned = Dataset(
        data.X,
        np.column_stack([np.ones(200, int), data.Y[:, ::-1]]),
        data.feature_names,
        ["unheard of", *data.label_names[::-1]],
        column_kinds=data.column_kinds,
    )
    found = tagger.evaluate(turned)
    assert found.unknown_labels == ["unheard of"]
    assert found.measures == tagger.evaluate(data).measures
    assert found.labels.equals(tagger.evaluate(data).labels)


def test_no_label_in_common(tagger, notes) -> None:
    data = read_alike(notes, tagger.reading, tagger.column_kinds)
    strange = Dataset(data.X, data.Y, data.feature_names, list("abcd"))
    with pytest.raises(DatasetError, match="the model knows none of its labels"):
        tagger.evaluate(strange)


def test_best_and_worst_labels() -> None:
    from splmll.tagging import Measured

    labels = pd.DataFrame({"rows": [9, 3, 5, 0], "f1": [0.5, 1.0, 0.5, np.nan]}, index=list("abcd"))
    measured = Measured(9, {}, labels)
    assert list(measured.best(2).index) == ["b", "a"]
    assert list(measured.worst().index) == ["a", "c", "b"]
    assert measured.to_dict()["labels"]["d"] == {"rows": 0, "f1": None}


def test_one_fit_measures_itself(notes, monkeypatch) -> None:
    fits = []
    learn = SPLMLL.fit_out_of_fold
    monkeypatch.setattr(
        SPLMLL,
        "fit_out_of_fold",
        lambda self, X, *a, **k: fits.append(X) or learn(self, X, *a, **k),
    )
    data, _ = read_examples(notes, ["tags"], ignore=["id"])
    assert Tagger.fit(data).measured.n_rows == 200
    assert [X.shape[0] for X in fits] == [200]
    measured = Tagger.fit(data, test_size=0.25).measured
    assert [X.shape[0] for X in fits] == [200, 150, 200]
    assert (measured.how, measured.n_rows, measured.alone) == ("held out", 50, {})
    with pytest.raises(ValueError, match=r"hold out must be between 0 and 1"):
        Tagger.fit(data, test_size=1)


def test_rows_are_scored_once(tagger, notes, monkeypatch) -> None:
    rows, _ = next(iterate_rows(notes, tagger.reading, tagger.column_kinds, rows=50))
    labels, scores, carriers = tagger.predict(rows), tagger.scores(rows), tagger.carriers(rows)
    calls = []
    predict = OneVsRest.predict
    monkeypatch.setattr(OneVsRest, "predict", lambda *a: calls.append(1) or predict(*a))
    tagged = tagger.tag(rows, explain=True)
    assert len(calls) == 1
    assert tagged.labels.equals(labels)
    assert tagged.scores.equals(scores)
    assert tagged.carriers == carriers


def test_every_method_tags_as_it_predicts() -> None:
    X, Y = corners()
    data = Dataset(X, Y, list("xyz"), ["right", "up", "both"])
    for method in ("LP", "BR", "ML-kNN"):  # LP finds its labels in another way than by scores
        tagger = Tagger.fit(data, method)
        tagged = tagger.tag(X)
        assert tagged.labels.equals(tagger.predict(X))
        assert tagged.scores.equals(tagger.scores(X))


def test_a_tagger_of_the_first_version_can_still_be_read(tagger, tmp_path) -> None:
    held = {each.name: getattr(tagger, each.name) for each in fields(tagger)}
    measured = held.pop("measured")
    old = {name: getattr(measured, name)
           for name in ("n_rows", "measures", "labels", "unknown_labels")}  # fmt: skip
    save({"holds": "splmll tagger 1", **held, "held_out": old}, tmp_path / "old")
    assert Tagger.load(tmp_path / "old").measured.how == "held out"


# Landmarks --------------------------------------------------------------------------------------


def test_an_explanation_adds_up(tagger, notes) -> None:
    rows, _ = next(iterate_rows(notes, tagger.reading, tagger.column_kinds, rows=50))
    row = next(k for k, tags in enumerate(tagger.tags(rows)) if len(tags) > 1)
    table = tagger.explain(rows, row)
    assert sorted(table.index) == tagger.tags(rows)[row]
    assert list(table.columns[2:]) == tagger.landmark_names
    assert np.allclose(table["score"], table.iloc[:, 1:].sum(axis=1))
    with pytest.raises(ValueError, match="There is no row 50: there are 50 rows; give 0 to 49"):
        tagger.explain(rows, 50)


def test_recovery_keeps_what_is_known_and_takes_columns_by_name(tagger) -> None:
    answers = pd.DataFrame(np.nan, index=["x", "y"], columns=tagger.landmark_names[::-1])
    first = tagger.landmark_names[0]
    answers.loc["x", first], answers.loc["y", first] = 1.0, 0.0
    found = tagger.recover(answers)
    assert found[first].tolist() == [1, 0]
    assert list(found.index) == ["x", "y"]
    with pytest.raises(DatasetError, match="there is no column"):
        tagger.recover(answers.drop(columns=first))


def test_landmarks_name_what_they_carry() -> None:
    X, _ = corners(300)
    a = (X[:, 0] > 0).astype(int)
    data = Dataset(X, np.column_stack([a, a, 1 - a]), list("xyz"), ["one", "same", "opposite"])
    tagger = Tagger.fit(data, "SPL-MLL (linear)", n_landmarks=1)
    assert len(tagger.landmarks()) == 1
    carried = set(tagger.landmarks()["carries"].iloc[0])
    assert carried in ({"same", "not opposite"}, {"one", "not opposite"}, {"not one", "not same"})


def test_other_methods_have_no_landmarks(notes) -> None:
    data, _ = read_examples(notes, ["tags"], ignore=["id"])
    tagger = Tagger.fit(data, "br")
    assert tagger.method == "BR"
    with pytest.raises(ValueError, match="BR of this model has no landmarks"):
        tagger.landmarks()
    with pytest.raises(ValueError, match="BR has no landmarks"):
        Tagger.fit(data, "BR", n_landmarks=2)
    with pytest.raises(ValueError, match="Did you mean 'ML-kNN'"):
        Tagger.fit(data, "ML-kNM")


def test_the_published_system_predicts_but_does_not_explain() -> None:
    X, Y = corners()
    data = Dataset(X, Y, list("xyz"), ["right", "up", "both"])
    tagger = Tagger.fit(
        data, "SPL-MLL (linear) as published", n_landmarks=2, settings={"max_epochs": 20}
    )
    assert tagger.predict(X).shape == Y.shape
    assert not tagger.has_landmarks
    with pytest.raises(ValueError, match="has no landmarks to explain and recover labels"):
        tagger.landmarks()


def test_a_threshold_is_passed_on(notes) -> None:
    data, _ = read_examples(notes, ["tags"], ignore=["id"])
    assert Tagger.fit(data, threshold=0.3).pipeline[-1].threshold_.value == 0.3


# Files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model", "model.zip"])
def test_a_saved_tagger_is_the_same(tagger, notes, tmp_path, name) -> None:
    tagger.save(tmp_path / name)
    loaded = Tagger.load(tmp_path / name)
    rows, _ = next(iterate_rows(notes, tagger.reading, tagger.column_kinds, rows=50))
    assert loaded.scores(rows).equals(tagger.scores(rows))
    assert loaded.tags(rows) == tagger.tags(rows)
    assert loaded.reading == tagger.reading
    assert loaded.measured.to_dict() == tagger.measured.to_dict()


def test_a_model_that_is_no_tagger(tmp_path) -> None:
    save(SPLMLL(), tmp_path / "model")
    with pytest.raises(ModelFileError, match="splmll fit"):
        Tagger.load(tmp_path / "model")
    with pytest.raises(ModelFileError, match="there is no model in this folder"):
        Tagger.load(tmp_path)
    save({"holds": "splmll tagger 1", "held_out": {}}, tmp_path / "part")
    with pytest.raises(ModelFileError, match="incomplete"):
        Tagger.load(tmp_path / "part")


def test_a_tagger_without_a_pipeline_is_refused(tagger, tmp_path) -> None:
    replace(tagger, pipeline="none").save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="the tagger in it has no pipeline"):
        Tagger.load(tmp_path / "model")


def test_forms_of_labels(tmp_path) -> None:
    lines = "x,is_a,is_b,c,plain\n" + "1,1,0,p q,0\n2,0,1,q,1\n" * 10
    file = tmp_path / "table.csv"
    file.write_text(lines)

    def names(labels, **options):
        data, reading = read_examples(file, labels, **options)
        return data.label_names, list(reading)

    assert names(["is_*"]) == (["a", "b"], ["label_prefix"])
    assert names(["is_a", "is_b"]) == (["is_a", "is_b"], ["labels"])
    assert names(["c"], delimiter=" ") == (["p", "q"], ["label_column", "label_delimiter"])
    assert names(["plain"]) == (["plain"], ["labels"])


def test_lists_in_parquet_go_in_and_out(tmp_path) -> None:
    words = ["oil leak on floor", "rotor seal of pump"] * 20
    tags = [["oil"], ["pump", "oil;greasy"]] * 20
    file = tmp_path / "notes.parquet"
    pd.DataFrame({"body": words, "tags": tags}).to_parquet(file)
    data, reading = read_examples(file, ["tags"])
    tagger = Tagger.fit(data, "BR", reading=reading)
    out = tmp_path / "tags.parquet"
    with prediction_writer(out, reading, tagger.label_names) as writer:
        for rows, _ in iterate_rows(file, reading, tagger.column_kinds, rows=7):
            writer.write(tagger.predict(rows), None, {})
    written = pd.read_parquet(out)["tags"].map(sorted).tolist()
    assert written == [sorted(row) for row in tags]


def test_arff_and_libsvm(tmp_path) -> None:
    X, Y = corners()
    data = Dataset(np.round(X, 3), Y, list("xyz"), ["right", "up", "both"], name="corners")
    write_dataset(data, tmp_path / "corners.arff")
    write_dataset(data, tmp_path / "corners.svm")
    for name in ("corners.arff", "corners.svm"):
        read, reading = read_examples(tmp_path / name)
        tagger = Tagger.fit(read, "BR", reading=reading)
        [(rows, chunk)] = iterate_rows(tmp_path / name, reading, {}, rows=10)
        assert chunk is None
        assert tagger.predict(rows).shape == (120, 3)
        assert tagger.measured.measures["micro_f1"] > 0.8


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["a", "b"], ";"), (["a;b"], "|"), (["a;", "b|", "c,"], None)],
)
def test_a_delimiter_that_no_label_contains(names, expected) -> None:
    assert tag_delimiter({}, names) == expected


def test_a_failed_write_leaves_the_earlier_file(tmp_path) -> None:
    out = tmp_path / "tags.csv"
    out.write_text("earlier")
    labels = pd.DataFrame({"a": [1]})

    def write_twice() -> None:
        with prediction_writer(out, {"labels": ["a"]}, ["a"]) as writer:
            writer.write(labels, None, {})
            writer.write(labels, None, {"a": [5]})

    with pytest.raises(DatasetError, match="appears twice"):
        write_twice()
    assert out.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [out]


def test_a_file_is_parsed_once(notes, monkeypatch) -> None:
    import splmll.datasets.columns as columns

    parsed = []
    read = columns._read_csv
    monkeypatch.setattr(columns, "_read_csv", lambda *a, **k: parsed.append(1) or read(*a, **k))
    data, reading = read_examples(notes, ["tags"], ignore=["id"])
    read_alike(notes, reading, data.column_kinds)
    assert len(parsed) == 2


def test_taggers_need_no_torch() -> None:
    code = "import sys, splmll.tagging; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


# Chunks -----------------------------------------------------------------------------------------


def test_chunks_hold_every_row_once(notes, tmp_path) -> None:
    whole = read_table(notes, label_column="tags", allow_missing=True).X["id"].tolist()
    zipped = tmp_path / "notes.csv.gz"
    zipped.write_bytes(gzip.compress(b"\xef\xbb\xbf" + notes.read_bytes()))
    for file in (notes, zipped):
        chunks = list(read_chunks(file, rows=33))
        assert [chunk.first for chunk in chunks] == list(range(0, 200, 33))
        assert [name for chunk in chunks for name in chunk.columns["id"].to_pylist()] == whole
        assert chunks[0].names == ["id", "body", "hours", "site", "tags"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (b"a,b\n", "no rows below its first line"),
        (b"a,b\n1,2\n3\n", "a row has 1 values but the first line names 2 columns"),
        (b"a,\n1,2\n", "column 2 has no name"),
        (b"a,a\n1,2\n", "'a' appears twice"),
        (b"a,b\n1,\xff\n", "not a table that can be read"),
        (b"PAR1 and then nothing", "not a table that can be read"),
    ],
)
def test_what_is_no_table(content, words, tmp_path) -> None:
    file = tmp_path / "bad.csv"
    file.write_bytes(content)
    with pytest.raises(DatasetError, match=words):
        list(read_chunks(file, rows=10))


def test_a_wrong_number_is_named_with_its_row(tmp_path) -> None:
    file = tmp_path / "numbers.csv"
    file.write_text("x\n" + "1\n" * 25 + "many\n")
    rows = iterate_rows(file, {}, {"x": "numeric"}, rows=10)
    with pytest.raises(DatasetError, match="row 26: the column 'x' contains 'many'"):
        list(rows)
