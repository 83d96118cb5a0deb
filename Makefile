# Two commands matter: `make demo` and `make test`. Both need Python >= 3.11 with venv, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CONSTRAINTS := .ci/constraints.txt

.DELETE_ON_ERROR:
.PHONY: demo test media check format train bench quality docs wheel clean

demo: $(VENV)/.runtime
	$(BIN)/avatar render assets/demo/reference.png assets/demo/speech.wav -o demo.mp4 --overwrite

test: $(VENV)/.dev
	$(BIN)/python -m pytest

# Renders every file of AVATAR_TEST_MEDIA whole, checks each against its expectation, keeps the videos to be looked at.
media: $(VENV)/.dev
	AVATAR_WHOLE_MEDIA=1 AVATAR_KEEP_VIDEOS=media-videos $(BIN)/python -m pytest tests/real_media --timeout 3600

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy avatar_cli
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Needs AVATAR_TEST_MEDIA and the speech synthesisers named in docs/training.md; about an hour of one core.
train: $(VENV)/.dev
	$(BIN)/python -m avatar_cli.families.portrait.training

bench: $(VENV)/.dev
	$(BIN)/python -m avatar_cli.evaluation.benchmark

# Needs AVATAR_TEST_MEDIA: renders people never trained on and writes the tables of docs/quality.md.
quality: $(VENV)/.dev
	$(BIN)/python -m avatar_cli.evaluation.quality --write docs/quality.md

docs: $(VENV)/.dev
	$(BIN)/python -m avatar_cli.cli.reference docs/cli.md

wheel: $(VENV)/.dev
	$(BIN)/python -m pip wheel --no-deps -w dist .

clean:
	rm -rf $(VENV) build dist media-videos

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("avatar needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e .
	touch $@

$(VENV)/.dev: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '.[dev]'
	touch $@ $(VENV)/.runtime
