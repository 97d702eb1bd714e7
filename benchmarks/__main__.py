"""Run every benchmark, one after the other: ``python -m benchmarks`` or ``make bench``."""

from __future__ import annotations

import argparse
import subprocess
import sys

SCRIPTS: list[tuple[str, list[str], list[str]]] = [
    # module, arguments of the full run, arguments of the quick one
    ("metrics_speed", [], []),
    ("stratification_speed", [], []),
    ("landmark_speed", [], ["--data", "yeast", "--repeats", "1"]),
    ("method_speed", [], ["--data", "yeast", "--repeats", "1"]),
    ("label_set_speed", [], ["--data", "yeast", "--repeats", "1"]),
    ("label_embedding_speed", [], []),
    ("low_rank_speed", [], []),
    ("method_quality", [], ["--data", "emotions", "--seeds", "1"]),
    ("landmark_quality", ["landmarks"], ["landmarks", "--seeds", "1"]),
    ("landmark_quality", ["defaults"], ["defaults", "--data", "emotions", "--seeds", "1"]),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller data, fewer repeats")
    quick = parser.parse_args().quick
    failed = []
    for module, full, small in SCRIPTS:
        arguments = small if quick else full
        print(f"\n== {module} {' '.join(arguments)}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
        if subprocess.run(command, check=False).returncode:
            failed.append(module)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
