PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# Tests run side by side, one process for each core, so that BLAS needs no threads of its own.
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo chromium test lint format bench fuzz torture clean

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all,dev]'
	touch $(READY)

demo: $(READY)  ## Fit the Earth's elevation, draw the map and write the report
	$(BIN)/zonal demo --force

# The tests look at the HTML reports with Chromium; without it, those tests are skipped.
chromium:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
		echo "Chromium is not here and cannot be installed: the tests of reports in it are skipped."

test: lint chromium  ## Run the linters, the type checker, all tests and the doctests
	$(TEST_ENV) $(BIN)/python -m pytest -n auto --dist worksteal

lint: $(READY)  ## Run ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## Measure speed beside the peers and beside the limits of the machine
	$(BIN)/python -m benchmarks

fuzz: $(READY)  ## Try the properties of tests/properties on 10,000 random cases, in 20 minutes at most
	$(TEST_ENV) $(BIN)/python -m benchmarks.reliability.fuzz

torture: $(READY)  ## Kill commands, saves, streams and Dask at 200 random moments; fill disk and memory
	$(TEST_ENV) $(BIN)/python -m benchmarks.reliability.torture

clean:  ## Remove the virtual environment and everything made
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache dist elevation.png elevation.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
