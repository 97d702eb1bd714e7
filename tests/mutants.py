"""Small changes of the code, a seeded sample of all that Cosmic Ray knows; tests should kill them.

``make mutants`` runs it. A copy of the sources is changed in one place at a time and the tests of
that file are run on it; the working tree is not touched. What no test notices is printed with its
place, and belongs into a new test or, with its reason, into CONTRIBUTING.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
SECONDS = 300  # tests of a mutant that take longer have noticed it

#: File under src/splmll -> its tests, the quickest to notice something first.
TESTS: dict[str, tuple[str, ...]] = {
    "thresholds.py": ("tests/test_thresholds.py",),
    "atomic.py": ("tests/test_atomic.py", "tests/persistence/test_saving.py"),
    **{
        f"persistence/{name}.py": (
            *(f"tests/persistence/{each}.py" for each in tests),
            "tests/persistence/test_model_round_trips.py",
        )
        for name, tests in {
            "array_kinds": ("test_value_kinds", "test_model_file_refusals", "test_forged_models"),
            "checking": ("test_forged_models", "test_model_checks"),
            "codec": ("test_value_kinds", "test_model_file_refusals", "test_forged_models"),
            "files": ("test_model_file_refusals", "test_forged_models", "test_saving"),
            "object_kinds": ("test_model_file_refusals", "test_forged_models", "test_value_kinds"),
            "particular": ("test_forged_models", "test_model_checks"),
            "plain_kinds": ("test_value_kinds", "test_forged_models"),
            "registry": ("test_class_names", "test_value_kinds", "test_model_file_refusals"),
            "storage": ("test_model_file_refusals", "test_saving"),
        }.items()
    },
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
        if code is None or _meaning(code) == _meaning(sources[file]):
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
    """Whether the tests of a file notice that it is a mutant."""
    place = sources / "splmll" / mutant.file
    before = place.read_text()
    place.write_text(mutant.code)
    command: list[Any] = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    try:
        done = subprocess.run(
            [*command, "--no-header", *TESTS[mutant.file]],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        place.write_text(before)
    return done.returncode != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", nargs="*", default=list(TESTS))
    given = parser.parse_args()
    killed = tried = 0
    with tempfile.TemporaryDirectory() as place:
        sources = Path(place) / "src"
        shutil.copytree(ROOT / "src", sources)
        for mutant in mutants(given.files, random.Random(given.seed)):
            if tried == given.runs:
                break
            tried += 1
            if is_killed(mutant, sources):
                killed += 1
                print(f"killed: {mutant.file} ({mutant.operator})", flush=True)
            else:
                print(f"survived: {mutant.file} ({mutant.operator})\n{mutant.diff}\n", flush=True)
    print(f"{killed} of {tried} killed, seed {given.seed}")


if __name__ == "__main__":
    main()
