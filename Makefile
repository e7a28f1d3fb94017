# The verbs. Each line calls an ordinary command that a reader could type.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NODE := .node/installed
CORES := $(shell getconf _NPROCESSORS_ONLN)

# Tests and benchmarks start thousands of processes; each would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: try quick quick-tests test lint types browser bench evidence soak upgrade requirements package audit site clean help

help:            ## show the verbs
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "holdfast needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "could not create $(VENV): on Debian install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(STAMP)

$(NODE): tests/node/package-lock.json $(STAMP)
	$(BIN)/python -m tests.nodejs
	@touch $(NODE)

try: $(STAMP)    ## a two-minute tour on an embedded default
	$(BIN)/holdfast try

quick: $(STAMP)  ## lint, types and every test that needs no PostgreSQL, browser or Node: before each commit
	@$(MAKE) --no-print-directory --jobs=3 lint types quick-tests

quick-tests: $(STAMP)
	HOLDFAST_QUICK=1 $(BIN)/python -m pytest -q --workers=$$(( $(CORES) * 3 ))

test: $(STAMP) $(NODE)  ## everything the project promises, checked, on all cores
	$(BIN)/python -m pytest --workers=$$(( $(CORES) * 3 / 2 )) || { test $$? = 1 && test -n "$$CI" && $(BIN)/python -m tests.again; }

lint: $(STAMP)   ## ruff: style and common mistakes; phrases that readers would have to decode
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.wording

types: $(STAMP)  ## mypy --strict
	$(BIN)/mypy

browser:         ## a Chromium for the tests of the dashboard, if there is none yet
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || { $$(test "$$(id -u)" = 0 || echo sudo -n) apt-get update -qq && $$(test "$$(id -u)" = 0 || echo sudo -n) apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } \
	  || { echo "install Chromium with your system's packages; HOLDFAST_CHROMIUM names another one" >&2; exit 1; }

bench: $(STAMP)  ## every benchmark, as a table and as JSON in bench/out
	$(BIN)/python -m bench

evidence: $(STAMP)  ## every benchmark recorded in docs/evidence, and the pages that show the figures; takes hours
	$(BIN)/python -m bench.evidence run $(if $(TRACES),--traces $(TRACES)) $(if $(SESSIONS),--sessions $(SESSIONS)) $(if $(TREE),--tree $(TREE)) $(if $(JSCPD),--jscpd $(JSCPD)) $(ONLY)

soak: $(STAMP) $(NODE)  ## the long versions of the property, crash and simulation tests
	HOLDFAST_SOAK=1 $(BIN)/python -m pytest tests/store tests/sync tests/simulation tests/reading tests/sequence tests/index tests/hostile tests/agents

package: $(STAMP)  ## wheel and sdist in dist/ with a bill of materials, tried in empty environments
	$(BIN)/python -m release build
	$(BIN)/python -m release sbom
	$(BIN)/python -m release smoke --uv

site: $(STAMP)   ## the documentation as a site in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

audit: $(STAMP)  ## licences of every dependency; known vulnerabilities, where the advisory service answers
	$(BIN)/python -m release licences
	$(BIN)/python -m release advisories

upgrade: $(STAMP) ## the newest versions of what tests run with, in constraints.txt
	$(BIN)/python -m release upgrade

requirements: $(STAMP)  ## refresh the test column of docs/requirements.md
	$(BIN)/python -m tests.requirements --write

clean:           ## remove the environment and caches
	rm -rf $(VENV) .node .mypy_cache .ruff_cache .pytest_cache .hypothesis
