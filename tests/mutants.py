"""Small changes of the code, a seeded sample of all that Cosmic Ray knows; tests should kill them.

``make mutants`` runs it. A copy of the sources is changed in one place at a time and the tests of
that file are run on it; the working tree is not touched. What no test notices is printed with its
place, and belongs into a new test or, with its reason, into CONTRIBUTING.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import contextlib
import difflib
import importlib.util
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).parent.parent
SECONDS = 900  # tests of a mutant that take longer have noticed it
PASSED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
IMPORTED = (
    *("numpy", "scipy", "scipy.optimize", "scipy.stats", "scipy.sparse.linalg", "pandas"),
    *("pyarrow.csv", "sklearn", "sklearn.ensemble", "sklearn.svm", "sklearn.pipeline"),
    *("sklearn.linear_model", "sklearn.model_selection", "sklearn.neighbors", "sklearn.cluster"),
    *("sklearn.feature_extraction.text", "sklearn.utils.estimator_checks", "torch", "safetensors"),
    *("hypothesis", "hypothesis.extra.numpy", "matplotlib.pyplot", "distributed", "iterstrat"),
)


def _tests(
    package: str, files: dict[str, tuple[str, ...]], others: tuple[str, ...] = ()
) -> dict[str, tuple[str, ...]]:
    """Return for each file of a package its tests, by their names, and those of the package."""
    return {
        f"{package}/{name}.py": tuple(
            each if "/" in each else f"tests/{package}/{each}.py"
            for each in dict.fromkeys((*tests, *others))
        )
        for name, tests in files.items()
    }


_WIDE = "tests/landmarks/test_wide_and_many.py"
_WEIGHTED = "tests/landmarks/test_weighted_rows.py"
_PARAMETERS = "tests/common/test_parameter_constraints.py"
_ROUND_TRIPS = "tests/persistence/test_model_round_trips.py"

#: File under src/splmll -> its tests, the quickest to notice something first. The examples in the
#: file itself come before all of them.
TESTS: dict[str, tuple[str, ...]] = {
    "thresholds.py": ("tests/test_thresholds.py",),
    "atomic.py": ("tests/test_atomic.py", "tests/persistence/test_saving.py"),
    **_tests(
        "metrics",
        {
            "_inputs": ("test_bipartition", "test_ranking"),
            "_ranks": ("test_ranking",),
            "bipartition": ("test_bipartition",),
            "grouped": ("test_grouped",),
            "ranking": ("test_ranking",),
            "registry": ("test_registry", "test_scorers"),
            "scorers": ("test_scorers", "test_registry"),
        },
    ),
    **_tests(
        "embeddings",
        {
            "automatic": ("test_naming",),
            "base": ("test_naming", "test_linear", "test_embedding_contract"),
            "blend": ("test_blend",),
            "kernel": ("test_kernel_embedding",),
            "kernel_svm": ("test_kernel_embedding", "test_embedding_contract"),
            "label_columns": ("test_one_vs_rest", "test_labels_on_a_cluster"),
            "linear": ("test_linear", "test_statistics", "test_wide_ridge"),
            "naming": ("test_naming",),
            "network": ("test_network_embedding",),
            "one_vs_rest": ("test_one_vs_rest",),
            "stochastic": ("test_linear", "tests/test_streamed_tagger.py"),
            "trees": ("test_trees_embedding",),
            "wide_ridge": ("test_wide_ridge",),
        },
        (_WEIGHTED,),
    ),
    **_tests(
        "landmarks",
        {
            "annotation_path": ("test_annotating",),
            "answering": ("test_answers", "test_annotating"),
            "asking": ("test_answers", "test_annotating"),
            "auditing": ("test_annotating",),
            "belief": ("test_answers", "test_annotating"),
            "calibration_curve": ("test_answers",),
            "classifier": (
                *("test_classifier", "test_using_landmarks", "test_edge_cases"),
                f"{_PARAMETERS}::test_a_name_of_no_embedding_is_refused_before_the_data_are_looked_at",
            ),
            "completion": ("test_completion",),
            "cost": ("test_cost", f"{_WIDE}::test_cost_names_the_route"),
            "distributed": ("test_distributed_fit",),
            "explanation": ("test_using_landmarks",),
            "folds": ("test_passes", "test_streaming", "test_recovery"),
            "judging": ("test_judging", "test_path"),
            "label_moments": (
                f"{_WIDE}::test_candidates_are_those_of_the_written_out_search",
                *("test_completion", "test_answers"),
            ),
            "learning": ("test_learning", "test_path", "test_predictable"),
            "out_of_core": ("test_streaming", "test_passes", "test_scale_routes"),
            "out_of_fold": ("test_passes", "test_recovery"),
            "passes": ("test_passes", "test_streaming"),
            "path": ("test_path",),
            "prediction": (
                "test_using_landmarks",
                f"{_WIDE}::test_the_top_scores_are_the_highest",
                f"{_WIDE}::test_blocks_of_rows_give_what_all_rows_give",
            ),
            "recovery": ("test_recovery", "test_theory", "test_predictable"),
            "row_order": ("test_annotating",),
            "screening": ("test_screening",),
            "selection": ("test_selection", "test_predictable", "test_theory"),
            "worth": ("test_worth", "test_annotating", "test_completion"),
        },
        (_WEIGHTED, "test_unknown_labels", _WIDE),
    ),
    **_tests(
        "persistence",
        {
            "array_kinds": ("test_value_kinds", "test_model_file_refusals", "test_forged_models"),
            "checking": ("test_forged_models", "test_model_checks"),
            "codec": ("test_value_kinds", "test_model_file_refusals", "test_forged_models"),
            "files": ("test_model_file_refusals", "test_forged_models", "test_saving"),
            "moved": ("test_old_model_files", "test_class_names"),
            "object_kinds": ("test_model_file_refusals", "test_forged_models", "test_value_kinds"),
            "particular": ("test_forged_models", "test_model_checks"),
            "plain_kinds": ("test_value_kinds", "test_forged_models"),
            "registry": ("test_class_names", "test_value_kinds", "test_model_file_refusals"),
            "storage": ("test_model_file_refusals", "test_saving"),
        },
        (_ROUND_TRIPS,),
    ),
}


class Mutant(NamedTuple):
    """One change of one file."""

    file: str
    operator: str
    code: str
    diff: str


def mutants(files: list[str], rng: random.Random) -> Iterator[Mutant]:
    """Yield changes of files that change what the code does, in random order."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    sources = {file: (ROOT / "src" / "splmll" / file).read_text() for file in files}
    places: list[tuple[str, str, int]] = []
    for file, source in sources.items():
        nodes = list(ast_nodes(get_ast(source)))
        for name in sorted(operator_names()):
            if not get_operator(name).arguments():
                operator = get_operator(name)()
                found = sum(len(list(operator.mutation_positions(node))) for node in nodes)
                places += [(file, name, number) for number in range(found)]
    rng.shuffle(places)
    for file, name, number in places:
        code = mutate_code(sources[file], get_operator(name)(), number)
        try:
            if code is None or _meaning(code) == _meaning(sources[file]):
                continue
        except SyntaxError:  # such as // in place of the ** before keyword arguments
            continue
        lines = difflib.unified_diff(
            sources[file].splitlines(), code.splitlines(), n=0, lineterm=""
        )
        yield Mutant(file, name, code, "\n".join(list(lines)[2:]))


def _meaning(code: str) -> str:
    """Return what a module does: without types, which nobody evaluates, and comments."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if isinstance(getattr(node, name, None), ast.AST):
                setattr(node, name, ast.Constant(None))
    return ast.dump(tree)


def is_killed(mutant: Mutant, sources: Path) -> bool:
    """Whether the tests of a file notice that it is a mutant.

    They run in a copy of this process, which has everything imported but the library itself: for
    most mutants that would take longer than their tests.
    """
    place = sources / "splmll" / mutant.file
    before = place.read_text()
    # Compiled code is told apart by size and second, in which two mutants may agree.
    Path(importlib.util.cache_from_source(str(place))).unlink(missing_ok=True)
    place.write_text(mutant.code)
    try:
        return any(
            _fails(sources, ("-m", speed, str(place), *TESTS[mutant.file]))
            for speed in ("not slow", "slow")
        )
    finally:
        place.write_text(before)


def _fails(sources: Path, arguments: tuple[str, ...]) -> bool:
    child = os.fork()
    if child == 0:
        _run_tests(sources, arguments)
    try:
        return _wait(child) not in PASSED
    finally:
        _end(child)  # and with it the processes that it has left behind


def _run_tests(sources: Path, arguments: tuple[str, ...]) -> NoReturn:
    """Run tests on a copy of the sources and end this process with what came of them."""
    code = 1  # whatever happens on the way, the tests have noticed it
    try:
        os.setsid()
        os.chdir(ROOT)
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in range(3):
            os.dup2(nothing, handle)
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(sources))
        os.environ["PYTHONPATH"] = str(sources)  # for the processes that tests start
        # That something fails is enough: nobody needs the smallest example of it.
        settings.register_profile("mutants", phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *arguments]))
    finally:
        os._exit(code)


def _wait(child: int) -> int:
    """Return how a process ended; one that takes too long is ended with all that it started."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    _end(child)
    return os.waitpid(child, 0)[1]


def _end(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def _import_what_is_not_ours() -> None:
    """Import what tests need from other packages, once for all mutants."""
    for name in IMPORTED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    ours = [name for name in sys.modules if name.partition(".")[0] == "splmll"]
    assert not ours, f"{ours[0]} is imported already and would not be a mutant"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40, help="mutants in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", nargs="*", default=list(TESTS), help="or the start of names")
    parser.add_argument("--skip", type=int, default=0, help="mutants that were tried before")
    given = parser.parse_args()
    files = [file for file in TESTS if file.startswith(tuple(given.files))]
    _import_what_is_not_ours()
    killed: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        sources = Path(place) / "src"
        shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(sources, quiet=1)
        sample = islice(mutants(files, random.Random(given.seed)), given.skip, given.runs)
        for mutant in sample:
            package = mutant.file.partition("/")[0]
            began = time.monotonic()
            tried[package] += 1
            noticed = is_killed(mutant, sources)
            killed[package] += noticed
            said = f"{mutant.file} ({mutant.operator}), {time.monotonic() - began:.0f} s"
            if noticed:
                print(f"killed: {said}", flush=True)
            else:
                print(f"survived: {said}\n{mutant.diff}\n", flush=True)
    for package, number in sorted(tried.items()):
        print(f"{package}: {killed[package]} of {number} killed")
    print(f"{killed.total()} of {tried.total()} killed, seed {given.seed}")


if __name__ == "__main__":
    main()
