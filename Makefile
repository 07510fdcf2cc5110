# What needs .venv makes or refreshes it first; that costs nothing while lock and pyproject.toml are unchanged.
# GNU make 3.81 and a POSIX shell are enough (both come with macOS).

VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' library/relevance_bayes/__init__.py)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CLIENTS := .venv-clients
CLIENT_STAMPS := $(patsubst %,$(CLIENTS)/%/.installed,generators kserve mlserver triton)
PEER_SERVERS := .venv-peers
TABLES := .venv-tables
AUDIT := .venv-audit
BROWSER := .venv-browser
# Expanded by the shell: at the first run the environment is not there yet when make reads this.
WITH_BROWSER := PYTHONPATH="$$(echo $(BROWSER)/lib/python*/site-packages)"
NODE := tests/browser/node_modules
PEER_STAMPS := $(patsubst %,$(PEER_SERVERS)/%/.installed,bentoml kserve mlserver)

export UV_SYSTEM_CERTS := true
export UV_PYTHON_DOWNLOADS := never

UV_PIP := $(BIN)/uv pip
COMPILE := $(UV_PIP) compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-package relevance-bayes

.DEFAULT_GOAL := help
.PHONY: help install clients peers tables browser page-types client-types pictures demo run test check thorough long faults hostile monitoring upgrades mutation chaos image image-twice sbom audit deployment wheels release format bench bench-accuracy docs lock protocol secrets clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

install: $(STAMP) ## create or update .venv from the hashed lock file

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Relevance needs Python 3.11 or later, and '$(PYTHON)' is not that: install one, or name it, as in 'make install PYTHON=python3.13'." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: uv

# Compiled now, and not by each process anew where an environment (PYTHONDONTWRITEBYTECODE) forbids it to keep that.
$(STAMP): requirements.lock pyproject.toml library/pyproject.toml library/relevance_bayes/__init__.py | $(BIN)/uv
	$(UV_PIP) sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes --only-binary :all: requirements.lock
	$(UV_PIP) install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable library --editable .
	@touch $(STAMP)

clients: $(CLIENT_STAMPS) ## environments of third-party clients, one for each

peers: $(PEER_STAMPS) ## environments of third-party servers, for the `serving` benchmarks

define environment
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(@D)
	$(UV_PIP) sync --quiet --python $(@D)/bin/python --require-hashes --only-binary :all: $<
	@touch $@
endef

$(CLIENTS)/%/.installed: tests/foreign/requirements-%.lock | $(BIN)/uv
	$(environment)

$(PEER_SERVERS)/%/.installed: benchmarks/serving/peers/requirements-%.lock | $(BIN)/uv
	$(environment)

$(AUDIT)/.installed: deploy/image/requirements-audit.lock | $(BIN)/uv
	$(environment)

$(BROWSER)/.installed: tests/browser/requirements-browser.lock | $(BIN)/uv
	$(environment)

$(NODE)/.package-lock.json: tests/browser/package-lock.json
	cd tests/browser && npm ci --silent --no-audit --no-fund
	@touch $@

$(TABLES)/.installed: benchmarks/tables/requirements-tables.lock | $(BIN)/uv
	$(environment)

tables: install $(TABLES)/.installed ## public tables and the packages that contain them, for the `open-tables` benchmarks
	PYTHONPATH=library $(TABLES)/bin/python -m benchmarks.tables.writing
	PYTHONPATH=library $(TABLES)/bin/python -m benchmarks.daily.writing

demo: install ## train example models on a running service and draw pictures
	$(BIN)/python -m examples.demo

run: install ## the API and a worker in one process, on 127.0.0.1:8000
	$(BIN)/relevance serve

# One thread a process: tests run side by side, and threads of linear algebra wait for each other by spinning.
test check thorough long: export OMP_NUM_THREADS = 1
test check thorough long: export OPENBLAS_NUM_THREADS = 1
# Tests start some hundred processes: each would compile the service anew where the environment forbids to keep that.
test check thorough long faults hostile monitoring upgrades: export PYTHONDONTWRITEBYTECODE =

# By files: what a file's tests share is made once, and not by each process that has some of them.
test: install ## tests, on SQLite and PostgreSQL
	$(BIN)/pytest -n auto --dist loadfile

check: install page-types client-types ## format, lint, types, import contracts and tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	RELEVANCE_REQUIRE_POSTGRES=1 $(BIN)/pytest -n auto --dist loadfile

page-types: $(NODE)/.package-lock.json ## types of the modules of the page; needs npm
	$(NODE)/.bin/tsc --project tests/browser

client-types: install $(NODE)/.package-lock.json ## types of programs that use the client, by pyright; needs npm
	$(NODE)/.bin/pyright

# Playwright comes from an environment of its own; its driver runs on the Node that it brings along.
browser: install $(BROWSER)/.installed $(NODE)/.package-lock.json ## the page in Chromium; needs chromium (Debian package) and npm
	$(WITH_BROWSER) $(BIN)/pytest -n 2 --dist loadfile -m browser tests/browser

pictures: install $(BROWSER)/.installed $(NODE)/.package-lock.json ## pictures of the page, in docs/pictures/page; needs chromium
	$(WITH_BROWSER) $(BIN)/python -m tests.browser.pictures

thorough: install clients $(CLIENTS)/schemathesis/.installed ## servers, third-party clients and slow tests; many examples of each property
	RELEVANCE_REQUIRE_POSTGRES=1 $(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder -m "(thorough or hypothesis) and not long" --hypothesis-profile many

long: export RELEVANCE_REQUIRE_POSTGRES = 1
long: export RELEVANCE_LONG = 1
long: install clients $(CLIENTS)/schemathesis/.installed ## all cases of thorough, faults and hostile, and more examples, requests and draws of each; two hours
	$(BIN)/pytest -n auto -m "(thorough or hypothesis or long) and not (faults or hostile)" --hypothesis-profile long
	$(BIN)/pytest -n 2 -m faults tests/faults
	$(BIN)/pytest -m hostile tests/fuzz tests/hostile

# Three processes: these tests wait more than they compute, and their timeouts need a machine that is not busy.
faults: export OMP_NUM_THREADS = 1
faults: export OPENBLAS_NUM_THREADS = 1
faults: install ## fault injection: processes, disks and databases fail, on both databases
	RELEVANCE_REQUIRE_POSTGRES=1 $(BIN)/pytest -n 3 --dist worksteal -m "faults and not long" tests/faults

# Responses within half a second: beside nothing else.
DELAYS := tests/hostile/test_health.py
hostile: export OMP_NUM_THREADS = 1
hostile: export OPENBLAS_NUM_THREADS = 1
hostile: install ## fuzzing and denial of service: malformed and oversized requests
	RELEVANCE_REQUIRE_POSTGRES=1 $(BIN)/pytest -n 2 --dist loadfile -m "hostile and not long" tests/fuzz tests/hostile --ignore $(DELAYS)
	RELEVANCE_REQUIRE_POSTGRES=1 $(BIN)/pytest -m "hostile and not long" $(DELAYS)

monitoring: install ## alert rules, dashboard, manifests and the operator pages, by Prometheus, kubectl and nginx (Debian packages)
	$(BIN)/pytest -m monitoring tests/deploy

upgrades: export OMP_NUM_THREADS = 1
upgrades: export OPENBLAS_NUM_THREADS = 1
# FROM: the tag to upgrade from; by default that of the last release, so the clone needs its tags.
upgrades: install ## rolling upgrades from the last release, on both databases
	RELEVANCE_REQUIRE_POSTGRES=1 UPGRADE_FROM=$(FROM) $(BIN)/pytest -m upgrades -o faulthandler_timeout=1800 tests/upgrades

mutation: export OMP_NUM_THREADS = 1
mutation: export OPENBLAS_NUM_THREADS = 1
mutation: install ## 300 mutants of selection, warnings and limits, of which tests notice 85 %; goes on where it was broken off
	$(BIN)/python -m tests.mutation

chaos: install ## chaos test: containers are killed; needs docker; half an hour
	$(BIN)/python -m tests.faults.chaos

deployment: install ## the commands of docs/how-to/deployment.md on containers; needs docker
	$(BIN)/python -m tests.deploy.operator

IMAGE := relevance:$(VERSION)

image: install ## the container image and the sizes of its layers; needs docker
	docker build --tag $(IMAGE) .
	$(BIN)/python -m deploy.image sizes $(IMAGE)

# The second build is of a copy whose files only their owner can read: modes are those that the Dockerfile gives.
image-twice: image ## rebuild the image and compare: the builds are reproducible
	@rm -rf build/copy && mkdir -p build/copy
	(umask 077 && git ls-files -z --cached --others --exclude-standard | xargs -0 tar --create | \
		tar --extract --no-same-permissions --directory build/copy)
	docker build --no-cache --tag $(IMAGE)-twice build/copy
	$(BIN)/python -m deploy.image compare $(IMAGE) $(IMAGE)-twice
	docker rmi $(IMAGE)-twice

sbom: install $(AUDIT)/.installed ## software bill of materials of the image (CycloneDX), in dist/
	@mkdir -p dist
	$(BIN)/python deploy/image/sbom.py requirements-runtime.lock > dist/sbom.cdx.json
	$(AUDIT)/bin/python -c 'import sys; from cyclonedx.schema import SchemaVersion; from cyclonedx.validation.json import \
		JsonStrictValidator; sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()))' < dist/sbom.cdx.json

audit: $(AUDIT)/.installed ## known vulnerabilities of the packages of the image; needs the network
	$(AUDIT)/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off \
		$(if $(SERVICE),--vulnerability-service $(SERVICE)) --requirement requirements-runtime.lock

format: install ## format the code and apply the fixes of ruff
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install ## benchmarks of speed, memory and accuracy
	$(BIN)/python -m benchmarks

# QUICK=1: few draws and rows. DATA: the folder of real data. PEERS: a folder that keeps the peers' figures. OURS=1: ours alone.
bench-accuracy: install ## accuracy beside other libraries, and the pictures of docs; hours, or QUICK=1
	$(BIN)/python -m benchmarks accuracy --pictures $(if $(QUICK),--quick) $(if $(OURS),--engines ours) \
		$(if $(DATA),--data "$(DATA)") $(if $(PEERS),--peers-cache "$(PEERS)")

docs: install ## build the documentation, in dist/guide; warnings are errors
	@rm -rf dist/guide build/doctrees
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -d build/doctrees docs dist/guide

lock: $(BIN)/uv ## update all lock files
	$(COMPILE) --upgrade --group demo --group dev --group docs --group bench --output-file requirements.lock pyproject.toml
	$(COMPILE) --constraints requirements.lock --extra grpc --extra jwt --extra onnx --extra tracing --output-file requirements-runtime.lock pyproject.toml
	$(COMPILE) --constraints requirements.lock --group docs --output-file requirements-docs.lock
	for wanted in tests/foreign/requirements-*.in benchmarks/serving/peers/requirements-*.in \
		benchmarks/tables/requirements-*.in tests/browser/requirements-*.in deploy/image/requirements-*.in; do \
		$(COMPILE) --upgrade --output-file "$${wanted%.in}.lock" "$$wanted" || exit 1; \
	done
	@$(MAKE) install

protocol: install ## generate app/inference/rpc/generated from the .proto file
	$(BIN)/python -m grpc_tools.protoc --proto_path=app/inference/rpc --python_out=app/inference/rpc/generated \
		--pyi_out=app/inference/rpc/generated app/inference/rpc/open_inference.proto

wheels: docs ## build both distributions, as wheels and as sources, in dist/
	@rm -rf app/guide dist/relevance_* && cp -R dist/guide app/guide
	cd library && ../$(BIN)/python -P -m hatchling build --directory ../dist
	$(BIN)/python -P -m hatchling build --directory dist

release: export OMP_NUM_THREADS = 1
release: export OPENBLAS_NUM_THREADS = 1
release: export PYTHONDONTWRITEBYTECODE =
release: wheels sbom ## all files of a release, in dist/, tried in empty environments; the image where docker is there
	@awk '/^## / { found = ($$0 == "## $(VERSION)") } found' CHANGELOG.md > dist/release-notes.md
	@test -s dist/release-notes.md || { echo 'CHANGELOG.md has no section "## $(VERSION)"' >&2; exit 1; }
	RELEVANCE_WHEELS=dist $(BIN)/pytest -m "thorough or not thorough" \
		tests/test_release.py tests/packaging/test_contents.py tests/packaging/test_sbom.py tests/packaging/test_installed.py
	@if docker info > /dev/null 2>&1; then $(MAKE) image; else echo 'make image: NOT RUN: docker does not respond'; fi
	@ls -l dist/relevance_*-$(VERSION)* dist/sbom.cdx.json dist/release-notes.md

secrets: ## create missing secrets and a certificate for docker compose; needs openssl
	@mkdir -p secrets && chmod 700 secrets
	@for name in api_key database_password grafana_password; do \
		test -s secrets/$$name || { \
			od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > secrets/$$name && chmod 644 secrets/$$name && echo "made secrets/$$name"; }; \
	done
	@test -s secrets/tls.pem || { \
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=localhost \
			-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout secrets/tls.key -out secrets/tls.crt 2>/dev/null \
		&& cat secrets/tls.crt secrets/tls.key > secrets/tls.pem && rm secrets/tls.key \
		&& chmod 644 secrets/tls.crt secrets/tls.pem && echo "made secrets/tls.crt and secrets/tls.pem"; }

clean: ## remove environments and generated files (no database, no secret)
	rm -rf $(VENV) $(CLIENTS) $(PEER_SERVERS) $(TABLES) $(AUDIT) $(BROWSER) $(NODE) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find app library tests examples benchmarks deploy migrations -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
