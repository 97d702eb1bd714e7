"""What is imported when, and what can be done where PyTorch and matplotlib are not installed."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import splmll
from splmll.extras import EXTRAS, installed_extras

ROOT = Path(__file__).parents[1]

# Importing one of these in the child process fails as if it were not installed.
BLOCKED = """
import importlib.abc, importlib.machinery, importlib.util, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None

sys.meta_path.insert(0, Blocked())
"""
NOT_INSTALLED = ("torch", "matplotlib", "typer", "rich", "yaml", "scikit_posthocs")


def run(code: str, without: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    program = BLOCKED.format(names=set(without) or "set()") + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def said_by(code: str, without: tuple[str, ...] = ()) -> str:
    done = run(code, without)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_submodules_are_there_when_asked_for() -> None:
    code = "import splmll; print(splmll.metrics.hamming_loss([[1, 0]], [[1, 1]]))"
    assert said_by(code) == "0.5"
    packages = {path.parent.name for path in (ROOT / "src" / "splmll").glob("*/__init__.py")}
    assert packages <= set(dir(splmll))
    with pytest.raises(AttributeError, match="has no attribute 'metricks'"):
        getattr(splmll, "metricks")  # noqa: B009


def test_names_alone_import_nothing_heavy() -> None:
    code = """
import splmll, splmll.methods, splmll.embeddings, splmll.catalogue, splmll.published
splmll.make_method("SPL-MLL"), splmll.make_method("ML-kNN")
print({"torch", "matplotlib"} & set(sys.modules))
"""
    assert said_by(code) == "set()"


WORKS = """
import tempfile, pathlib
import numpy as np
from splmll import SPLMLL, evaluate, read_dataset
from splmll.methods import MLkNN, BinaryRelevance, RAkEL, LEML
from splmll.model_selection import MultilabelStratifiedKFold, ThresholdTuner
from splmll.persistence import load, save
X = np.random.default_rng(0).normal(size=(80, 4))
Y = (X[:, :3] > 0).astype(int)
model = SPLMLL("linear", random_state=0).fit(X, Y)
for train, test in MultilabelStratifiedKFold(2).split(X, Y):
    evaluate(Y[test], model.decision_function(X[test]), model.predict(X[test]))
for other in (MLkNN(3), BinaryRelevance(), LEML(2), SPLMLL("svm")):
    other.fit(X, Y).predict(X)
ThresholdTuner(MLkNN(3), "per_label").fit(X, Y)
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "table.csv"
    file.write_text("a,b,x\\n" + "".join(f"{k},{k % 3},{k % 2}\\n" for k in range(9)))
    assert list(read_dataset(file, labels=["x"]).label_names) == ["x"]
    save(model, pathlib.Path(folder) / "model.zip")
    load(pathlib.Path(folder) / "model.zip").predict(X)
print("done")
"""


def test_models_measures_splits_readers_and_files_need_no_extra() -> None:
    assert said_by(WORKS, without=NOT_INSTALLED) == "done"


def test_the_default_does_without_torch_and_says_so() -> None:
    code = """
import numpy as np
from splmll import SPLMLL
X = np.random.default_rng(0).normal(size=(80, 4))
model = SPLMLL(random_state=0).fit(X, (X[:, :3] > 0).astype(int))
print(type(model.embedding_).__name__, model.summary_)
"""
    said = said_by(code, without=("torch",))
    assert said.startswith("Blend ")
    assert 'networks were left out: pip install "splmll[torch]".' in said


@pytest.mark.parametrize(
    ("code", "package", "extra"),
    [
        ("from splmll.embeddings import Network", "torch", "torch"),
        ("from splmll import SPLMLL; SPLMLL.as_published()", "torch", "torch"),
        ("import splmll; splmll.make_method('C2AE')", "torch", "torch"),
        (
            "import numpy as np; from splmll.plots import LabelCooccurrenceDisplay as D; "
            "D.from_labels(np.eye(3, dtype=int))",
            "matplotlib",
            "plots",
        ),
        ("import splmll.cli; splmll.cli.main(['--help'])", "typer", "cli"),
    ],
)
def test_what_is_missing_is_named_with_its_extra(code: str, package: str, extra: str) -> None:
    done = run(code, without=(package,))
    assert done.returncode == 1
    assert f'needs the package {package}: pip install "splmll[{extra}]".' in done.stderr


def test_extras_in_the_code_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(EXTRAS) <= set(project["optional-dependencies"])
    (everything,) = project["optional-dependencies"]["all"]
    # Peers are large, and only measured beside ours.
    wanted = [extra for extra in EXTRAS if extra not in ("peers", "boomer")]
    assert everything == f"splmll[{','.join(wanted)}]"


def test_installed_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splmll.extras.installed", lambda package: package != "torch")
    assert "onnx" not in installed_extras()
    assert "torch" not in installed_extras()
    assert "plots" in installed_extras()
