# Every target sets up what it needs, in .venv, from a bare checkout: Python 3.11, pip, make and git suffice.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo readme test lint bench clean

demo: .venv/core
	$(BIN)/camre eval --split core --out runs/demo --fresh
	$(BIN)/camre report runs/demo

# The table in the README, from a fresh demo.
readme: demo
	$(BIN)/camre leaderboard runs/demo --readme README.md

test: lint
	$(BIN)/pytest -q

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/core
	$(BIN)/camre bench engine

.venv/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e .
	@touch $@

.venv/dev: .venv/core
	$(PIP) -e '.[dev,server]'
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info
