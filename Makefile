# Every task a person or CI runs; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help env proto native
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

$(VENV)/.installed: pyproject.toml setup.py scripts/gen_proto.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

env: $(VENV)/.installed proto native ## make the virtual environment and build what is generated

proto: $(VENV)/.installed build/.proto
build/.proto: $(wildcard proto/jird/v1/*.proto) scripts/gen_proto.py
	$(BIN)/python scripts/gen_proto.py
	@mkdir -p build && touch $@

native: $(VENV)/.installed build/.native
build/.native: $(wildcard native/qix/*.c native/qix/*.h) native/build_qix.py
	$(BIN)/python setup.py -q build_ext --inplace
	@mkdir -p build && touch $@
