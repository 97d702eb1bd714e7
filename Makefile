# The contributor's door. Every target sets up what it needs; a second call reinstalls nothing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
JOBS   ?= 2

# Real benchmark data lives beside the checkout when it is there at all; see docs/data.md.
ifneq ($(wildcard ../shared/data/README.md),)
export SPLMLL_DATA ?= $(abspath ../shared/data)
endif

# One thread per worker: the test runner already uses every core.
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 MPLBACKEND=Agg

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt -e ".[data,test,lint]"
	@touch $@

demo: $(STAMP)  ## train SPL-MLL on yeast beside BR and ML-kNN; the page is out/demo.html
	MPLBACKEND=Agg $(BIN)/python examples/demo.py --out out

test: $(STAMP)  ## the whole test suite
	$(TEST_ENV) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

lint: $(STAMP)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)  ## rewrite to the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## speed as ratios against peers, measured side by side
	$(BIN)/python -m benchmarks

clean:  ## remove the environment and everything generated
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
