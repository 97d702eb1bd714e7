"""Models that were forged to lead compiled code astray are refused, one test for each way.

Every forged file has correct checksums and is loaded and used in a child process, which an earlier
version did not survive. That each class is checked at all is in ``test_model_checks.py``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forging
import numpy as np
import pytest
import zoo
from forging import array_at, put_array
from safetensors import numpy as safetensors
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from peak_memory import peak_bytes
from splmll.datasets import Dataset
from splmll.persistence import ModelFileError, load, save
from splmll.tagging import Tagger

Arrays = dict[str, np.ndarray]

CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
import zoo
from splmll.persistence import ModelFileError, load
for line in sys.stdin:
    folder, name = line.rstrip("\\n").split("\\t")
    print(folder, end="\\t", flush=True)
    try:
        model = load(folder)
    except ModelFileError as error:
        print("refused:", error, flush=True)
    else:
        zoo.use(model, zoo.rows_of(name))
        print("used", flush=True)
"""


def in_a_child(models: dict[Path, str]) -> dict[Path, str]:
    """Load and use model files, folder -> name in the zoo; return folder -> what came of it."""
    outcomes: dict[Path, str] = {}
    while len(outcomes) < len(models):
        waiting = [f"{folder}\t{name}" for folder, name in models.items() if folder not in outcomes]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", CHILD, str(Path(__file__).parent)],
            input="\n".join(waiting),
            capture_output=True,
            text=True,
            timeout=300,  # some forged sources of random numbers never came back
        )
        lines = [line.split("\t", 1) for line in done.stdout.splitlines()]
        assert lines, done.stderr
        outcomes |= {
            Path(folder): outcome or f"ended with {done.returncode}" for folder, outcome in lines
        }
    return outcomes


def first(state: Any, arrays: Arrays, value: Any) -> None:
    """Give the first element of an array another value."""
    array = array_at(state, arrays).copy()
    array.reshape(-1)[0] = value
    put_array(state, arrays, array)


def in_state(attribute: str, value: Any) -> Callable[[Any, Arrays], None]:
    def change(objects: Any, arrays: Arrays) -> None:
        objects["state"][attribute] = value

    return change


def in_array(attribute: str, value: Any) -> Callable[[Any, Arrays], None]:
    return lambda objects, arrays: first(objects["state"][attribute], arrays, value)


def cut(attribute: str, *, rows: int) -> Callable[[Any, Arrays], None]:
    def change(objects: Any, arrays: Arrays) -> None:
        node = objects["state"][attribute]
        put_array(node, arrays, array_at(node, arrays)[:rows])

    return change


def narrower(attribute: str, *, columns: int) -> Callable[[Any, Arrays], None]:
    def change(objects: Any, arrays: Arrays) -> None:
        node = objects["state"][attribute]
        put_array(node, arrays, array_at(node, arrays)[:, :columns])

    return change


def infrequent(objects: Any, arrays: Arrays) -> None:
    first(objects["state"]["_default_to_infrequent_mappings"][0], arrays, 10**6)


def categories_beyond(objects: Any, arrays: Arrays) -> None:
    objects["state"]["_n_features_outs"] = [1] * len(objects["state"]["_n_features_outs"])


def unsorted_categories(objects: Any, arrays: Arrays) -> None:
    node = objects["state"]["categories_"][0]
    put_array(node, arrays, array_at(node, arrays)[::-1].copy())


def vocabulary(objects: Any, arrays: Arrays) -> None:
    objects["state"]["vocabulary_"]["items"][0][1] = 10**8


def same_number(objects: Any, arrays: Arrays) -> None:
    items = objects["state"]["vocabulary_"]["items"]
    items[0][1] = items[1][1]


def source(number: int, *path: str, value: Any) -> Callable[[Any, Arrays], None]:
    """Change a number in the state of one of the sources of random numbers."""

    def change(objects: Any, arrays: Arrays) -> None:
        node = objects[number]["parts"]
        for step in ("state", *path):
            node = next(pair for pair in node["items"] if pair[0] == step)
            if step == path[-1]:
                node[1] = value
                return
            node = node[1]

    return change


def no_coefficients(objects: Any, arrays: Arrays) -> None:
    parts = objects["state"]["dual_coef_"]["parts"]
    for name in ("data", "indices"):
        put_array(parts[name], arrays, array_at(parts[name], arrays)[:0])
    put_array(parts["indptr"], arrays, np.zeros_like(array_at(parts["indptr"], arrays)))


def depth(objects: Any, arrays: Arrays) -> None:
    objects["state"]["tree_"]["max_depth"] = 2**40


def other_routine(objects: Any, arrays: Arrays) -> None:
    objects["state"]["_impl"] = "epsilon_svr"


def tree_of_fewer_features(objects: Any, arrays: Arrays) -> None:
    objects["state"]["n_features_in_"] = 1


FORGED = {
    "one-hot mapping": ("OneHotEncoder numbers", infrequent, "code that is none"),
    "one-hot width": ("OneHotEncoder", categories_beyond, "do not fit its categories"),
    "one-hot order": ("OneHotEncoder numbers", unsorted_categories, "not sorted"),
    "vocabulary": ("CountVectorizer", vocabulary, "do not count"),
    "vocabulary twice": ("TfidfVectorizer", same_number, "do not count"),
    "dictionary": ("DictVectorizer", vocabulary, "do not count"),
    "twister": ("sources", source(0, "state", "pos", value=2**30), "out of place"),
    "twister below": ("sources", source(4, "state", "pos", value=-(2**30)), "out of place"),
    "Philox": ("sources", source(2, "buffer_pos", value=-(2**30)), "out of place"),
    "support": ("SVC precomputed", in_array("support_", 2**30), "not training rows"),
    "no coefficients": ("SVC sparse", no_coefficients, "coefficients of support vectors"),
    "no counts": ("SVR", cut("_n_support", rows=1), "support vectors are missing"),
    "probabilities": ("NuSVR", in_state("_effective_probability", True), "without numbers"),
    "no sigmoids": ("SVC", in_state("_effective_probability", True), "without numbers"),
    "routine": ("SVC", other_routine, "no attribute '_impl' of its own"),
    "depth": ("DecisionTreeClassifier", depth, "another depth"),
    "hasher": ("FeatureHasher", in_state("n_features", 0), "n_features of FeatureHasher"),
    "hashing": ("HashingVectorizer", in_state("n_features", 0), "n_features of Hashing"),
    "forest": ("RandomForestClassifier", tree_of_fewer_features, "does not fit its trees"),
    "clusters": ("KMeans", narrower("cluster_centers_", columns=1), "cluster_centers_ of KMeans"),
    "neighbours": ("KNeighborsClassifier", in_state("n_samples_fit_", 10**6), "rows of a neighb"),
    "classes": ("KNeighborsClassifier brute", in_array("_y", 10**6), "a class that is none"),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    place = tmp_path_factory.mktemp("forged")
    for way, (name, change, _) in FORGED.items():
        save(zoo.make(name)[0], place / way)
        forging.forge(place / way, change)
    found = in_a_child({place / way: name for way, (name, _, _) in FORGED.items()})
    return {folder.name: outcome for folder, outcome in found.items()}


@pytest.mark.parametrize("way", FORGED)
def test_compiled_code_never_sees_it(way: str, outcomes: dict[str, str]) -> None:
    assert outcomes[way].startswith("refused:"), outcomes[way]
    assert FORGED[way][2] in outcomes[way]


def test_the_widest_hashing_is_kept_and_nothing_wider(tmp_path: Path) -> None:
    """Columns of sparse rows are numbered in 32 bits; scikit-learn goes up to their last."""
    widest = 2**31 - 1
    rows = FeatureHasher(n_features=widest, input_type="string").transform([["oil"]])
    save(FeatureHasher(n_features=widest, input_type="string"), tmp_path / "model")
    found = load(tmp_path / "model").transform([["oil"]])
    assert found.shape == (1, widest)
    assert found.indices.tolist() == rows.indices.tolist()
    forging.forge(tmp_path / "model", in_state("n_features", widest + 1))
    with pytest.raises(ModelFileError, match="n_features of FeatureHasher"):
        load(tmp_path / "model")


# Files and time ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["filename", "file"])
def test_rows_never_name_files(kind: str, tmp_path: Path) -> None:
    save(zoo.make("TfidfVectorizer")[0], tmp_path / "model")
    forging.forge(tmp_path / "model", in_state("input", kind))
    with pytest.raises(ModelFileError, match=f"input of TfidfVectorizer is '{kind}'"):
        load(tmp_path / "model")
    # Nor is such a model written.
    with pytest.raises(ModelFileError, match=r"cannot be saved: input of TfidfVectorizer"):
        save(TfidfVectorizer(input=kind), tmp_path / "other")


def test_no_folder_of_a_file_is_read(tmp_path: Path) -> None:
    save(make_pipeline(StandardScaler(), MinMaxScaler()), tmp_path / "model")
    forging.forge(tmp_path / "model", in_state("memory", "/tmp"))
    with pytest.raises(ModelFileError, match="memory of Pipeline is set"):
        load(tmp_path / "model")


def test_a_tagger_names_no_file(tmp_path: Path) -> None:
    """Names of labels stand in the model; a file of names is for the one who trains."""
    data = Dataset(zoo.X, zoo.Y, ["f", "g", "h", "i"], ["a", "b", "c"])
    tagger = Tagger.fit(data, "ML-kNN", reading={"labels": ["a", "b", "c"]}, random_state=0)
    tagger.save(tmp_path / "model")
    assert Tagger.load(tmp_path / "model").reading == {"labels": ["a", "b", "c"]}

    def change(objects: Any, arrays: Arrays) -> None:
        reading = next(pair for pair in objects["items"] if pair[0] == "reading")
        reading[1]["items"][0][1] = "/etc/names.xml"

    forging.forge(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match="does not say how files are read"):
        Tagger.load(tmp_path / "model")


@pytest.mark.parametrize(
    "pattern",
    [
        r"(\w+)+$",
        r"(?:a|a)*b",
        r"\w*\w*\w*\w*\w*!",
        r"(a?){30}a{30}",
        r"(?=(\w+))\1:",
        r"\w+ \w+ \w+",
        r"(\w+",
        3,
    ],
)
def test_patterns_that_may_never_end(pattern: Any, tmp_path: Path) -> None:
    save(zoo.make("TfidfVectorizer")[0], tmp_path / "model")
    forging.forge(tmp_path / "model", in_state("token_pattern", pattern))
    with pytest.raises(ModelFileError, match=r"token_pattern of TfidfVectorizer"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?u)\b\w\w+\b",  # scikit-learn's
        r"(?u)\w+|[^\w\s]",  # ours, for short texts
        r"\S+",
        r"[A-Za-z]{3,}",
        r"(?i)\b[a-z]\w{2,20}\b",
        r"#\w+",
        r"[^,]+",
    ],
)
def test_patterns_that_end(pattern: str, tmp_path: Path) -> None:
    model = TfidfVectorizer(token_pattern=pattern).fit(["Some #texts, oil"])
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").vocabulary_ == model.vocabulary_


# Shapes that do not go together ------------------------------------------------------------------


def test_steps_of_a_pipeline_fit(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    save(make_pipeline(PolynomialFeatures(), StandardScaler()).fit(X), tmp_path / "model")

    def change(objects: Any, arrays: Arrays) -> None:
        scaler = objects["state"]["steps"][1]["items"][1]["state"]
        scaler["n_features_in_"] = 4
        for name in ("mean_", "var_", "scale_"):
            put_array(scaler[name], arrays, array_at(scaler[name], arrays)[:4])

    forging.forge(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match=r"PolynomialFeatures gives 10 features.*takes 4"):
        load(tmp_path / "model")


def test_a_node_has_one_parent(tmp_path: Path) -> None:
    X = np.arange(16.0).reshape(-1, 1)
    save(DecisionTreeClassifier().fit(X, [0, 1] * 8), tmp_path / "model")

    def change(objects: Any, arrays: Arrays) -> None:
        nodes = objects["state"]["tree_"]["nodes"]
        right = array_at(nodes["right_child"], arrays).copy()
        inner = np.flatnonzero(right > 0)
        right[inner[0]] = right[inner[1]]
        put_array(nodes["right_child"], arrays, right)

    forging.forge(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match="with no parent, or with two"):
        load(tmp_path / "model")


def test_sparse_matrices_lead_nowhere_else(tmp_path: Path) -> None:
    matrix = sparse.csr_array(np.eye(4))
    for layout in ("csr", "csc", "coo"):
        for part, value in (("indices", 9), ("row", 9), ("indptr", 10**6), ("col", -1)):
            save([matrix.asformat(layout)], tmp_path / "model")
            objects, _ = forging.members(tmp_path / "model")
            if part not in objects[0]["parts"]:
                continue

            def change(objects: Any, arrays: Arrays, part: str = part, value: int = value) -> None:
                node = objects[0]["parts"][part]
                array = array_at(node, arrays).copy()
                array[1] = value
                put_array(node, arrays, array)

            forging.forge(tmp_path / "model", change)
            with pytest.raises(ModelFileError):
                load(tmp_path / "model")


# Memory ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "node",
    [
        {"is": "tuple", "items": {"is": "range", "parts": [0, 10**9, 1]}},
        {"is": "set", "items": {"is": "range", "parts": [0, 10**9, 1]}},
        {"is": "range", "parts": [0, 10**9, 1]},
        {"is": "index", "range": [0, 10**12, 1], "title": None},
        {"is": "complex", "parts": {"is": "range", "parts": [0, 2, 1]}},
        {"is": "dict", "items": {"is": "tuple", "items": []}},
    ],
    ids=lambda node: node["is"],
)
def test_few_words_do_not_become_many_numbers(node: Any, tmp_path: Path) -> None:
    save([1], tmp_path / "model")
    forging.forge(tmp_path / "model", lambda objects, arrays: [node])
    with pytest.raises(ModelFileError, match=r"too long|a list is none|a dictionary is none"):
        load(tmp_path / "model")


def test_a_seed_is_no_range(tmp_path: Path) -> None:
    save([np.random.default_rng(0)], tmp_path / "model")

    def change(objects: Any, arrays: Arrays) -> None:
        seed = next(pair for pair in objects[0]["parts"]["items"] if pair[0] == "seed")[1]
        entropy = next(pair for pair in seed["items"] if pair[0] == "entropy")
        entropy[1] = {"is": "range", "parts": [0, 10**6, 1]}

    forging.forge(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match="a seed is no number"):
        load(tmp_path / "model")


def test_an_array_is_handed_out_once(tmp_path: Path) -> None:
    """Texts are copied when they are read: a thousand nodes would make a thousand copies."""
    save([np.array(["abc"])], tmp_path / "model")
    forging.forge(
        tmp_path / "model",
        lambda objects, arrays: [{**objects[0], "number": k} for k in range(1000)],
    )
    with pytest.raises(ModelFileError, match="an array is missing"):
        load(tmp_path / "model")


def test_little_but_empty_lists(tmp_path: Path) -> None:
    save([[]] * 1000, tmp_path / "few")
    assert load(tmp_path / "few") == [[]] * 1000
    forging.forge(tmp_path / "few", lambda objects, arrays: [[]] * 10**6)
    with pytest.raises(ModelFileError, match="little but empty lists"):
        load(tmp_path / "few")
    with pytest.raises(ModelFileError, match=r"list cannot be saved.*little but empty lists"):
        save([[]] * 10**6, tmp_path / "many")


LOAD = """
import sys
from splmll.persistence import ModelFileError, load
try:
    load(sys.argv[1])
except ModelFileError:
    pass
"""


def test_memory_is_a_small_multiple_of_the_file(tmp_path: Path) -> None:
    """The worst that JSON allows; what real models take is in benchmarks/model_file_memory.py."""
    save([0], tmp_path / "model")
    floor = peak_bytes(LOAD, tmp_path, tmp_path / "model")
    _, arrays = forging.members(tmp_path / "model")
    for text in ('{"a":300},', '"ab",', "[],"):
        objects = f"[{text * (8_000_000 // len(text))}0]".encode()
        forging.seal(tmp_path / "model", objects, safetensors.save(arrays))
        taken = peak_bytes(LOAD, tmp_path, tmp_path / "model") - floor
        assert taken < 32 * len(objects), text
