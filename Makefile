# Thin wrappers over bin/causeway; `make help` lists them.
.DEFAULT_GOAL := help
CLOCK ?= virtual
LAB ?=
COUNT ?=
SEED ?= 1
N ?= 5
JOBS ?= 2
SCENARIOS ?=
causeway := bin/causeway
python := $(causeway) python
lab := $(if $(LAB),--lab $(LAB))
count := $(if $(COUNT),--count $(COUNT))
# every shell program there is, by its first line; start scripts are sourced by the nodes' own shell
shell_files := $(shell git grep -lE '^\#!(/bin/(ba)?sh|/bin/busybox sh)' -- . ':!*.py' ':!*.j2' ':!*.md' ':!nodes/bluegene/server/bgl' ':!nodes/onesis/server/var' ':!nodes/netboot/root' ':!tests') $(shell git ls-files '*.sh')
start_scripts := $(shell find nodes/bluegene/server/bgl nodes/onesis/server/var nodes/netboot/root -name 'S[0-9]*' ! -name '*.j2' -o -name rc.sysinit -o -name init \
	-o -name udhcpc.script -o -name rc.status)

.PHONY: help packages lab-up lab-down lab-status lab-shell lab-graph scenarios determinism test lint unit lab-test nightly bench costs update docs keep pictures clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile
	@echo 'variables: LAB=name-or-file COUNT=[pool=]n NODE=name CLOCK=virtual|paced|real SEED=n N=n JOBS=n SCENARIOS=names'

packages:
	@images/install-packages

lab-up: packages ## bring up the lab (LAB, COUNT), building what is missing
	@$(causeway) up $(LAB) $(count)

lab-down: ## end every lab and remove what it left
	@$(causeway) down

lab-status: ## nodes, links and channels of the lab that is up
	@$(causeway) status

lab-shell: ## a terminal on a node: make lab-shell NODE=name
	@$(causeway) shell $(NODE)

lab-graph: ## draw the site as a Mermaid diagram
	@$(causeway) graph $(LAB) $(count)

scenarios: packages ## run every scenario (CLOCK, SEED)
	@$(causeway) run --clock $(CLOCK) --seed $(SEED) $(lab) $(count)

determinism: packages ## run scenarios (SCENARIOS, default all) N times with one seed, JOBS at once, and compare verdicts and numbers
	@mkdir -p runs; for i in $$(seq $(N)); do $(causeway) run --clock virtual --seed $(SEED) $(lab) $(count) --jobs $(JOBS) \
		--json $(SCENARIOS) >runs/determinism-$$i.json || exit; done
	@$(python) -m causeway.report.agreement $$(seq -f runs/determinism-%g.json $(N))

test: packages lint unit lab-test ## everything that CI runs

lint: ## ruff, mypy --strict, shellcheck, shfmt, hadolint
	@$(python) -m ruff check .
	@$(python) -m ruff format --check .
	@$(python) -m mypy
	@$(python) -m mypy --explicit-package-bases labs
	@$(python) -c 'import os, sys; os.execvp("shellcheck", sys.argv[1:])' shellcheck $(shell_files)
	@$(python) -c 'import os, sys; os.execvp("shellcheck", sys.argv[1:])' shellcheck -s dash $(start_scripts)
	@$(python) -c 'import os, sys; os.execvp("shfmt", sys.argv[1:])' shfmt -d $(shell_files) $(start_scripts)
	@$(python) -c 'import os, sys; os.execvp("hadolint", sys.argv[1:])' hadolint images/base/Dockerfile
	@echo "lint: clean"

unit: ## unit, golden and meta tests on all CPUs: no lab, minutes
	@$(python) -m pytest -n auto --dist worksteal tests/unit tests/golden tests/meta

lab-test: packages ## tests that bring up labs, two side by side: one uses one CPU
	@$(causeway) build
	@mkdir -p runs; $(python) -m pytest tests/lab -m plays_all --durations=5 >runs/lab-test.log 2>&1 & \
	$(python) -m pytest tests/lab tests/kernel -m 'not plays_all and not night' --durations=15; rest=$$?; \
	wait $$! && all=0 || all=$$?; cat runs/lab-test.log; exit $$((rest | all))

nightly: packages ## all that takes a night: other seeds, names, numbers, 20 drawn sites and changes; lessons; kills; native; a browser
	@$(causeway) build
	@failed=0; for what in "pytest tests/browser tests/offline" "pytest tests/lab -m night" tests.kills tests.native \
		tests.lessons tests.pages "tests.sites.rehearsed nightly" "tests.sites.worked nightly" "tests.sites.played nightly"; do \
		$(python) -m $$what || failed=1; done; exit $$failed

bench: packages ## measure bring-up, tear-down and eight streams (LAB, COUNT=[pool=]n,n...); results in runs/
	@$(causeway) bench $(LAB) $(count)

costs: packages ## measure what people wait for, for docs/costs.md: half an hour in which the machine does nothing else
	@$(python) -m causeway.docs.costs

update: packages ## move images/pins on to what its sources have today, and say what changed
	@$(python) -m causeway.hosts.updating

docs: ## write the pages of docs/ from topologies, scenarios and the tool's help
	@PYTHONPATH=nodes/mc $(python) -m causeway.docs.pages

keep: ## take what the pages show of runs (the eight streams) anew from runs/latest
	@$(python) -m causeway.docs.keep runs/latest

pictures: ## take the pictures of docs/pictures anew, of the lab that is up and of runs/latest
	@$(python) -m causeway.docs.pictures runs/latest

clean: lab-down ## end the labs, remove results and what was built
	rm -rf runs rendered "$${CAUSEWAY_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/causeway}"
