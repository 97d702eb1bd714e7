"""OpenML through a fetcher that hands out what scikit-learn's does, and a network that is down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from splmll.datasets import DatasetError, read_openml


def bunch(**changes: Any) -> Bunch:
    """The shape of ``fetch_openml("yeast", version=4, as_frame=True)``."""
    words = pd.CategoricalDtype(["FALSE", "TRUE"])
    fields: dict[str, Any] = {
        "data": pd.DataFrame({"Att1": [0.1, 0.2, 0.3], "Att2": [1.0, 2.0, 3.0]}),
        "target": pd.DataFrame(
            {
                "Class1": pd.Series(["TRUE", "FALSE", "TRUE"], dtype=words),
                "Class2": pd.Series(["FALSE", "FALSE", "TRUE"], dtype=words),
            }
        ),
    }
    return Bunch(**{**fields, **changes})


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(result: Bunch) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []

        def fetch_openml(**options: Any) -> Bunch:
            calls.append(options)
            return result

        monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
        return calls

    return install


def test_true_and_false_become_one_and_zero(fetched: Any, tmp_path: Path) -> None:
    calls = fetched(bunch())
    data = read_openml("yeast", version=4, data_home=tmp_path)
    assert calls[0]["name"] == "yeast"
    assert calls[0]["version"] == 4
    assert calls[0]["data_home"] == str(tmp_path)
    assert data.Y.tolist() == [[1, 0], [0, 0], [1, 1]]
    assert data.label_names == ["Class1", "Class2"]
    assert data.feature_names == ["Att1", "Att2"]
    assert data.X.dtype == np.float64
    assert data.name == "yeast"


@pytest.mark.parametrize("values", [["1", "0", "1"], [1, 0, 1], [True, False, True], [1.0, 0, 1]])
def test_other_spellings(fetched: Any, values: list[object]) -> None:
    fetched(bunch(target=pd.DataFrame({"a": values, "b": values})))
    assert read_openml("toy").Y.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_categorical_and_sparse_features(fetched: Any) -> None:
    fetched(bunch(data=pd.DataFrame({"n": [1, 2, 3], "c": pd.Categorical(["u", "v", "u"])})))
    mixed = read_openml("toy")
    assert mixed.column_kinds == {"n": "numeric", "c": "categorical"}
    assert isinstance(mixed.X, pd.DataFrame)
    thin = np.array([[0, 1.0], [0, 0], [2, 0]])
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(thin), columns=["p", "q"])
    fetched(bunch(data=frame))
    data = read_openml("toy")
    assert data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), thin)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"target": pd.Series(["a", "b", "c"])}, "not multi-label"),
        ({"target": None}, "not multi-label"),
        ({"target": pd.DataFrame({"a": [1, 0, 2], "b": [1, 0, 1]})}, "'2' in row 3"),
        ({"target": pd.DataFrame({"a": [1, 0], "b": [1, 0]})}, "3 rows of features but 2"),
        ({"data": pd.DataFrame({"n": [1, np.nan, 2]})}, "row 2, column 1"),
        (
            {"data": pd.DataFrame({"n": [1, 2, 3], "c": ["u", None, "u"]})},
            "'c' is missing in row 2",
        ),
    ],
)
def test_what_is_refused(fetched: Any, changes: dict[str, Any], part: str) -> None:
    fetched(bunch(**changes))
    with pytest.raises(DatasetError, match="OpenML 'toy', version active") as caught:
        read_openml("toy")
    assert part in str(caught.value)


def test_missing_features_can_be_allowed(fetched: Any) -> None:
    fetched(bunch(data=pd.DataFrame({"n": [1, np.nan, 2]})))
    assert np.isnan(read_openml("toy", allow_missing=True).X[1, 0])


def test_network_down(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A proxy behind which nobody listens: scikit-learn's own fetcher fails as it does offline.
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # it waits between its attempts
    with pytest.warns(UserWarning, match="network error"), pytest.raises(DatasetError) as caught:
        read_openml("yeast", version=4, data_home=tmp_path)
    assert "could not be fetched" in str(caught.value)
    assert caught.value.__cause__ is not None
