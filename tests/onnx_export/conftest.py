"""The estimators and the small problem of the common checks serve here too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "common"))
