# Two commands do everything: `make run` starts the bot, `make test` proves it. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
TOOLS := $(VENV)/.installed
VOICE := $(VENV)/.voice
SITE := .venv-docs/.installed

LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header

# One more than there are cores: a test also waits, and each worker costs ten seconds of a processor.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

.PHONY: help install setup run chat test check sweep soak test-postgres test-voice bench bench-quality bench-peers trial docs image fuzz-api pictures lock clean
.DEFAULT_GOAL := help

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(RUNTIME): pyproject.toml requirements.lock .ci/install.py
	@$(PYTHON) .ci/install.py $(VENV) requirements.lock --project
	@touch $@

$(TOOLS): $(RUNTIME) requirements-dev.lock
	@$(PYTHON) .ci/install.py $(VENV) requirements-dev.lock
	@touch $@

$(VOICE): $(TOOLS) requirements-voice.lock
	@$(PYTHON) .ci/install.py $(VENV) requirements-voice.lock
	@touch $@

$(SITE): requirements-docs.lock .ci/install.py
	@$(PYTHON) .ci/install.py .venv-docs requirements-docs.lock
	@touch $@

install: $(RUNTIME) ## make .venv with what running needs

setup: $(TOOLS) ## the same with the tools of make test and make check

run: $(RUNTIME) ## start the bot: on Telegram with TELEGRAM_BOT_TOKEN, else a messenger in the browser
	@$(BIN)/continuity-bot start

chat: $(RUNTIME) ## talk to the bot in this terminal, without a token
	@$(BIN)/continuity-bot chat

test: setup ## run the tests (3 minutes on 2 cores)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not soak and not sweep"

sweep: setup ## run those that take longer: kills at every point, storms, several workers, hostile callers, browsers
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "sweep and not soak"

check: setup ## lint, types, the directions of imports, and every link of the documents
	$(BIN)/python .ci/links.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: setup ## long runs: random kills, fault sweeps
	$(BIN)/python -m pytest -m soak --timeout 3600
	$(BIN)/python -m pytest tests/property --hypothesis-profile soak --timeout 3600

test-postgres: setup ## run on PostgreSQL (one that listens here, or one that is started): its contracts, several workers, all acceptance tests
	CONTINUITY_REQUIRE_POSTGRES=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m "postgres and not soak"
	CONTINUITY_REQUIRE_POSTGRES=1 $(BIN)/python -m pytest -n 2 --dist worksteal --database postgres -m "not soak and not postgres" tests/acceptance

test-voice: $(VOICE) ## the extra voice with models made for the tests (fetches 145 MB of wheels, no weights)
	CONTINUITY_REQUIRE_VOICE=1 $(BIN)/python -m pytest -m voice tests/parts tests/acceptance

BENCHMARKS := answer startup lag turns search context bootstrap reading workers documents

bench: setup ## measure speed, beside a stock bot where there is one; prints JSON, draws docs/pictures/speed-*.svg
	for b in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$b || exit 1; done

bench-peers: setup ## kill this bot and others under the same traffic; downloads them into .peers (an hour)
	$(BIN)/python -m benchmarks.peers --install

bench-quality: setup ## measure memory quality; each benchmark prints JSON
	$(BIN)/python -m benchmarks.quality

trial: setup ## try it with a strong model by hand: one plays the person, another answers as the model (docs/how-to/try-with-a-model.md)
	$(BIN)/python -m benchmarks.trial serve .trial

docs: $(SITE) ## build the documents as a site, into site/
	NO_MKDOCS_2_WARNING=1 $(SITE:.installed=bin/mkdocs) build --strict --quiet && echo "site/index.html is ready."

image: ## build the container image continuity-bot (needs docker or podman)
	@engine=$$(command -v docker || command -v podman) || { echo "No docker or podman here."; exit 1; }; \
	"$$engine" build -f deploy/Dockerfile -t continuity-bot .

fuzz-api: setup ## throw anything at the HTTP API, for a minute (schemathesis, in an environment of its own)
	@$(PYTHON) .ci/install.py .venv-api requirements-api.lock
	$(BIN)/python tests/api_fuzz.py

pictures: setup ## take the pictures of the docs again (needs tmux and chromium); look at them
	$(BIN)/python tests/docs/record_kill.py
	$(BIN)/python tests/pictures.py

lock: ## choose the newest versions that fit and pin them with hashes (needs uv)
	$(LOCK) --group build pyproject.toml -o requirements.lock
	$(LOCK) --extra postgres -c requirements.lock pyproject.toml -o requirements-postgres.lock
	$(LOCK) --group build --group dev -c requirements.lock pyproject.toml -o requirements-dev.lock
	$(LOCK) --extra voice -c requirements.lock -c requirements-dev.lock pyproject.toml -o requirements-voice.lock
	$(LOCK) --group docs -c requirements.lock -o requirements-docs.lock
	$(LOCK) --group api -o requirements-api.lock

clean: ## remove what set-up made; data stays
	rm -rf $(VENV) .venv-docs .venv-api site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
