PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv/.peers

# Tests of the numerics, for the oldest versions.
OLDEST := tests/polynomials tests/engines tests/kernels tests/moments tests/theory tests/features tests/learners/test_ridge.py

# Tests run side by side, one process for each core, so that BLAS needs no threads of its own.
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo chromium test compiled lint format bench compare ours longest options fuzz torture docs figures linkcheck dist extras oldest clean

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# Modules are compiled when they are first imported, for most of those installed never are, and kept,
# also where the environment says otherwise: tests start many processes.
export PYTHONDONTWRITEBYTECODE :=
$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[all,dev]'
	touch $(READY)

demo: $(READY)  ## Fit the Earth's elevation, draw the map and write the report
	$(BIN)/zonal demo --force

# The tests look at the HTML reports with Chromium; without it, those tests are skipped.
chromium:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
		echo "Chromium is not here and cannot be installed: the tests of reports in it are skipped."

test:  ## Run the linters, the type checker, the tests (but for make longest) and the doctests
	@$(MAKE) --no-print-directory --jobs 2 $(READY) chromium
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint compiled
	$(TEST_ENV) $(BIN)/python -m pytest -n auto --dist worksteal -m "not longest"

# Beside the type checker, so that no two processes of tests compile the same.
compiled: $(READY)
	$(TEST_ENV) $(BIN)/python release/compile.py

lint: $(READY)  ## Run ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## Measure speed beside the peers and beside the limits of the machine
	$(BIN)/python -m benchmarks

# The other libraries of the comparisons; xRFM brings PyTorch.
$(PEERS): $(READY)
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[bench]'
	touch $(PEERS)

# Cells that are in benchmarks/results are not run again: what was interrupted goes on where it was.
compare: $(PEERS)  ## Run what is missing of the comparisons with other libraries (extra bench; hours)
	$(BIN)/python -m benchmarks.gp_suite
	$(BIN)/python -m benchmarks.fields
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.maps --folds 3
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.tables
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.tables --thirds --splits 3
	$(BIN)/python -m benchmarks.intervals --splits 6 --peer-splits 2
	$(BIN)/python -m benchmarks.quotes --write

ours: $(PEERS)  ## Run our own cells of the comparisons again, and update the pages
	$(BIN)/python -m benchmarks.gp_suite --only zonal --again
	$(BIN)/python -m benchmarks.fields --only zonal --again
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.local --only "nothing set"
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.maps --folds 3 --only zonal --again
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.tables --methods zonal --again
	$(BIN)/python -m benchmarks.quotes --write

longest: $(READY)  ## Run the tests that make test leaves out for their time
	$(TEST_ENV) $(BIN)/python -m pytest -n auto -m longest

options: $(READY)  ## Try every option of the commands on every kind of input (make test: an eighth of them)
	$(TEST_ENV) ZONAL_EVERY_OPTION=1 $(BIN)/python -m pytest -n auto tests/cli/test_option_table.py

fuzz: $(READY)  ## Try the properties of tests/properties on 10,000 random cases, in 20 minutes at most
	$(TEST_ENV) $(BIN)/python -m benchmarks.reliability.fuzz

torture: $(READY)  ## Kill commands, saves, streams and Dask at 200 random moments; fill disk and memory
	$(TEST_ENV) $(BIN)/python -m benchmarks.reliability.torture

docs: $(READY)  ## Build the site in docs/_build/html: every figure checked, doctests and gallery run
	$(BIN)/python -m benchmarks.quotes
	$(TEST_ENV) $(BIN)/python -m pytest -q -n auto src tests/docs
	$(TEST_ENV) $(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

figures: $(READY)  ## Put the newest figures of benchmarks/results into README and docs
	$(BIN)/python -m benchmarks.quotes --write

linkcheck: $(READY)  ## Check the site's links to other sites (needs a network)
	$(BIN)/python -m sphinx -b linkcheck -D plot_gallery=0 docs docs/_build/linkcheck

dist: $(READY)  ## Build the wheel and the source archive, and check them
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python release/check_wheel.py dist

extras: dist  ## Install the wheel into fresh environments, with each extra alone, and use it
	$(BIN)/python release/try_extras.py dist

# The oldest NumPy has no wheels for Python 3.13 and later.
oldest:  ## Run the quick tests with the oldest supported versions, on Python 3.11 or 3.12
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --constraint release/oldest.txt '.[save,frames]' pytest hypothesis
	$(TEST_ENV) .venv-oldest/bin/python -m pytest -q -m "not slow" -p no:cacheprovider $(OLDEST)

clean:  ## Remove the virtual environment and everything made
	rm -rf .venv .venv-oldest .mypy_cache .pytest_cache .ruff_cache dist docs/_build elevation.png elevation.html
	git clean -fdXq docs
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
