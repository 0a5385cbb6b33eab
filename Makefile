# Two commands do everything: `make run` starts the bot, `make test` proves it. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help setup run chat test check soak bench bench-quality lock clean
.DEFAULT_GOAL := help

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(STAMP): pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

setup: $(STAMP) ## make .venv with the locked versions

run: setup ## start the bot: on Telegram with TELEGRAM_BOT_TOKEN, else a messenger in the browser
	@$(BIN)/python -m bot start

chat: setup ## talk to the bot in this terminal, without a token
	@$(BIN)/python -m bot chat

test: setup ## run all tests (under 10 minutes on 2 cores)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not soak"

check: setup ## lint, types and the directions of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: setup ## long runs: random kills, fault sweeps
	$(BIN)/python -m pytest -m soak --timeout 3600

bench: setup ## measure speed; each benchmark prints JSON
	for b in benchmarks/*.py; do $(BIN)/python $$b || exit 1; done

bench-quality: setup ## measure memory quality; each benchmark prints JSON
	$(BIN)/python -m benchmarks.quality

lock: ## pin versions anew, with hashes (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--group dev pyproject.toml -o requirements.lock

clean: ## remove what set-up made; data stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
