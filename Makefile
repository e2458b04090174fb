# Thin wrappers over bin/causeway; `make help` lists them.
.DEFAULT_GOAL := help
CLOCK ?= virtual
LAB ?= jubl
IO_NODES ?=
SEED ?= 1
N ?= 5
causeway := bin/causeway
python := $(causeway) python
io_nodes := $(if $(IO_NODES),--io-nodes $(IO_NODES))
service_node := causeway/render/service_node
shell_files := bin/causeway images/install-packages images/kernel/build images/containerlab/build \
	images/base/build images/base/customize images/base/mc/filter/readonly images/base/node-init images/base/adapters \
	images/ionode/build images/ionode/start images/ionode/boot images/labhost/build \
	images/labhost/labhost-init images/labhost/initrd-init .ci/run \
	$(shell find $(service_node)/usr $(service_node)/etc/init.d -type f)
start_scripts := $(shell find $(service_node)/bgl -name 'S[0-9]*' ! -name '*.j2' -o -name rc.sysinit -o -name init \
	-o -name udhcpc.script -o -name rc.status)

.PHONY: help packages lab-up lab-down lab-status lab-shell lab-graph scenarios determinism test lint unit lab-test bench docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile
	@echo 'variables: LAB=name-or-file IO_NODES=n NODE=name CLOCK=virtual|paced|real SEED=n N=n'

packages:
	@images/install-packages

lab-up: packages ## bring up the lab (LAB, IO_NODES), building what is missing
	@$(causeway) up $(LAB) $(io_nodes)

lab-down: ## end every lab and remove what it left
	@$(causeway) down

lab-status: ## nodes, links and channels of the lab that is up
	@$(causeway) status

lab-shell: ## a terminal on a node: make lab-shell NODE=nsd01
	@$(causeway) shell $(or $(NODE),nsd01)

lab-graph: ## draw the site as a Mermaid diagram
	@$(causeway) graph $(LAB) $(io_nodes)

scenarios: packages ## run every scenario (CLOCK, SEED)
	@$(causeway) run --clock $(CLOCK) --seed $(SEED) --lab $(LAB) $(io_nodes)

determinism: packages ## run every scenario N times with one seed and compare verdicts and numbers
	@mkdir -p runs; for i in $$(seq $(N)); do $(causeway) run --clock virtual --seed $(SEED) --lab $(LAB) $(io_nodes) --json \
		>runs/determinism-$$i.json || exit; done
	@$(python) -m causeway.report.agreement $$(seq -f runs/determinism-%g.json $(N))

test: packages lint unit lab-test ## everything that CI runs

lint: ## ruff, mypy --strict, shellcheck, shfmt, hadolint
	@$(python) -m ruff check .
	@$(python) -m ruff format --check .
	@$(python) -m mypy
	@$(python) -c 'import os, sys; os.execvp("shellcheck", sys.argv[1:])' shellcheck $(shell_files)
	@$(python) -c 'import os, sys; os.execvp("shellcheck", sys.argv[1:])' shellcheck -s dash $(start_scripts)
	@$(python) -c 'import os, sys; os.execvp("shfmt", sys.argv[1:])' shfmt -d $(shell_files) $(start_scripts)
	@$(python) -c 'import os, sys; os.execvp("hadolint", sys.argv[1:])' hadolint images/base/Dockerfile
	@echo "lint: clean"

unit: ## unit, golden and meta tests: no lab, seconds
	@$(python) -m pytest tests/unit tests/golden tests/meta

lab-test: packages ## tests that bring up labs
	@$(causeway) build
	@$(python) -m pytest tests/lab

bench: packages ## measure bring-up, tear-down and the eight streams; results in runs/
	@$(causeway) bench

docs: ## write the pages of docs/ from topologies, scenarios and the tool's help
	@PYTHONPATH=images/base/mc $(python) -m causeway.docs

clean: lab-down ## end the labs, remove results and what was built
	rm -rf runs rendered "$${CAUSEWAY_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/causeway}"
