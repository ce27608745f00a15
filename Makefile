# Every task a person or CI runs; `make help` lists them. A fresh clone needs Python 3.11, a C compiler and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DESTDIR ?=
PREFIX ?= /usr/local
PYTEST_ARGS ?=

.NOTPARALLEL:    # the environment comes before everything else
.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

# --- The environment, and what is generated -------------------------------------------------------------------------

.PHONY: env runtime-env dev-env proto native
runtime-env:
	@test -x $(BIN)/python || scripts/check_prerequisites.sh $(PYTHON)
	@$(PYTHON) scripts/make_env.py $(VENV)

dev-env:
	@test -x $(BIN)/python || scripts/check_prerequisites.sh $(PYTHON)
	@$(PYTHON) scripts/make_env.py $(VENV) --dev

env: dev-env proto native ## make the virtual environment and build what is generated

proto: build/.proto
build/.proto: $(wildcard proto/jird/v1/*.proto) scripts/gen_proto.py | runtime-env
	$(BIN)/python scripts/gen_proto.py
	@mkdir -p build && touch $@

native: build/.native
build/.native: $(wildcard native/qix/*.[ch] native/page/*.[ch] native/build_*.py) | runtime-env
	$(BIN)/python setup.py -q build_ext --inplace
	@mkdir -p build && touch $@

# --- Running --------------------------------------------------------------------------------------------------------

.PHONY: run demo
run: runtime-env proto native ## start daemon and frontend in the foreground, with ./data; Ctrl-C stops both
	@exec $(BIN)/python scripts/run.py

demo: env ## the same with a small internet of its own, crawled; needs no network
	@exec $(BIN)/python scripts/demo.py

# --- Tests and benchmarks -------------------------------------------------------------------------------------------

.PHONY: test integration chaos test-system bench performance-docs
test: env ## build what is needed and run every test that needs no root
	$(BIN)/pytest -q -m 'not system' $(PYTEST_ARGS)

integration: env ## the end-to-end part of the tests
	$(BIN)/pytest -q tests/e2e $(PYTEST_ARGS)

CHAOS_ROUNDS ?= 200
chaos: env ## kill processes under load, CHAOS_ROUNDS (200) times; `make test` does so 20 times
	JIRD_CHAOS_ROUNDS=$(CHAOS_ROUNDS) $(BIN)/pytest -q --timeout 3600 tests/e2e/test_chaos.py $(PYTEST_ARGS)

test-system: deb ## boot a Debian tree, install the package, drive systemd (root; systemd-container, mmdebstrap)
	$(BIN)/pytest -q -m system tests/system $(PYTEST_ARGS)

bench: env ## every benchmark, or BENCH=name; writes build/bench/NAME.json
	$(BIN)/python scripts/bench/run_all.py $(BENCH)

performance-docs: env ## put the figures of build/bench/*.json into docs/performance.md
	$(BIN)/python scripts/performance_docs.py

# --- Checks ---------------------------------------------------------------------------------------------------------

.PHONY: lint format requirements
lint: env ## everything that is checked without running the code
	$(BIN)/python scripts/lint.py

format: env ## let the formatters have their way
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only .
	$(BIN)/clang-format -i $$(git ls-files 'native/*.[ch]' 'scripts/*.[ch]')

requirements: env ## assemble docs/requirements.md from docs/requirements.d
	$(BIN)/python scripts/check_requirements.py --write

.PHONY: fuzz sanitize conformance
conformance: env ## jird's own cases of URLs, robots.txt, sitemaps, HTML and charsets, and those below SUITES
	$(BIN)/python scripts/conformance_all.py tests/conformance $(SUITES)

FUZZ_SECONDS ?= 60
fuzz: env ## fuzz the C code for FUZZ_SECONDS (60) a target; needs clang
	$(BIN)/python scripts/fuzz.py --seconds $(FUZZ_SECONDS)

sanitize: env ## the tests of the C code under AddressSanitizer and UndefinedBehaviorSanitizer
	$(BIN)/python scripts/sanitize.py

# --- Installing -----------------------------------------------------------------------------------------------------

.PHONY: install deb clean
install: env ## install for the system's Python below DESTDIR and PREFIX
	$(BIN)/python scripts/install.py --destdir "$(or $(DESTDIR),/)" --prefix "$(PREFIX)"

deb: env ## build build/jird_VERSION_ARCH.deb
	$(BIN)/python scripts/make_deb.py

clean: ## remove what was built, but not ./data
	rm -rf build dist $(VENV) native/jird_native/_*.c native/jird_native/*.so proto/jird/v1/*_pb2*.py*
