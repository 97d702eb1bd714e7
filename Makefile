# The contributor's door. Every target sets up what it needs; a second call reinstalls nothing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DOCS   := $(VENV)/.installed-docs
JOBS   ?= 2

# Real benchmark data lives beside the checkout when it is there at all; see docs/data.md.
ifneq ($(wildcard ../shared/data/README.md),)
export SPLMLL_DATA ?= $(abspath ../shared/data)
endif

# One thread per worker: the test runner already uses every core.
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 MPLBACKEND=Agg

.DEFAULT_GOAL := help
.PHONY: help demo test coverage docs test-browser check mutants lint format bench clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt -e ".[data,test,lint]"
	@touch $@

demo: $(STAMP)  ## train SPL-MLL on yeast beside BR and ML-kNN; the page is out/demo.html
	MPLBACKEND=Agg $(BIN)/python examples/demo.py --out out

# Browser tests have a target of their own, which sets up what they need.
PYTEST := $(TEST_ENV) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --ignore=tests/browser

test: $(STAMP)  ## all tests but those in a browser
	$(PYTEST)

coverage: $(STAMP)  ## the same tests; prints which lines and branches of src none of them runs
	@mkdir -p out/coverage
	$(PYTEST) --cov --cov-report=term-missing --cov-report=html

$(DOCS): $(STAMP)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt -e ".[docs]"
	@touch $@

docs: $(DOCS)  ## the documentation site, in out/docs; every warning is an error
	$(BIN)/python -m sphinx -b html -W --keep-going -n -q -d out/doctrees docs out/docs
	@echo "out/docs/index.html"

CHROMIUM := chromium chromium-browser google-chrome
AXE      := $(VENV)/axe.min.js
AXE_CORE := axe-core@4.14.0

# What checks pages for readers with disabilities; without npm its tests are skipped.
$(AXE): | $(BIN)/python
	@if command -v npm >/dev/null; then \
	  cd $(VENV) && npm pack --silent $(AXE_CORE) >/dev/null && \
	  tar -xzf axe-core-*.tgz --strip-components=1 package/axe.min.js && rm axe-core-*.tgz && \
	  touch axe.min.js; \
	else echo "Install npm to fetch axe-core; tests with it are skipped."; fi

test-browser: $(STAMP) $(AXE) docs  ## the pages in a real headless Chromium, set up where it is missing
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt -e ".[browser]"
	@if [ -z "$$SPLMLL_CHROMIUM" ] && ! which $(CHROMIUM) 2>/dev/null | grep -q .; then \
	  if [ "$$(id -u)" = 0 ]; then root=""; else root="sudo -n"; fi; \
	  if command -v apt-get >/dev/null && $$root true 2>/dev/null; then \
	    $$root apt-get update -qq && $$root apt-get install -y -qq chromium; \
	  else \
	    echo "Install Chromium (Debian: apt-get install chromium) or set SPLMLL_CHROMIUM to one."; exit 1; \
	  fi; \
	fi
	$(TEST_ENV) $(BIN)/python -m pytest tests/browser

CHECKS := lint test docs test-browser

check:  ## everything a change must pass, cheapest first; stops at what fails
	@summary=""; result=passed; \
	for stage in $(CHECKS); do \
	  if [ $$result = failed ]; then summary="$$summary\n  $$stage not run"; continue; fi; \
	  echo "== make $$stage"; start=$$(date +%s); \
	  $(MAKE) --no-print-directory $$stage || result=failed; \
	  seconds=$$(( $$(date +%s) - start )); \
	  summary="$$summary\n  $$stage $$result in $$(( seconds / 60 )) min $$(( seconds % 60 )) s"; \
	done; \
	printf "== make check$$summary\n"; [ $$result = passed ]

mutants: $(STAMP)  ## a seeded sample of changed code (RUNS=40, SEED=0), and what of it no test notices
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt -e ".[mutants]"
	$(TEST_ENV) $(BIN)/python tests/mutants.py --runs $(or $(RUNS),40) --seed $(or $(SEED),0)

lint: $(STAMP)  ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(STAMP)  ## rewrite to the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## speed as ratios against peers, measured side by side
	$(BIN)/python -m benchmarks

clean:  ## remove the environment and everything generated
	rm -rf $(VENV) out build dist docs/gallery docs/generated docs/api/generated docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
