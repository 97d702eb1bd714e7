"""Named sets: found where they are, fetched where they are not, whole or not at all."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from splmll.datasets import DatasetError, catalogue, dataset_names, load_dataset
from splmll.datasets.download import download

SHAPES = {
    # rows for training and for test, features, labels, mean number of labels
    "emotions": (391, 202, 72, 6, 1.87),
    "scene": (1211, 1196, 294, 6, 1.07),
    "yeast": (1500, 917, 103, 14, 4.24),
    "tmc2007": (21519, 7077, 500, 22, 2.16),
    "bibtex": (4880, 2515, 1836, 159, 2.40),
    "delicious": (12920, 3185, 500, 983, 19.02),
    "birds": (322, 323, 271, 19, 1.01),
    "genbase": (463, 199, 1185, 27, 1.25),
    "flags": (129, 65, 43, 7, 3.39),
    "cal500": (502, 0, 68, 174, 26.04),
    "imdb": (120919, 0, 1001, 28, 2.00),
    "reuters": (7770, 3019, 15165, 90, 1.24),
    "goemotions": (43410, 5427, 58338, 28, 1.18),
    "corel5k": (4500, 499, 1000, 260, 3.40),
    "espgame-densehue": (20770, 0, 100, 268, 4.69),
    "iaprtc12-densehue": (19627, 0, 100, 291, 5.72),
}
SPARSE = {"tmc2007", "bibtex", "delicious", "imdb", "reuters", "goemotions"}
SPARSE_LABELS = {"tmc2007", "bibtex", "delicious", "imdb"}
# One name that is quoted, escaped or in a file of its own, with its column.
LABELS = {
    "birds": (10, "Swainson's Thrush"),
    "delicious": (982, "TAG_youtube"),
    "cal500": (0, "Angry-Agressive"),
    "imdb": (0, "Sci-Fi"),
    "reuters": (0, "acq"),
    "goemotions": (27, "surprise"),
    "espgame-densehue": (1, "album"),
    "iaprtc12-densehue": (290, "label_290"),
}


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_home_first: None) -> None:
    """No data folder, an empty cache, a source where nobody listens, and no proxy between."""
    monkeypatch.delenv("SPLMLL_DATA", raising=False)
    monkeypatch.setenv("SPLMLL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "MULAN_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def data_home_first(request: pytest.FixtureRequest) -> None:
    """Let the session's `data_home` read the environment before it is cleared."""
    if "data_home" in request.fixturenames:
        request.getfixturevalue("data_home")


# Real files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_real_sets(data_home: Path, name: str) -> None:
    n_train, n_test, n_features, n_labels, cardinality = SHAPES[name]
    data = load_dataset(name, data_home)
    assert data.name == name
    assert data.X.shape == (n_train + n_test, n_features)
    assert data.Y.shape == (n_train + n_test, n_labels)
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.int64)
    assert round(float(data.Y.sum(axis=1).mean()), 2) == cardinality
    assert (sparse.issparse(data.X), sparse.issparse(data.Y)) == (
        name in SPARSE,
        name in SPARSE_LABELS,
    )
    if name in LABELS:
        column, label = LABELS[name]
        assert data.label_names[column] == label
    if n_test:
        X_train, Y_train, X_test, Y_test = data.split()
        assert X_train.shape[0] == Y_train.shape[0] == n_train
        assert X_test.shape[0] == Y_test.shape[0] == n_test
        assert data.train.tolist() == list(range(n_train))
    else:
        assert data.train is None


def test_categories_are_zeros_and_ones(data_home: Path) -> None:
    flags, birds, genbase = (load_dataset(n, data_home) for n in ("flags", "birds", "genbase"))
    line = (data_home / "flags" / "flags-test.arff").read_text().strip().splitlines()[-1]
    landmass, zone, area = line.split(",")[:3]
    row = dict(zip(flags.feature_names, flags.X[-1]))
    chosen = [name for name, value in row.items() if "=" in name and value]
    assert chosen[:2] == [f"landmass={landmass}", f"zone={zone}"]
    assert (len(chosen), row["area"]) == (4, float(area))
    places = [i for i, name in enumerate(birds.feature_names) if name.startswith("location=")]
    np.testing.assert_array_equal(birds.X[:, places].sum(axis=1), 1)
    # YES is 1, although it is declared first; the protein's name would give rows away.
    assert genbase.feature_names[0] == "PS00010"
    assert set(np.unique(genbase.X)) == {0, 1}
    assert genbase.X.mean() < 0.01


@pytest.mark.parametrize(("name", "runs"), [("reuters", (1, 1)), ("goemotions", (1, 2))])
def test_texts_are_weighed_by_the_training_rows(
    data_home: Path, name: str, runs: tuple[int, int]
) -> None:
    data = load_dataset(name, data_home)
    words = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=runs)
    words.fit(data.texts[data.train])
    assert data.feature_names == words.get_feature_names_out().tolist()
    difference = data.X[data.test] - words.transform(data.texts[data.test])
    assert abs(difference).max() < 1e-12
    with pytest.raises(DatasetError, match=rf"put {name}-train\.csv and {name}-test\.csv into"):
        load_dataset(name)


def test_reuters_text_is_title_and_body(data_home: Path) -> None:
    texts = load_dataset("reuters", data_home).texts
    assert texts[0].startswith("BAHIA COCOA REVIEW Showers continued throughout the week")


def test_folder_from_the_environment(data_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLMLL_DATA", str(data_home))
    assert load_dataset("emotions").X.shape == (593, 72)
    # A folder given by hand that does not have it does not hide the one that has.
    assert load_dataset("emotions", data_home / "nowhere").X.shape == (593, 72)


def test_yeast_of_river_is_mulans(data_home: Path) -> None:
    pytest.importorskip("river")
    ours, mulan = load_dataset("yeast"), load_dataset("yeast", data_home)
    np.testing.assert_array_equal(ours.X, mulan.X)
    np.testing.assert_array_equal(ours.Y, mulan.Y)
    np.testing.assert_array_equal(ours.train, mulan.train)
    np.testing.assert_array_equal(ours.test, mulan.test)
    assert ours.label_names == mulan.label_names
    assert ours.feature_names == mulan.feature_names


def test_yeast_without_river_and_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DatasetError, match=r"put yeast-train\.arff, yeast-test\.arff and yeast"):
        load_dataset("yeast")


# LEAR's files ----------------------------------------------------------------------------------


def hvecs(file: Path, matrix: np.ndarray) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(np.insert(matrix, 0, matrix.shape[1], axis=1).astype("<u2").tobytes())


def fake_lear(folder: Path, name: str, rows: tuple[int, int], width: int, labels: int) -> None:
    rng = np.random.default_rng(0)
    for part, n in zip(("train", "test"), rows):
        hvecs(folder / f"{name}_{part}_DenseSift.hvecs", rng.integers(0, 9, (n, width)))
        hvecs(folder / f"{name}_{part}_annot.hvecs", rng.integers(0, 2, (n, labels)))
    names = "\n".join(f"tag{number}" for number in range(labels))
    (folder / f"{name}_dictionary.txt").write_text(names)


def test_pascal07_from_lears_files(tmp_path: Path) -> None:
    fake_lear(tmp_path / "home" / "pascal07", "pascal07", (5011, 4952), 1000, 20)
    data = load_dataset("pascal07", tmp_path / "home")
    assert data.X.shape == (9963, 1000)
    assert data.Y.shape == (9963, 20)
    assert (len(data.train), len(data.test)) == (5011, 4952)
    assert data.label_names[19] == "tag19"


@pytest.mark.parametrize("name", ["espgame", "corel5k"])
def test_other_files_than_lears_are_noticed(tmp_path: Path, name: str) -> None:
    fake_lear(tmp_path / name, name, (4, 3), 10, 5)
    with pytest.raises(DatasetError, match=r"4 \+ 3 rows, 10 features and 5 labels, but the set"):
        load_dataset(name, tmp_path)


@pytest.mark.parametrize(
    "name", ["espgame", "espgame-densehue", "iaprtc12-densehue", "pascal07", "corel5k"]
)
def test_what_to_put_where(tmp_path: Path, name: str) -> None:
    folder = name.removesuffix("-densehue")
    with pytest.raises(DatasetError) as caught:
        load_dataset(name, tmp_path)
    message = str(caught.value)
    assert f"{folder}_" in message
    assert str(tmp_path / folder) in message
    assert "lear.inrialpes.fr" in message
    assert "\n" not in message


def test_imdb_is_put_by_hand(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"meka.* put imdb\.arff\.bz2 into .*imdb"):
        load_dataset("imdb", tmp_path)


def test_names() -> None:
    assert set(SHAPES) | {"espgame", "pascal07", "digit-scenes"} == set(dataset_names())
    with pytest.raises(DatasetError, match="no data set 'iris'; the names are bibtex"):
        load_dataset("iris")


# A small source on this machine ----------------------------------------------------------------


class Source:
    """An HTTP server whose files can be changed, cut short, and asked what was asked of it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.break_after: int | None = None
        self.knows_ranges = True
        self.requests: list[tuple[str, str | None]] = []
        source = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = self.headers.get("Range")
                source.requests.append((self.path, asked))
                content = source.files.get(self.path)
                if content is None:
                    self.send_error(404)
                    return
                start = 0
                if asked and source.knows_ranges:
                    start = int(asked.removeprefix("bytes=").removesuffix("-"))
                    if start >= len(content):
                        self.send_error(416)
                        return
                    self.send_response(206)
                    end = len(content) - 1
                    self.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
                else:
                    self.send_response(200)
                body = content[start:]
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                # Cutting the answer short closes the connection before the promised length.
                self.wfile.write(body[: source.break_after])

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def source() -> Iterator[Source]:
    one = Source()
    yield one
    one.close()


CONTENT = bytes(range(256)) * 1500
SHA = hashlib.sha256(CONTENT).hexdigest()


def test_download(source: Source, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source.files["/a.bin"] = CONTENT
    target = download(f"{source.url}/a.bin", tmp_path / "new" / "a.bin", SHA)
    assert target.read_bytes() == CONTENT
    assert list(target.parent.iterdir()) == [target]
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "")  # no bar where there is no terminal


def test_interrupted_download_is_resumed(source: Source, tmp_path: Path) -> None:
    source.files["/a.bin"] = CONTENT
    source.break_after = 100_000
    target, part = tmp_path / "a.bin", tmp_path / "a.bin.part"
    with pytest.raises(DatasetError, match="could not be downloaded"):
        download(f"{source.url}/a.bin", target, SHA)
    assert not target.exists()
    assert part.read_bytes() == CONTENT[:100_000]
    source.break_after = None
    download(f"{source.url}/a.bin", target, SHA)
    assert source.requests == [("/a.bin", None), ("/a.bin", "bytes=100000-")]
    assert target.read_bytes() == CONTENT
    assert not part.exists()


def test_resuming_at_a_server_without_ranges_starts_again(source: Source, tmp_path: Path) -> None:
    source.files["/a.bin"] = CONTENT
    source.knows_ranges = False
    (tmp_path / "a.bin.part").write_bytes(b"something else")
    assert download(f"{source.url}/a.bin", tmp_path / "a.bin", SHA).read_bytes() == CONTENT


def test_part_that_was_whole_already(source: Source, tmp_path: Path) -> None:
    source.files["/a.bin"] = CONTENT
    (tmp_path / "a.bin.part").write_bytes(CONTENT)
    assert download(f"{source.url}/a.bin", tmp_path / "a.bin", SHA).read_bytes() == CONTENT


def test_wrong_checksum_leaves_nothing(source: Source, tmp_path: Path) -> None:
    source.files["/a.bin"] = CONTENT[:-1] + b"!"
    with pytest.raises(DatasetError, match="SHA-256"):
        download(f"{source.url}/a.bin", tmp_path / "a.bin", SHA)
    assert list(tmp_path.glob("a.bin*")) == []
    source.files["/a.bin"] = CONTENT
    assert download(f"{source.url}/a.bin", tmp_path / "a.bin", SHA).read_bytes() == CONTENT


def test_damaged_part_is_thrown_away(source: Source, tmp_path: Path) -> None:
    source.files["/a.bin"] = CONTENT
    (tmp_path / "a.bin.part").write_bytes(b"\xff" * 1000)
    with pytest.raises(DatasetError, match="SHA-256"):
        download(f"{source.url}/a.bin", tmp_path / "a.bin", SHA)
    assert download(f"{source.url}/a.bin", tmp_path / "a.bin", SHA).read_bytes() == CONTENT


def test_keyboard_interrupt_keeps_what_arrived(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.files["/a.bin"] = CONTENT

    def interrupt(path: Path) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("splmll.datasets.download._sha256", interrupt)
    with pytest.raises(KeyboardInterrupt):
        download(f"{source.url}/a.bin", tmp_path / "a.bin", SHA)
    assert not (tmp_path / "a.bin").exists()
    monkeypatch.undo()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert download(f"{source.url}/a.bin", tmp_path / "a.bin", SHA).read_bytes() == CONTENT


def test_absent_file_and_absent_server(source: Source, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="404"):
        download(f"{source.url}/none", tmp_path / "a.bin", SHA)
    with pytest.raises(DatasetError, match="check the network"):
        download("http://127.0.0.1:9/a.bin", tmp_path / "a.bin", SHA)
    with pytest.raises(DatasetError, match="could not be downloaded"):
        download("nonsense", tmp_path / "a.bin", SHA)
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(DatasetError, match="could not be downloaded"):
        download(f"{source.url}/a", blocked / "a.bin", SHA)


def test_bar_on_a_terminal(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    source.files["/a.bin"] = CONTENT
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    download(f"{source.url}/a.bin", tmp_path / "a.bin", SHA)
    output = capsys.readouterr()
    assert "a.bin" in output.err
    assert output.out == ""


def serve(source: Source, data_home: Path, name: str, folder: str) -> None:
    for file in (data_home / name).iterdir():
        source.files[f"/{folder}/{file.name}"] = file.read_bytes()


def test_set_is_downloaded_once_and_loads_offline(
    data_home: Path, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(source, data_home, "emotions", "emotions")
    with pytest.raises(DatasetError) as caught:
        load_dataset("emotions")
    message = str(caught.value)
    assert "put emotions-train.arff, emotions-test.arff and emotions.xml into" in message
    assert str(tmp_path / "cache" / "emotions") in message
    assert "\n" not in message

    monkeypatch.setattr(catalogue, "MULAN_URL", source.url)
    online = load_dataset("emotions")
    assert len(source.requests) == 3
    monkeypatch.setattr(catalogue, "MULAN_URL", "http://127.0.0.1:9")
    offline = load_dataset("emotions")
    assert len(source.requests) == 3
    np.testing.assert_array_equal(online.X, offline.X)
    np.testing.assert_array_equal(online.X, load_dataset("emotions", data_home).X)


def test_only_what_is_missing_is_fetched(
    data_home: Path, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(source, data_home, "emotions", "emotions")
    monkeypatch.setattr(catalogue, "MULAN_URL", source.url)
    del source.files["/emotions/emotions.xml"]
    with pytest.raises(DatasetError, match="Not Found"):
        load_dataset("emotions", tmp_path)
    serve(source, data_home, "emotions", "emotions")
    source.requests.clear()
    assert load_dataset("emotions", tmp_path).X.shape == (593, 72)
    assert source.requests == [("/emotions/emotions.xml", None)]
    assert not (tmp_path / "cache").exists()  # it went where it was asked to go


def test_set_that_moved_at_its_source(
    data_home: Path, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(source, data_home, "tmc2007", "tmc2007")
    source.files["/tmc2007/tmc2007.xml"] = source.files.pop("/tmc2007/tmc2007-500.xml")
    monkeypatch.setattr(catalogue, "MULAN_URL", source.url)
    assert load_dataset("tmc2007").X.shape == (28596, 500)


def test_tampered_source_is_refused(
    data_home: Path, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(source, data_home, "emotions", "emotions")
    source.files["/emotions/emotions-train.arff"] += b"\n"
    monkeypatch.setattr(catalogue, "MULAN_URL", source.url)
    with pytest.raises(DatasetError, match="SHA-256"):
        load_dataset("emotions")
    assert list((tmp_path / "cache" / "emotions").iterdir()) == []


def test_files_that_do_not_belong_together(data_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "emotions"
    folder.mkdir()
    for file in (data_home / "emotions").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    test = folder / "emotions-test.arff"
    test.write_bytes(test.read_bytes().replace(b"Mean_Acc1298_Mean_Mem40_Centroid", b"other"))
    with pytest.raises(DatasetError, match="feature names of the training and the test file"):
        load_dataset("emotions", tmp_path)
