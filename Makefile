# What a person can do here. `make` alone prints the list. Needs Python 3.11 to 3.13, a JDK 17 and the package registries.

PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11,$(if $(shell $(name) -c \
  'import sys; print(sys.version_info[:2] in [(3, 11), (3, 12), (3, 13)] or "")' 2>/dev/null),$(name))))
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
BIN := .venv/bin
STAMP := .venv/installed
PIP := $(BIN)/python -m pip install --disable-pip-version-check
# Pins for all supported versions of Python and all platforms; `server` has what a server without Spark needs.
COMPILE := .pins/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header
SERVER_EXTRAS := kafka postgres auth encryption
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2
SEED ?= 20260321
PARTS := simulation examples data facades servers jvm spark mutants
PART ?= $(PARTS)
SOAK_SEEDS ?= 4000
FIRST_SEED ?= 230
MUTANTS = $(BIN)/python -m tests.mutants --workers $(WORKERS)
MUTANTS_SEED ?= $(SEED)
COUNT ?= 60
BROWSERS ?= chromium chromium-browser google-chrome
SHUFFLED = -p randomly --randomly-seed=$(SEED)
# A worker gets a test or two at a time: the long ones come first. `loadgroup` would count all tests that a worker has had after each one.
IN_TURN = --dist load --maxschedchunk 2
PARALLEL = -n $(WORKERS) $(IN_TURN)
# Tests wait for servers and for Spark: one worker more keeps the cores busy. Those with a JVM wait half of their time, so they run
# beside the others, where each of their workers has the 3 GB that it may take; each has a Spark and a broker of its own, which cost
# a minute and a half of CPU before they are warm, so they are as many as cores. With as many workers for the others as cores, a
# fifth of the cores was idle. Jars that few tests need are fetched while the others run.
MORE = -n $$(($(WORKERS) + 1)) $(IN_TURN)
FITTING := $(shell awk '/^MemTotal/ {print int($$2 / 4000000)}' /proc/meminfo 2>/dev/null || echo 0)
TOGETHER ?= $(shell [ $$(($(FITTING) + 0)) -gt $(WORKERS) ] && [ "$$(nproc 2>/dev/null || echo 1)" -gt 1 ] && echo yes)
JVM_WORKERS ?= $(WORKERS)
# Where tests with a JVM are: collecting all others in each process takes as long as many of them.
JVM_TESTS = plugins/*/tests/test_spark.py tests/behaviours/logs tests/conformance/test_avro_data.py tests/conformance/test_avro_java.py tests/conformance/test_avro_values.py tests/docs/test_connect_programs.py tests/docs/test_files_page.py tests/docs/test_kafka.py tests/docs/test_query_pages.py tests/docs/test_spark_programs.py tests/facades/iglu/test_scala_client.py tests/facades/schemarepo/test_java_clients.py tests/real
# Laws get fewer examples in each run, and all of them in the soak; tests of many parameters run some (tests/shares.py).
SHARE = --hypothesis-profile=share
# A test that hangs is a failure with a stack, also where its own process can't be interrupted; ten failures end the run, and
# so does a worker that ends: another in its place may wait for a second test for ever.
ENDING = --maxfail=10 --max-worker-restart=0 -o faulthandler_timeout=2000 -o faulthandler_exit_on_timeout=true
IN_ORDER = -n $(JVM_WORKERS) --dist loadgroup --no-loadscope-reorder

# Servers and commands that tests start by the hundred load what was compiled once, whatever this shell says about it.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install browser jars demo quick test check bench soak mutants serve reference pictures oracle pins

help: ## Print this list
	@sed -n -e 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' -e 's/^#: /	  /p' $(MAKEFILE_LIST) | expand -t 18

install: $(STAMP) ## Make .venv with all extras, exactly as pinned in requirements/

$(STAMP): requirements/build.txt requirements/development.txt pyproject.toml
	@if [ -z "$(PYTHON)" ]; then echo "Treaty needs Python 3.11, 3.12 or 3.13; none was found. Name one: make PYTHON=..." >&2; exit 1; fi
	@echo "== Treaty: making .venv with $$($(PYTHON) --version)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "== Treaty: downloading pinned packages; Spark alone is about 430 MB, so the first time takes a minute or more"
	@$(PIP) --quiet --require-hashes -r requirements/build.txt
	@$(PIP) --progress-bar on --no-build-isolation --require-hashes -r requirements/development.txt \
	  | { grep -v 'already satisfied' || true; }
	@echo "== Treaty: installing this checkout"
	@$(BIN)/python -m pip uninstall --quiet --yes treaty 2>/dev/null # the distribution of that name has the same import name
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@$(BIN)/python -m pip check
	@java -version 2>&1 | grep 'version "17' >/dev/null || echo "== Treaty: note: no JDK 17 on the PATH; the server works, Spark and the demo will not"
	@touch $@
	@echo "== Treaty: ready. Next: make demo, or make serve"

browser: ## Install a Chromium for the tests of pages where none is there: by apt-get, as root or by sudo
	@for name in $(BROWSERS); do if command -v $$name >/dev/null; then exit 0; fi; done; \
	echo "== Treaty: installing Debian's chromium for the tests of pages"; \
	as=; [ "$$(id -u)" = 0 ] || as=sudo; \
	{ $$as apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$as apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	  || echo "== Treaty: note: no Chromium could be installed; tests of pages in a browser will fail, and say so" >&2

jars: $(STAMP) ## Fetch the jars of Spark and Kafka now, not in the first test that needs them
	$(BIN)/python -m tests.servers.jars

demo: $(STAMP) ## Send 336,776 real flights through registry, Spark and back; ends with a report
	$(BIN)/python -m examples.demo

quick: $(STAMP) ## Tests that are quick and need no JVM, in two minutes
	$(PYTEST) --ignore=tests/house -m "not jvm and not slow and not soak" $(SHUFFLED) $(MORE) --hypothesis-profile=quick --cases --budget=quick

test: $(STAMP) browser ## All tests but the soak and those of `make check`, in 20 to 25 minutes on two cores
	@failed=""; \
	without() { $$1 $(PYTEST) --ignore=tests/house -m "not jvm and not soak" $(SHUFFLED) $(MORE) $(SHARE) $(ENDING) --durations=25 --budget=test; }; \
	with() { $(BIN)/python -m tests.servers.jars most || return 1; $(BIN)/python -m tests.servers.jars & fetching=$$!; \
	  $(BIN)/python -m tests.servers.archive || true; \
	  $(PYTEST) $(JVM_TESTS) -m "jvm and not soak" $(SHUFFLED) $(IN_ORDER) $(SHARE) $(ENDING) --durations=25 --budget=jvm && code=0 || code=$$?; \
	  wait $$fetching || true; return $$code; }; \
	if [ "$(TOGETHER)" ]; then \
	  echo "== tests with a JVM run beside those without one: their lines begin with 'jvm | '"; \
	  set -m; { with 2>&1 | (trap '' INT; exec sed -u 's/^/jvm | /'); } </dev/null & jvm=$$!; without "nice -n 2" </dev/null & other=$$!; \
	  trap 'kill -INT -- -$$other -$$jvm 2>/dev/null; wait; exit 130' INT TERM HUP; \
	  wait $$other || failed="without a JVM"; \
	  wait $$jvm || failed="$$failed with a JVM"; \
	else \
	  without "" || failed="without a JVM"; \
	  with || failed="$$failed with a JVM"; \
	fi; \
	if [ -n "$$failed" ]; then echo "== tests failed: $$failed" >&2; exit 1; fi

check: $(STAMP) ## Format, lint, types, architecture and house rules
	@failed=""; \
	step() { echo "== $$*"; $(BIN)/"$$@" || failed="$$failed $$1"; }; \
	step ruff format --check --quiet .; \
	step ruff check .; \
	step mypy; \
	step lint-imports; \
	step python -m pytest -q -p no:randomly --budget=check tests/house; \
	if [ -n "$$failed" ]; then echo "== not clean:$$failed" >&2; exit 1; fi; echo "== all clean"

bench: $(STAMP) ## Measure, print a table and write benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

soak: $(STAMP) browser ## The long runs, several hours on two cores; PART="simulation jvm" runs some of these:
#: simulation 120 min with SOAK_SEEDS=2000: simulated lives on each log; FIRST_SEED=50000 says which
#: examples     4 min: laws with 500 examples each, others in every run
#: data        35 min: schemas and data against protoc, fastavro and meta-schemas by the ten thousand
#: facades      5 min: 300 requests of each kind to each route
#: servers     20 min: 200 kills of servers on SQLite and on PostgreSQL
#: jvm         95 min: 200 kills on Kafka, 50 of Spark's drivers, a cluster, 50,000 rows
#: spark       20 min: the tests of Spark once more, with Spark's own settings: code is generated, plans adapt
#: mutants     60 min: the share of small mistakes that the tests find; below tests/mutants/rate.toml it fails
	@$(BIN)/python -m tests.servers.jars && $(BIN)/python -m tests.servers.archive || true; \
	failed=""; \
	for part in $(PART); do more=""; \
	  case $$part in \
	    simulation) where="tests/simulation tests/planted"; what="soak and not jvm" ;; \
	    examples) where=tests; what="hypothesis and not jvm and (rest or not soak)"; more=--hypothesis-profile=long ;; \
	    data) where="tests/laws tests/conformance tests/behaviours"; what="soak and not jvm" ;; \
	    facades) where="tests/facades tests/pages tests/docs"; what="soak and not jvm" ;; \
	    servers) where=tests/real; what="soak and not jvm" ;; \
	    jvm) where="$(JVM_TESTS)"; what="soak and jvm" ;; \
	    spark) where="tests/real tests/docs"; what="jvm and (rest or not soak)"; export SPARK_SETTINGS=own ;; \
	    mutants) echo "== soak: mutants"; \
	      $(MUTANTS) --seed $(MUTANTS_SEED) --count 200 --minutes 90 --gate || failed="$$failed mutants"; continue ;; \
	    *) echo "no part $$part: there are $(PARTS)" >&2; exit 2 ;; \
	  esac; \
	  echo "== soak: $$part"; \
	  $(PYTEST) $$where -m "$$what" $(SHUFFLED) $(PARALLEL) --timeout=3600 --durations=10 --budget=soak-$$part \
	    --seeds=$(SOAK_SEEDS) --first-seed=$(FIRST_SEED) $$more || failed="$$failed $$part"; \
	done; \
	if [ -n "$$failed" ]; then echo "== soak failed:$$failed" >&2; exit 1; fi

mutants: $(STAMP) ## Measure which small mistakes the tests find: COUNT=300 MUTANTS_SEED=7 ROOMS=core,node
	@$(MUTANTS) --seed $(MUTANTS_SEED) --count $(COUNT) $(if $(ROOMS),--rooms $(ROOMS))

serve: $(STAMP) ## Run a registry on this machine
	$(BIN)/treaty serve

reference: $(STAMP) ## Make docs/reference from the code
	@$(BIN)/python docs/reference/make.py

pictures: $(STAMP) browser ## Take the pictures of the pages and the terminal anew; needs a Chromium
	@PYTHONPATH=. $(BIN)/python docs/pictures/make.py
	@$(BIN)/python docs/pictures/terminal.py

oracle: $(STAMP) ## Ask the reference libraries anew and keep their answers as data; needs a JDK 17
	@$(BIN)/python -m tests.oracle.avro_answers
	@$(BIN)/python -m tests.oracle.avro_sameness
	@$(BIN)/python -m tests.oracle.avro_values
	@$(BIN)/python -m tests.oracle.protobuf_descriptors

pins: ## Take the newest versions the ranges allow into requirements/, with the hashes of all their files
	@rm -rf .pins && $(PYTHON) -m venv .pins && .pins/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(COMPILE) --all-extras pyproject.toml requirements/build.in -o .pins/development.txt
	@$(COMPILE) $(foreach extra,$(SERVER_EXTRAS),--extra $(extra)) -c .pins/development.txt pyproject.toml -o .pins/server.txt
	@$(COMPILE) -c .pins/development.txt requirements/build.in -o .pins/build.txt
	@for file in build server development; do \
	  { head -2 requirements/$$file.txt; cat .pins/$$file.txt; } > .pins/new && mv .pins/new requirements/$$file.txt; \
	done; rm -rf .pins
