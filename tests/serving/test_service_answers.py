"""What the service answers: the same as the model in Python and as the command line in a file."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
from asgi_client import Client
from scipy import sparse

from splmll.cli import main
from splmll.datasets import Dataset, read_table
from splmll.embeddings import OneVsRest
from splmll.serving import Limits, create_app
from splmll.serving.features import Features
from splmll.serving.rows import RowReader
from splmll.tagging import Tagger
from splmll.tagging.files import iterate_rows

ROWS = [
    {"body": "oil leak, rotor seal", "hours": 0.5, "site": "north"},
    {"site": None, "body": "door hinge lock", "hours": None},
    {"body": None, "hours": True, "site": "the moon"},
]


@pytest.fixture(scope="module")
def tagger(models) -> Tagger:
    return Tagger.load(models / "notes")


def rows_of(response):
    assert response.status_code == 200, response.text
    return response.json()["rows"]


# Predict ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["notes", "plain"])
def test_predictions_are_those_of_the_model(client, models, name) -> None:
    tagger = Tagger.load(models / name)
    response = client.post(f"/predict?model={name}", json={"rows": ROWS})
    assert response.json()["model"] == name
    table = pd.DataFrame(ROWS)
    assert [row["labels"] for row in rows_of(response)] == tagger.tags(table)
    found = pd.DataFrame([row["scores"] for row in rows_of(response)])
    pd.testing.assert_frame_equal(found, tagger.scores(table), rtol=1e-12)


def test_the_first_model_is_the_default(client) -> None:
    assert client.post("/predict", json={"rows": ROWS}).json()["model"] == "notes"


def test_a_bare_matrix_goes_by_feature_name(client, models) -> None:
    [row] = rows_of(
        client.post("/predict?model=corners", json={"rows": [{"z": 0, "y": -2, "x": 2}]})
    )
    assert row["labels"] == ["right"]
    expected = Tagger.load(models / "corners.zip").scores(np.array([[2.0, -2.0, 0.0]]))
    assert list(row["scores"].values()) == pytest.approx(expected.iloc[0].tolist(), rel=1e-12)


@pytest.mark.parametrize("given", ["body", "query"])
def test_a_threshold_overrules_the_model(client, given) -> None:
    threshold = 0.05
    body = {"rows": ROWS, "threshold": threshold} if given == "body" else {"rows": ROWS}
    query = f"?threshold={threshold}" if given == "query" else ""
    for row in rows_of(client.post(f"/predict{query}", json=body)):
        assert row["labels"] == [n for n, score in row["scores"].items() if score >= threshold]
    everything = rows_of(client.post("/predict", json={"rows": ROWS, "threshold": 0}))
    assert all(len(row["labels"]) == 4 for row in everything)


def test_the_body_counts_before_the_query(client) -> None:
    body = {"rows": ROWS, "threshold": 0, "top": 1}
    [first, *_] = rows_of(client.post("/predict?threshold=1&top=3", json=body))
    assert (len(first["labels"]), len(first["scores"])) == (4, 1)


def test_top_shows_the_best_scores(client) -> None:
    whole = rows_of(client.post("/predict", json={"rows": ROWS}))
    short = rows_of(client.post("/predict", json={"rows": ROWS, "top": 2}))
    for all_of_it, row in zip(whole, short):
        best = sorted(all_of_it["scores"].items(), key=lambda pair: -pair[1])[:2]
        assert list(row["scores"].items()) == best
        assert row["labels"] == all_of_it["labels"]
    assert len(rows_of(client.post("/predict?top=99", json={"rows": ROWS}))[0]["scores"]) == 4


def test_categories_may_be_numbers(tmp_path) -> None:
    table = "zip,size,tags\n" + "10115,2.5,a\n80331,3,b\n" * 20
    (tmp_path / "t.csv").write_text(table)
    data = read_table(tmp_path / "t.csv", label_column="tags", categorical=["zip", "size"])
    Tagger.fit(data, "BR").save(tmp_path / "model")
    client = Client(create_app({"m": tmp_path / "model"}))
    rows = [{"zip": 10115, "size": 2.5}, {"zip": 80331.0, "size": 3}]
    assert [row["labels"] for row in rows_of(client.post("/predict", json={"rows": rows}))] == [
        ["a"],
        ["b"],
    ]


def test_steps_that_are_not_known_go_through_the_pipeline(models, tagger) -> None:
    reader = RowReader(tagger)
    rows = reader.read(ROWS)
    direct = Features(tagger, reader)
    assert direct.direct
    changed = Tagger.load(models / "notes")
    changed.pipeline[0].transformer_weights = {"numeric": 2.0}
    weighted = Features(changed, reader)
    assert not weighted.direct
    difference = (weighted(rows) - direct(rows)).toarray()
    # The last column is the number; it is doubled and all others are equal.
    assert (difference[:, :-1] == 0).all()
    assert difference[0, -1] == direct(rows).toarray()[0, -1] != 0


def test_many_words_stay_sparse(tmp_path) -> None:
    words = np.array([f"word{number}" for number in range(200)])
    rng = np.random.default_rng(0)
    chosen = rng.integers(200, size=(120, 4))
    X = pd.DataFrame({"size": rng.normal(size=120), "body": [" ".join(words[c]) for c in chosen]})
    Y = np.column_stack([(chosen < 80).any(axis=1), X["size"] > 0]).astype(int)
    kinds = {"size": "numeric", "body": "text"}
    tagger = Tagger.fit(Dataset(X, Y, ["size", "body"], ["low", "big"], column_kinds=kinds))
    reader = RowReader(tagger)
    features = Features(tagger, reader)
    assert features.direct
    assert sparse.issparse(features(reader.of_frame(X)))
    tagger.save(tmp_path / "model")
    client = Client(create_app({"m": tmp_path / "model"}))
    rows = X.head(20).to_dict("records")
    found = pd.DataFrame(
        [row["scores"] for row in rows_of(client.post("/predict", json={"rows": rows}))]
    )
    pd.testing.assert_frame_equal(found, tagger.scores(X.head(20)), rtol=1e-12)


@pytest.mark.parametrize("kind", ["predict", "explain"])
def test_a_request_is_scored_once(client, kind, monkeypatch) -> None:
    calls = []
    predict = OneVsRest.predict
    monkeypatch.setattr(OneVsRest, "predict", lambda *a: calls.append(1) or predict(*a))
    rows_of(client.post(f"/{kind}", json={"rows": ROWS}))
    assert len(calls) == 1


# Explain and recover ----------------------------------------------------------------------------


def test_explanations_add_up(client, tagger) -> None:
    found = rows_of(client.post("/explain", json={"rows": ROWS}))
    for row, labels in zip(found, tagger.tags(pd.DataFrame(ROWS))):
        scores = [label["score"] for label in row["labels"]]
        assert scores == sorted(scores, reverse=True)
        assert sorted(each["name"] for each in row["labels"] if each["predicted"]) == labels
        for label in row["labels"]:
            assert list(label["contributions"]) == tagger.landmark_names
            total = label["base"] + sum(label["contributions"].values())
            assert total == pytest.approx(label["score"])
    expected = tagger.explain(pd.DataFrame(ROWS), 0, only_predicted=False)
    assert [label["name"] for label in found[0]["labels"]] == list(expected.index)
    assert [label["base"] for label in found[0]["labels"]] == pytest.approx(list(expected["base"]))


def test_explanations_of_the_best_labels(client) -> None:
    [row] = rows_of(client.post("/explain", json={"rows": ROWS[:1], "top": 1, "threshold": 1}))
    assert len(row["labels"]) == 1
    assert row["labels"][0]["predicted"] is False


def test_recovery_keeps_what_is_known(client, tagger) -> None:
    first, second, _ = tagger.landmark_names
    answers = [{first: 1, second: None}, {first: False, second: 1.0}, {}]
    found = rows_of(client.post("/recover", json={"rows": answers}))
    assert found[0]["scores"][first] == 1
    assert first in found[0]["labels"]
    assert first not in found[1]["labels"]
    assert second in found[1]["labels"]
    known = pd.DataFrame(np.nan, index=range(3), columns=tagger.landmark_names)
    known.loc[0, first], known.loc[1, first], known.loc[1, second] = 1, 0, 1
    expected = tagger.recover(known)
    for row, labels in zip(found, expected.to_numpy()):
        assert row["labels"] == [n for n, label in zip(expected.columns, labels) if label]
        assert all(0 <= score <= 1 for score in row["scores"].values())
    # No threshold changes an answer.
    [row] = rows_of(client.post("/recover?threshold=0", json={"rows": [{first: 0}]}))
    assert sorted(row["labels"]) == sorted(set(tagger.label_names) - {first})


# CSV --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [False, True])
def test_a_csv_file_gives_what_the_command_gives(client, models, tmp_path, form) -> None:
    content = (models / "new.csv").read_bytes()
    sent = (
        {"files": {"file": ("new.csv", content, "text/csv")}, "headers": {"Accept": "text/csv"}}
        if form
        else {"content": content, "headers": {"Content-Type": "text/csv", "Accept": "text/csv"}}
    )
    response = client.post("/predict?scores=true", **sent)
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    out = tmp_path / "tags.csv"
    command = ["predict", models / "notes", models / "new.csv", "--scores", "--out", out]
    with pytest.raises(SystemExit, match="0"):
        main([*map(str, command)])
    # The command also keeps the column that the fit was told to ignore.
    lines = [line.partition(",") for line in out.read_text().splitlines()]
    assert lines[0][0] == "id"
    assert response.text.splitlines() == [rest for _, _, rest in lines]


def test_csv_in_and_json_out(client, models, tagger) -> None:
    content = (models / "new.csv").read_bytes()
    response = client.post("/predict?top=1", content=content, headers={"Content-Type": "text/csv"})
    rows, _ = next(iterate_rows(models / "new.csv", tagger.reading, tagger.column_kinds, rows=99))
    assert [row["labels"] for row in rows_of(response)] == tagger.tags(rows)
    assert {len(row["scores"]) for row in rows_of(response)} == {1}


def test_a_bare_matrix_takes_csv_too(client) -> None:
    response = client.post(
        "/predict?model=corners",
        content="id;z;x;y\n7;0;2;-2\n",
        headers={"Content-Type": "text/csv; charset=utf-8", "Accept": "text/csv"},
    )
    assert response.text == "tags\nright\n"


def test_recovery_from_csv(client, tagger) -> None:
    names = tagger.landmark_names
    content = ",".join(names) + "\n1,0,\n,,1\n"
    response = client.post("/recover", content=content, headers={"Content-Type": "text/csv"})
    first, second = rows_of(response)
    assert names[0] in first["labels"]
    assert names[1] not in first["labels"]
    assert names[2] in second["labels"]


def test_explanations_as_csv(client, tagger) -> None:
    response = client.post("/explain?top=2", json={"rows": ROWS}, headers={"Accept": "text/csv"})
    lines = [line.split(",") for line in response.text.splitlines()]
    landmarks = [f"landmark:{name}" for name in tagger.landmark_names]
    assert lines[0] == ["row", "label", "score", "predicted", "base", *landmarks]
    assert [line[0] for line in lines[1:]] == ["1", "1", "2", "2", "3", "3"]
    score, base, *added = (float(cell) for cell in [lines[1][2], *lines[1][4:]])
    assert base + sum(added) == pytest.approx(score, abs=1e-4)


# Descriptions -----------------------------------------------------------------------------------


def test_models_say_what_they_are(client, tagger) -> None:
    notes, plain, corners = client.get("/models").json()["models"]
    assert (notes["name"], notes["default"], notes["method"]) == ("notes", True, "SPL-MLL")
    assert (notes["n_labels"], notes["landmarks"], notes["n_rows"]) == (4, 3, 200)
    by_name = {column["name"]: column for column in notes["columns"]}
    assert by_name["site"] == {
        "name": "site",
        "kind": "categorical",
        "examples": ["north", "south"],
    }
    assert by_name["hours"]["kind"] == "numeric"
    assert by_name["body"]["kind"] == "text"
    assert notes["measures"] == tagger.measured.measures
    assert (plain["landmarks"], plain["default"]) == (None, False)
    assert [column["kind"] for column in corners["columns"]] == ["numeric"] * 3
    assert [each["name"] for each in client.get("/models?model=plain").json()["models"]] == [
        "plain"
    ]


def test_labels_and_landmarks(client, tagger) -> None:
    found = client.get("/labels").json()
    assert found["model"] == "notes"
    assert [label["name"] for label in found["labels"]] == tagger.label_names
    marked = {label["name"] for label in found["labels"] if label["landmark"]}
    assert marked == set(tagger.landmark_names)
    measured = tagger.measured.labels
    assert [label["rows"] for label in found["labels"]] == measured["rows"].tolist()
    assert [label["f1"] for label in found["labels"]] == measured["f1"].tolist()
    assert {label["landmark"] for label in client.get("/labels?model=plain").json()["labels"]} == {
        False
    }
    found = client.get("/landmarks").json()
    table = tagger.landmarks()
    assert [each["name"] for each in found["landmarks"]] == list(table.index)
    assert [each["strength"] for each in found["landmarks"]] == table["strength"].tolist()
    # The edge is what the explanation adds for every unit that the landmark scores.
    sizes = [abs(edge["weight"]) for edge in found["edges"]]
    assert sizes == sorted(sizes, reverse=True)
    assert all(edge["landmark"] != edge["label"] for edge in found["edges"])


def test_edges_are_the_weights_of_an_explanation(tmp_path) -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    a = (X[:, 0] > 0).astype(int)
    data = Dataset(X, np.column_stack([a, a, 1 - a]), list("xy"), ["one", "same", "opposite"])
    Tagger.fit(data, "SPL-MLL (linear)", n_landmarks=1).save(tmp_path / "model")
    client = Client(create_app({"m": tmp_path / "model"}))
    found = client.get("/landmarks").json()
    [landmark] = (each["name"] for each in found["landmarks"])
    rows = [{"x": 1.0, "y": 0.0}, {"x": -2.0, "y": 1.0}]
    for row in rows_of(client.post("/explain", json={"rows": rows})):
        added = {each["name"]: each["contributions"][landmark] for each in row["labels"]}
        ratio = {edge["label"]: edge["weight"] for edge in found["edges"]}
        assert set(ratio) == {"one", "same", "opposite"} - {landmark}
        first, second = ratio
        assert added[first] / ratio[first] == pytest.approx(added[second] / ratio[second])


def test_health_metrics_and_the_page(places) -> None:
    from splmll import __version__

    client = Client(create_app(places))
    expected = {"status": "ok", "models": ["notes", "plain", "corners"], "version": __version__}
    assert client.get("/health").json() == expected
    rows_of(client.post("/predict", json={"rows": ROWS}))
    client.post("/predict", json={"rows": []})
    client.get("/nowhere")
    text = client.get("/metrics").text
    for line in (
        'splmll_requests_total{endpoint="/predict",status="200"} 1.0',
        'splmll_requests_total{endpoint="/predict",status="422"} 1.0',
        'splmll_requests_total{endpoint="other",status="404"} 1.0',
        'splmll_rows_total{endpoint="/predict",model="notes"} 3.0',
        'splmll_batch_requests_count{model="notes"} 1.0',
        'splmll_waiting_requests{model="notes"} 0.0',
    ):
        assert line in text
    page = client.get("/")
    assert page.text.startswith("<!DOCTYPE html>")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'sha256-" in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in page.headers


def test_examples_of_the_description_are_real(client) -> None:
    document = client.get("/openapi.json").json()
    for kind in ("predict", "explain", "recover"):
        operation = document["paths"][f"/{kind}"]["post"]
        asked = operation["requestBody"]["content"]
        answered = operation["responses"]["200"]["content"]
        response = client.post(f"/{kind}", json=asked["application/json"]["example"])
        assert response.json() == answered["application/json"]["example"]
        headers = {"Content-Type": "text/csv", "Accept": "text/csv"}
        response = client.post(f"/{kind}", content=asked["text/csv"]["example"], headers=headers)
        assert response.status_code == 200
        if kind != "explain":
            assert response.text == answered["text/csv"]["example"]


def test_long_requests_give_the_same(client, places) -> None:
    rows = ROWS * 2000  # read and written beside the event loop
    assert len(json.dumps(rows)) > 256 * 1024
    whole = rows_of(client.post("/predict", json={"rows": rows}))
    expected = rows_of(client.post("/predict", json={"rows": ROWS})) * 2000
    assert [row["labels"] for row in whole] == [row["labels"] for row in expected]
    # In another number of rows the sums of a product are taken in another order.
    scores = [list(row["scores"].values()) for row in whole]
    np.testing.assert_allclose(scores, [list(row["scores"].values()) for row in expected])
    small = Client(create_app({"m": places["notes"]}, limits=Limits(cells=10)))
    refused = small.post("/predict", json={"rows": ROWS})
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "answer_too_large")
    assert refused.json()["error"]["details"]["most_rows"] == 2


def test_csv_answers_hold_no_formulas_unless_asked(tmp_path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    data = Dataset(X, (X > 0).astype(int), ["x", "y"], ["=1+1", "@up"])
    Tagger.fit(data, "SPL-MLL (linear)").save(tmp_path / "model")
    client = Client(create_app({"m": tmp_path / "model"}), {"Accept": "text/csv"})
    body = {"rows": [{"x": -9, "y": 9}]}
    assert client.post("/predict", json=body).text == "tags\n'@up\n"
    assert client.post("/predict?formulas=true", json=body).text == "tags\n@up\n"
    # Numbers stay numbers, whatever their sign.
    table = pd.read_csv(io.StringIO(client.post("/explain", json=body).text))
    assert sorted(table["label"]) == ["'=1+1", "'@up"]
    assert table["score"].dtype == float
    assert table["score"].min() < 0
    table = pd.read_csv(io.StringIO(client.post("/explain?formulas=true", json=body).text))
    assert sorted(table["label"]) == ["=1+1", "@up"]
    assert client.post("/predict?formulas=1", json=body).status_code == 422
