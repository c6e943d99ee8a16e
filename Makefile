# Every target sets up what it needs, in .venv, from a bare checkout: Python 3.11, pip, make and git suffice.
PYTHON ?= python3
BIN := .venv/bin
ROUNDS ?= 3
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo readme results trained test test-adapters test-train environments plots fuzz lint bench bench-page golden docs clean

demo: .venv/core
	$(BIN)/camre eval --split validation --out runs/demo --fresh
	$(BIN)/camre report runs/demo

# The table in the README, from a fresh demo.
readme: demo
	$(BIN)/camre leaderboard runs/demo --readme README.md

# The tables of docs/results.md. The test split is for this alone: policies are made and tuned on the others.
results: .venv/core
	$(BIN)/camre eval --split core --out runs/core --fresh
	$(BIN)/camre leaderboard runs/core --readme docs/results.md --block core
	$(BIN)/camre eval --split test --out runs/test --fresh
	$(BIN)/camre leaderboard runs/test --readme docs/results.md --block test
	$(BIN)/camre stability runs/test --readme docs/results.md
	$(BIN)/camre sensitivity --split validation --episodes 60 --seeds 0 --readme docs/results.md

# The trained policy beside the best heuristic, from what it said (results/actions): no network is needed to check it.
SAID := actions:results/actions
trained: .venv/core
	$(BIN)/camre eval --split validation --seeds 0-3 --policy expert --policy $(SAID)/validation-warm-start.jsonl \
	  --policy $(SAID)/validation-seeds.jsonl --policy $(SAID)/validation-trained.jsonl \
	  --policy $(SAID)/validation-continued.jsonl --out runs/trained --fresh
	for page in results/README.md artifacts/camre-v2/README.md; do \
	  $(BIN)/camre leaderboard runs/trained --against $(SAID)/validation-trained.jsonl --readme $$page --block validation || exit 1; done
	$(BIN)/camre eval --split test --seeds 0-3 --policy expert --policy $(SAID)/test-warm-start.jsonl \
	  --policy $(SAID)/test-continued.jsonl --policy $(SAID)/test-guised-warm-start.jsonl \
	  --policy $(SAID)/test-guised.jsonl --out runs/trained-test --fresh
	for page in results/README.md artifacts/camre-v2/README.md; do \
	  $(BIN)/camre leaderboard runs/trained-test --against expert --readme $$page --block test || exit 1; done

# A file's tests stay in one process, since they share what is slow to make.
test: lint
	$(BIN)/pytest -q -n 2 --dist loadfile

# What speaks to large packages, in an environment of its own: verifiers and OpenEnv want different versions of mcp.
test-adapters: .venv-adapters/ready
	.venv-adapters/bin/mypy TokenOptEnv/adapters
	CAMRE_REQUIRE_ADAPTERS=1 .venv-adapters/bin/python -m pytest -q tests/adapters

# The training recipes on a tiny model: their own environment, because torch is large.
test-train: .venv-train/ready
	.venv-train/bin/mypy --strict -p training
	OMP_NUM_THREADS=1 .venv-train/bin/python -m pytest -q tests/train

# The figures in assets/plots and the tables of results/README.md and of the adapter's card, from metrics and timings.
plots: .venv-train/ready
	.venv-train/bin/python -m training.plots
	.venv-train/bin/python -m training.run_page --tried results/tried

# The whole of what tests/hard runs a share of: a million actions, 100,000 frames, 10,000 abandoned sessions.
fuzz: .venv/dev
	$(BIN)/python -m tests.hard.fuzz_engine --actions 1000000
	$(BIN)/python -m tests.hard.fuzz_socket --frames 100000
	$(BIN)/python -m tests.hard.abandon --sessions 10000

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/core
	$(BIN)/camre bench engine

# docs/benchmarks.md and its plot, measured here; the peers are in an environment of their own.
bench-page: .venv/dev .venv-bench/ready
	mkdir -p build/bench
	$(BIN)/camre bench engine --json > build/bench/engine.json
	$(BIN)/camre bench growth --json > build/bench/growth.json
	.venv-bench/bin/camre bench peers --json > build/bench/peers.json
	$(BIN)/camre bench server --rounds $(ROUNDS) --json > build/bench/server-1-few.json
	$(BIN)/camre bench server --rounds $(ROUNDS) --sessions 256 --sessions 1000 --scenarios 20 --json > build/bench/server-2-many.json
	$(BIN)/camre bench server --rounds $(ROUNDS) --sessions 32 --sessions 256 --scenarios 20 --workers 2 --json > build/bench/server-3-workers.json
	$(BIN)/camre bench page build/bench

# The golden traces on every supported Python that is found.
golden:
	$(PYTHON) tests/golden/every_python.py

# The site, in build/site; a broken link fails it.
docs: .venv-docs/ready
	.venv-docs/bin/camre reference --check
	.venv-docs/bin/mkdocs build --strict --quiet

# What the three suites run in, downloaded beforehand.
environments: .venv/dev .venv-adapters/ready .venv-train/ready

.venv/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e .
	@touch $@

.venv/dev: .venv/core
	$(PIP) -e '.[dev,server]'
	@touch $@

.venv-adapters/ready: pyproject.toml constraints-adapters.txt examples/verifiers/pyproject.toml
	test -x .venv-adapters/bin/python || $(PYTHON) -m venv .venv-adapters
	.venv-adapters/bin/pip install --quiet --disable-pip-version-check -c constraints-adapters.txt -e '.[adapters]' -e examples/verifiers datasets hypothesis mypy pytest
	@touch $@

.venv-train/ready: pyproject.toml constraints-train.txt
	test -x .venv-train/bin/python || $(PYTHON) -m venv .venv-train
	.venv-train/bin/pip install --quiet --disable-pip-version-check -c constraints-train.txt -e '.[train]' fastapi hypothesis mypy openai pytest requests uvicorn
	@touch $@

.venv-bench/ready: pyproject.toml constraints-bench.txt
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check -c constraints-bench.txt -e '.[bench]'
	@touch $@

.venv-docs/ready: pyproject.toml constraints.txt constraints-docs.txt
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -c constraints-docs.txt -e '.[docs]'
	@touch $@

clean:
	rm -rf .venv .venv-adapters .venv-bench .venv-docs .venv-golden .venv-train build dist *.egg-info
