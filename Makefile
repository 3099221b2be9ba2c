# onechat. `make` prints the help. Every target sets up what it needs first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled once, not in each of the many processes that tests start.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest
UV := $(BIN)/uv
# One process more than there are processors, since tests wait for children; not many more, for each collects them all.
WORKERS := $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$(( n < 7 ? n + 1 : 8 )))
MEMBERS := protos runtime services/agent services/memory services/whatsapp services/telegram services/scheduler cli demo
PROTOS := $(shell find protos -name '*.proto' -o -name hatch_build.py) protos/pyproject.toml
ENGINE ?=

.PHONY: help setup run test test-soak test-deploy lint bench lock compose-env clean
.DEFAULT_GOAL := help

help: ## print this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: setup ## set everything up, start the five services here, open the chat
	@$(BIN)/onechat chat --up

test: setup ## set everything up and pass the tests: six minutes on two processors, fewer on more
	@$(PYTEST) -n $(WORKERS) --dist worksteal -m "not soak and not deploy" -q

test-soak: setup ## the long kill and fuzz runs
	@$(PYTEST) -n $(WORKERS) --dist worksteal -m soak -q --timeout 1500

test-deploy: setup ## build and start the real compose.yaml on a container engine
	@PYTEST_DEBUG_TEMPROOT=$${TMPDIR:-/tmp} $(PYTEST) -m deploy -q --timeout 1500

lint: setup ## style, types and layering
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --cache-dir .mypy_cache $(addsuffix /src,$(filter-out protos,$(MEMBERS)))

bench: setup ## measure, each beside a baseline of the same run
	@$(BIN)/python -m bench

setup: $(VENV)/.members ## what run and test do first: a virtual environment, locked by hash
	@:

compose-env: ## write .env for docker compose: your uid, gid and time zone
	@sh deploy/compose-env

lock: setup ## renew requirements/ from the pyprojects (uv.lock itself is not kept: it holds addresses)
	@PATH="$(abspath $(BIN)):$$PATH" sh requirements/lock

clean: ## remove what setup made; never your data
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache

$(VENV)/.locked: requirements/dev.txt requirements/uv.txt
	@command -v $(PYTHON) >/dev/null || { echo "onechat needs Python 3.11 or newer: install it, or name it with PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "onechat needs Python 3.11 or newer; $(PYTHON) is older: name another with PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }
	@echo "Setting up: Python packages, locked by hash (once; a minute or so)" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@VIRTUAL_ENV="$(abspath $(VENV))" $(UV) pip sync --quiet --require-hashes requirements/dev.txt
	@touch $@

# The stubs are a wheel built from the .proto files, so an edit of one rebuilds them here.
$(VENV)/.members: $(VENV)/.locked $(PROTOS) $(addsuffix /pyproject.toml,$(MEMBERS))
	@VIRTUAL_ENV="$(abspath $(VENV))" PATH="$(abspath $(BIN)):$$PATH" $(UV) pip install --quiet --no-deps --no-build-isolation \
		--reinstall-package onechat-protos ./protos $(foreach member,$(filter-out protos,$(MEMBERS)),-e ./$(member))
	@touch $@
