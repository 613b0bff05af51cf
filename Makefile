# Everything runs inside .venv, which each target sets up by itself when it is missing or out of date.
# Needs make, a POSIX shell, and Python 3.11 or newer.
#
#   PYTHON=python3.12 make setup     choose the interpreter
#   VENV=/some/where make test       choose where the virtual environment lives
#   PYTEST_ARGS="-k lookup" make test

VENV ?= .venv
PYTHON ?=
PYTEST_ARGS ?=
PIP_ARGS ?= --quiet

BIN = $(VENV)/bin
STAMP = $(VENV)/.groundwire-installed
KAFKA_LIBS = docker/kafka/libs
KAFKA_STAMP = $(KAFKA_LIBS)/.complete

# A virtual environment is stale when these change, when its interpreter is gone or too old, or when the checkout
# has moved (its scripts hold absolute paths).
STALE_WHEN = pyproject.toml constraints.txt Makefile
VENV_IS_SOUND = import sys, pathlib, groundwire.schemas as s; \
	sys.exit(sys.version_info < (3, 11) or pathlib.Path(s.__path__[0]).resolve() != pathlib.Path('schemas').resolve())
ifneq ($(wildcard $(STAMP)),)
ifneq ($(shell $(BIN)/python -c "$(VENV_IS_SOUND)" >/dev/null 2>&1 && echo sound),sound)
REBUILD = rebuild
endif
endif

# Benches that ask for something special are run by name: those for minutes and a real Kafka, bench/stream.py for queries.
BY_NAME = bench/soak.py bench/backlog.py bench/hanging_vendor.py bench/stream.py
BENCHES = $(filter-out $(BY_NAME),$(sort $(wildcard bench/*.py)))

.PHONY: help setup demo test check bench clean test-kafka test-kafka-long rebuild
.DEFAULT_GOAL := help

help:
	@echo "make setup            the virtual environment, with everything pinned"
	@echo "make demo             see what Groundwire does, with local stand-ins for the vendors; no key, ends by itself"
	@echo "make test             the tests: no key, no Java, no network beyond package installs"
	@echo "make check            formatting, lint, types (mypy --strict), import rules"
	@echo "make bench            each figure beside its baseline"
	@echo "make test-kafka       the delivery promises on a real Apache Kafka (needs a JDK 17 or newer, and Maven)"
	@echo "make test-kafka-long  the same with the long kill matrix"
	@echo "make clean            remove what make made; your .groundwire/ stays"

setup: $(STAMP)
	@echo "Ready. Try: make demo, or $(BIN)/groundwire --help"

$(STAMP): $(STALE_WHEN) $(REBUILD)
	@set -e; \
	found=""; \
	for candidate in $(PYTHON) $(if $(PYTHON),,python3 python3.13 python3.12 python3.11 python3.14 python); do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    found="$$candidate"; break; \
	  fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "Groundwire needs Python 3.11 or newer, and $(if $(PYTHON),PYTHON=$(PYTHON) is not one,none is on PATH)." >&2; \
	  echo "Install one, or name it: PYTHON=/path/to/python3.12 make $(MAKECMDGOALS)" >&2; \
	  exit 2; \
	fi; \
	if ! "$$found" -c 'import ensurepip, venv' >/dev/null 2>&1; then \
	  echo "$$found lacks the modules for virtual environments (ensurepip, venv)." >&2; \
	  echo "On Debian and Ubuntu: apt install $$("$$found" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')" >&2; \
	  exit 2; \
	fi; \
	if [ -e "$(VENV)" ] && [ ! -f "$(VENV)/pyvenv.cfg" ]; then \
	  echo "$(VENV) is there and is not a virtual environment; it was left alone. Name another: make VENV=…" >&2; \
	  exit 2; \
	fi; \
	echo "Setting up $(VENV) with $$("$$found" -V 2>&1): about 400 MB of packages the first time, a few minutes."; \
	rm -f "$(STAMP)"; \
	"$$found" -m venv $(if $(REBUILD),--clear) "$(VENV)"; \
	PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
	  "$(BIN)/python" -m pip install $(PIP_ARGS) -c constraints.txt -e '.[dev,sdks]'; \
	touch "$(STAMP)"

rebuild:

demo: $(STAMP)
	@$(BIN)/groundwire demo

test: $(STAMP)
	@$(BIN)/pytest $(PYTEST_ARGS)

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	@set -e; for bench in $(BENCHES); do echo "== $$bench"; $(BIN)/python "$$bench"; done

# Apache Kafka's own jars, about 54 MB, from the repository Maven is set up to use.
$(KAFKA_STAMP): docker/kafka/pom.xml
	@command -v java >/dev/null 2>&1 || { echo "The real Kafka needs a Java 17 or newer on PATH (Debian: apt install default-jdk-headless)." >&2; exit 2; }
	@command -v mvn >/dev/null 2>&1 || { echo "Bringing Kafka's jars needs Maven on PATH (Debian: apt install maven)." >&2; exit 2; }
	@rm -rf "$(KAFKA_LIBS)"
	mvn -q -B -f docker/kafka/pom.xml dependency:copy-dependencies -DincludeScope=runtime
	@touch "$(KAFKA_STAMP)"

test-kafka: $(STAMP) $(KAFKA_STAMP)
	@TEST_KAFKA=required $(BIN)/pytest tests/kafka -m "not long" $(PYTEST_ARGS)

test-kafka-long: $(STAMP) $(KAFKA_STAMP)
	@TEST_KAFKA=required $(BIN)/pytest tests/kafka $(PYTEST_ARGS)

clean:
	if [ -f "$(STAMP)" ]; then rm -rf "$(VENV)"; fi
	rm -rf build dist groundwire.egg-info "$(KAFKA_LIBS)" docker/kafka/target
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
