# Everything is set up on first use: Python 3.11, pip and make are enough. Checks and tests also take Node and
# Chromium, which come from apt where they are missing.
PYTHON ?= python3
BIN := .venv/bin
# The corpora of the benchmarks, which are not part of the project.
DATA ?= ../shared/data
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test check lock bench clean

demo: .venv/demo
	$(BIN)/seq2see demo

# Three processes for two cores: pages, servers and signals are waited for.
test: .venv/dev .venv/chromium .venv/page
	node --test tests/web/*.test.js
	$(BIN)/pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

check: .venv/dev .venv/page
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/lock.py --check
	node_modules/.bin/biome check --error-on-warnings
	node_modules/.bin/tsc

# The newest versions that fit pyproject.toml, in an environment of their own; torch stays as it is pinned.
lock:
	$(PYTHON) -m venv --clear build/lock
	grep '^torch==' constraints.txt > build/torch.txt
	build/lock/bin/pip install --quiet --disable-pip-version-check --constraint build/torch.txt '.[demo,dev,engines,tasks]'
	build/lock/bin/python tools/lock.py

bench: .venv/dev
	$(BIN)/python -m benchmarks.speed --data $(DATA)
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.chaos

clean:
	rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build src/*.egg-info

# One stamp for each set of extras, renewed when the dependencies change.
.venv/python:
	$(PYTHON) -m venv .venv
	touch $@

.venv/demo: .venv/python pyproject.toml constraints.txt
	$(PIP) --editable '.[demo,tasks]'
	touch $@

# The page's JavaScript is checked and tested with Node, which using the page does not need.
.venv/page: .venv/python package.json package-lock.json
	command -v npm || (apt-get update && apt-get install --yes --no-install-recommends nodejs npm)
	npm ci --loglevel error --no-audit --no-fund
	touch $@

# The explorer is tested in a real browser. Where there is none and it may not be installed, those tests say so;
# with CI=true they fail.
.venv/chromium: .venv/python
	command -v chromium || (apt-get update && apt-get install --yes --no-install-recommends chromium) || true
	touch $@

.venv/dev: .venv/python pyproject.toml constraints.txt
	$(PIP) --editable '.[demo,dev,engines,tasks]'
	touch $@
