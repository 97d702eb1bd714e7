"""How many damaged files each reader is given; ``SPLMLL_FUZZ_RUNS=10000`` gives it more."""

import os

RUNS = int(os.environ.get("SPLMLL_FUZZ_RUNS", "600"))
