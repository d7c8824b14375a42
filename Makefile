# SPDX-License-Identifier: GPL-2.0-only
# The commands of a user; `make help` lists them. Everything lands in .venv/ and build/.

# Both may be given: make figures SCALE=smoke CORES=8
SCALE ?= laptop
CORES ?= all

VENV := .venv
IN_VENV := PATH="$$PWD/$(VENV)/bin:$$PATH"
# The folder is part of the name: a copied or moved .venv still points at its old place.
# Its checksum is, for a folder may be called "pyorch (1)" or "a & b", which make reads as its own.
PLACE := $(shell pwd | cksum | cut -d' ' -f1)
PACKAGES := $(VENV)/packages_$(PLACE)
EDITABLE := $(VENV)/editable_$(PLACE)
SPACE := $(subst ,, )
SITE_PACKAGES := $(VENV)/docs_$(PLACE)

.PHONY: help setup figures gallery papers hardware docs prose links test test-slurm battery digests drill long partitions \
        sanitize sanitize-threads trust bench release clean
.DELETE_ON_ERROR:

help:
	@echo "make setup     make .venv and build the C++ modules"
	@echo "make figures   run every scenario and draw every figure [SCALE=smoke|laptop|paper] [CORES=n]"
	@echo "make gallery   run the scenarios of docs/gallery and draw their figures again"
	@echo "make papers    run the scenarios of docs/papers and draw their figures again: eleven minutes of a core"
	@echo "make hardware  run the experiments of measured/ and write docs/hardware/measured.csv and its figure"
	@echo "make docs      build the pages of docs/ as a site, with the reference of the Python API"
	@echo "make prose     measure how readable the pages are, and look for words that no dictionary has"
	@echo "make links     follow every link of the pages, also those that lead to other sites"
	@echo "make test      run the tests of up to a minute each"
	@echo "make test-slurm  run the workflow on a Slurm of one node that this machine then is (root)"
	@echo "make battery   refuse four thousand malformed scenarios, commands and files"
	@echo "make drill     kill a workflow and a build three hundred times and go on"
	@echo "make digests   edit every file of pyorch: just the runs that have used it are outdated"
	@echo "make long      run the tests that take minutes each"
	@echo "make partitions  compare 200 random networks and scenarios in domains with the same in one"
	@echo "make sanitize  run C++ suites and oracles with every access to memory watched"
	@echo "make sanitize-threads  run the suite of domains with every access of threads watched"
	@echo "make trust     battery, digests, drill, long, partitions, both sanitizers: build/trust.md"
	@echo "make bench     measure speed and memory, ours and stock ns-3's"
	@echo "make release   write a wheel and a source distribution into dist/, and try both"
	@echo "make clean     remove .venv and build; results and figures stay"

# What needs the set-up does not say again that it is there.
setup: $(EDITABLE)
	@PYORCH_PARENT=$$PPID exec $(VENV)/bin/python -m pyorch.simulate.build $(if $(filter setup,$(MAKECMDGOALS)),--say)

# Snakemake reads everything after --config as configuration, so the target comes first.
figures: setup
	@$(IN_VENV) snakemake all --cores $(CORES) --config scale=$(SCALE)

gallery: setup
	@$(IN_VENV) python docs/gallery/draw.py gallery

papers: setup
	@$(IN_VENV) python docs/gallery/draw.py papers

hardware: setup
	@$(IN_VENV) python docs/hardware/draw.py

docs: setup $(SITE_PACKAGES)
	@$(IN_VENV) python -m sphinx --fail-on-warning --keep-going --quiet docs build/site
	@echo "build/site/index.html"

links: setup $(SITE_PACKAGES)
	@$(IN_VENV) python -m sphinx -b linkcheck --keep-going --quiet docs build/links

prose: setup
	@$(IN_VENV) python docs/prose.py

# C++ suites are no part of the set-up: they are a third of its files.
test: setup
	@$(IN_VENV) python -m pyorch.simulate.build test-runner
	@$(IN_VENV) ruff check .
	@$(IN_VENV) python -m pytest -n auto --maxprocesses 8

battery: setup
	@$(IN_VENV) PYORCH_BATTERY=all python -m pytest -n auto --maxprocesses 8 tests/battery

digests: setup
	@$(IN_VENV) PYORCH_DIGESTS=all python -m pytest -n auto --maxprocesses 8 tests/runs/test_origin.py

drill: setup
	@$(IN_VENV) python tests/drills/kill.py --count 300

long: setup
	@$(IN_VENV) python -m pytest -n auto --maxprocesses 8 -m long

partitions: setup
	@$(IN_VENV) PYORCH_DOMAINS=200 PYORCH_SCENARIOS=200 \
		python -m pytest -n auto --maxprocesses 8 \
		tests/oracles/test_domains.py tests/oracles/test_random_scenarios.py

# Debian's packages; configuration and daemons are gone afterwards. What was not there is skipped.
test-slurm: setup
	@$(VENV)/bin/pip install $(PIP_FLAGS) --no-build-isolation --editable .[slurm]
	@$(IN_VENV) PYORCH_TEST_SLURM=1 python -m pytest -v -rs tests/slurm

# A report goes to the terminal past pytest's capture, for it ends the process that captures. Python
# is not instrumented, so the sanitizer is loaded before it, and with it what throws exceptions; what
# Python has not freed at its end is no leak of ours.
sanitize: setup
	@$(IN_VENV) $(SANITIZED) python -m pyorch.simulate.build --sanitize address,undefined test-runner
	@$(IN_VENV) $(SANITIZED) $(WATCHED) python -m pyorch.simulate.describe > $(TYPEIDS)
	@$(IN_VENV) $(SANITIZED) python -m pytest -n auto --maxprocesses 8 tests/test_cpp_suites.py
	@$(IN_VENV) $(SANITIZED) $(WATCHED) \
		python -m pytest -n auto --maxprocesses 8 --capture sys tests/oracles

# The wheel is not instrumented, and holds nothing that threads share.
sanitize-threads: setup
	@$(IN_VENV) $(THREADED) python -m pyorch.simulate.build --sanitize thread test-runner
	@$(IN_VENV) $(THREADED) build/threads/bin/test-runner --suite=domains --verbose

# Targets of `make trust`, in their order; one more is one more word.
TRUST := battery digests drill long partitions sanitize sanitize-threads
trust: setup
	@$(IN_VENV) python tests/trust.py build/trust.md $(TRUST)

THREADED := PYORCH_BUILD=build/threads
SANITIZED := PYORCH_BUILD=build/sanitized
TYPEIDS := build/sanitized/typeids.json
WATCHED = ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)"

release: setup
	@$(VENV)/bin/pip install $(PIP_FLAGS) --no-build-isolation --editable .[release]
	@$(IN_VENV) python setup/release.py dist

bench: setup
	@$(IN_VENV) python benchmarks/engine.py --hosts 128 1024
	@$(IN_VENV) python benchmarks/features.py
	@$(IN_VENV) python benchmarks/start.py

clean:
	@rm -rf $(VENV) build
	@echo "Removed: .venv, build. These stay, with their sizes:"
	@du -sh results figures logs .snakemake dist "$${XDG_CACHE_HOME:-$$HOME/.cache}/pyorch" 2>/dev/null || true

$(EDITABLE): $(PACKAGES) pyproject.toml
	@PYTHONWARNINGS=ignore $(VENV)/bin/pip install $(PIP_FLAGS) --no-deps --no-build-isolation --editable .
	@$(VENV)/bin/python -m compileall -q pyorch
	@touch $@

$(PACKAGES): requirements.lock setup/packages.py
	@$(if $(MISSING),$(error $(MISSING)))
	@test ! -L $(VENV) || { echo "$(VENV) is a link, and set-up would empty what it leads to. Remove it: rm $(VENV)" >&2; exit 1; }
	@test -e $@ || $(PYTHON) -m venv --clear --without-pip $(VENV)
	@echo "Installing packages into $(VENV) (once; minutes the first time on a machine) ..."
	@$(VENV)/bin/python setup/packages.py requirements.lock
	@touch $@

$(SITE_PACKAGES): requirements.docs.lock $(PACKAGES)
	@echo "Installing what builds the site ..."
	@$(VENV)/bin/python setup/packages.py requirements.docs.lock
	@touch $@

PIP_FLAGS := --quiet --disable-pip-version-check --use-pep517

# ---- What pip cannot install: asked only when .venv has to be made, answered in one line ----

IN_RANGE := import sys; print("yes" * ((3, 11) <= sys.version_info < (3, 14)))
PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11,\
	$(if $(shell $(name) -c '$(IN_RANGE)' 2>/dev/null),$(name))))

HAS_VENV = $(shell $(PYTHON) -c 'import ensurepip, venv; print("yes")' 2>/dev/null)
HEADER = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
LACKS = $(strip \
	$(if $(PYTHON),\
		$(if $(HAS_VENV),,$(notdir $(PYTHON))-venv) \
		$(if $(wildcard $(HEADER)),,$(notdir $(PYTHON))-dev),\
		python3 python3-venv python3-dev) \
	$(if $(shell command -v g++),,g++))
WRONG_MACHINE = $(if $(filter Linux-x86_64,$(subst $(SPACE),-,$(shell uname -sm))),,\
	The ns3 package exists only for Linux on x86-64; this is $(shell uname -sm))
# What make puts behind the line, a full stop, falls into a comment of the shell.
HASH := \#
MISSING = $(or $(strip $(WRONG_MACHINE)),$(if $(LACKS),$(strip \
	This machine lacks $(LACKS)$(if $(PYTHON),, (Python 3.11 to 3.13)). \
	Run: sudo apt-get install --yes $(LACKS) $(HASH) then this again)))
