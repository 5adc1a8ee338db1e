# `make demo` and `make test` do all their set-up; nothing needs to be installed by hand but Python 3.11 and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check thorough check-cpus bench lint spec mlir clean

demo: $(VENV)/.installed mlir
	@$(BIN)/python bench/digits/demo.py

# `check` is what one runs while working, in under three minutes on two cores. Types are one process of more than a minute, so that
# all goes side by side; of the FileCheck tests only those that fail are named.
check: CHOICE := -m "not slow"
test check: $(VENV)/.installed-dev mlir
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/basedpyright & types=$$!; $(BIN)/lit -q test/filecheck & texts=$$!; \
	  $(BIN)/pytest -n 2 --dist worksteal $(CHOICE); tests=$$?; \
	  wait $$types && wait $$texts && exit $$tests

# All tests; `make test` leaves out some that are like others (test/conftest.py says which).
thorough: $(VENV)/.installed-dev mlir
	XDSL_EXIR_THOROUGH=1 $(BIN)/pytest -n 2 --dist worksteal

# The tests of what depends on the processor as if on other ones, meant to take twenty minutes on two cores.
check-cpus: $(VENV)/.installed-dev mlir
	$(BIN)/python test/cpus.py -n 2

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/basedpyright

bench: $(VENV)/.installed-dev
	$(BIN)/python bench/compile_time.py
	$(BIN)/python bench/run_time.py
	$(BIN)/python bench/recurrent.py

# The operator spec and the stubs are made from PyTorch; tests check that they are up to date.
spec: $(VENV)/.installed-dev
	$(BIN)/python -m xdsl_exir.tools.spec.harvest
	$(BIN)/python -m xdsl_exir.tools.spec.probe
	$(BIN)/python -m xdsl_exir.tools.spec.memory
	$(BIN)/python -m xdsl_exir.dialects.spec.autocast
	$(BIN)/python -m xdsl_exir.dialects.stubs.generate

# MLIR's tools make native code, and check that they read what we print. Where they cannot be installed the interpreter
# runs alone, and tests that need them say so and are skipped.
MLIR_PACKAGES := mlir-22-tools libomp-22-dev
mlir:
	@{ command -v mlir-opt-22 && ls /usr/lib/llvm-22/lib/libomp.so; } > /dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && echo "installing $(MLIR_PACKAGES) (once)" \
	       && apt-get update -qq && apt-get install -y -qq $(MLIR_PACKAGES) > /dev/null; } \
	  || echo "no native code here: Debian's $(MLIR_PACKAGES) are missing and cannot be installed"

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/pip pyproject.toml
	@echo "setting up $(VENV) (once)"
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[native]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/pip pyproject.toml
	@echo "setting up $(VENV) for development, PyTorch included (once)"
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[dev,native,torch]'
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[iree]' || echo "IREE is not to be had here: its test is skipped"
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist src/*.egg-info test/filecheck/Output
