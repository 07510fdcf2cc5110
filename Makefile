# What needs .venv makes or refreshes it first; that costs nothing while lock and pyproject.toml are unchanged.
# GNU make 3.81 and a POSIX shell are enough (both come with macOS).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CLIENTS := .venv-clients
CLIENT_STAMPS := $(patsubst %,$(CLIENTS)/%/.installed,kserve mlserver triton)
PEER_SERVERS := .venv-peers
TABLES := .venv-tables
AUDIT := .venv-audit
PEER_STAMPS := $(patsubst %,$(PEER_SERVERS)/%/.installed,bentoml kserve mlserver)

export UV_SYSTEM_CERTS := true
export UV_PYTHON_DOWNLOADS := never

UV_PIP := $(BIN)/uv pip
COMPILE := $(UV_PIP) compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-package relevance-bayes

.DEFAULT_GOAL := help
.PHONY: help install clients peers tables demo run test check thorough faults hostile monitoring upgrades chaos image image-twice sbom audit deployment wheels format bench bench-accuracy docs lock protocol secrets clean

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

install: $(STAMP) ## make or refresh .venv from the pinned, hashed requirements

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Relevance needs Python 3.11 or later, and '$(PYTHON)' is not that: install one, or name it, as in 'make install PYTHON=python3.13'." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: uv

# Compiled now, and not by each process anew where an environment (PYTHONDONTWRITEBYTECODE) forbids it to keep that.
$(STAMP): requirements.lock pyproject.toml library/pyproject.toml | $(BIN)/uv
	$(UV_PIP) sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes --only-binary :all: requirements.lock
	$(UV_PIP) install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable library --editable .
	@touch $(STAMP)

clients: $(CLIENT_STAMPS) ## the same for clients that others wrote, each of which needs an environment of its own

peers: $(PEER_STAMPS) ## the same for servers that others wrote, which `serving` of the benchmarks measures beside ours

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

$(TABLES)/.installed: benchmarks/tables/requirements-tables.lock | $(BIN)/uv
	$(environment)

tables: install $(TABLES)/.installed ## public tables and the packages that bring them, for `open-tables` of the benchmarks
	PYTHONPATH=library $(TABLES)/bin/python -m benchmarks.tables.writing

demo: install ## train models through the running service, show what was learned
	$(BIN)/python -m examples.demo

run: install ## the API with a worker inside, on 127.0.0.1:8000
	$(BIN)/relevance serve

# One thread a process: tests run side by side, and threads of linear algebra wait for each other by spinning.
test check thorough: export OMP_NUM_THREADS = 1
test check thorough: export OPENBLAS_NUM_THREADS = 1
# Tests start some hundred processes: each would compile the service anew where the environment forbids to keep that.
test check thorough faults hostile monitoring upgrades: export PYTHONDONTWRITEBYTECODE =

test: install clients ## the tests, on SQLite and PostgreSQL
	$(BIN)/pytest -n auto

check: install clients ## all guards: format, lint, types, import contracts, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	RELEVANCE_REQUIRE_POSTGRES=1 $(BIN)/pytest -n auto

thorough: install $(CLIENTS)/schemathesis/.installed ## the tests that take minutes; many examples of each property; all that OpenAPI allows
	RELEVANCE_REQUIRE_POSTGRES=1 $(BIN)/pytest -n auto -m "thorough or hypothesis" --hypothesis-profile many

# On two processes: what is killed and waited for shares the machine with its neighbour alone.
faults: export OMP_NUM_THREADS = 1
faults: export OPENBLAS_NUM_THREADS = 1
faults: install ## everything that may die dies, on both databases; ten minutes
	RELEVANCE_REQUIRE_POSTGRES=1 $(BIN)/pytest -n 2 -m faults tests/faults

hostile: export OMP_NUM_THREADS = 1
hostile: export OPENBLAS_NUM_THREADS = 1
hostile: install ## hostile clients: what they send costs time in proportion to its size, keeps nobody waiting, and stays as it was
	RELEVANCE_REQUIRE_POSTGRES=1 $(BIN)/pytest -m hostile tests/fuzz tests/hostile

monitoring: install ## Prometheus, kubectl and nginx (Debian's packages) check rules, dashboard, manifests, and the guide for operators
	$(BIN)/pytest -m monitoring tests/deploy

upgrades: export OMP_NUM_THREADS = 1
upgrades: export OPENBLAS_NUM_THREADS = 1
# FROM: the commit to upgrade from; by default the one before the last migration, so the clone needs its history.
upgrades: install ## the release before the last migration serves while this one migrates, and beside it; on both databases
	RELEVANCE_REQUIRE_POSTGRES=1 UPGRADE_FROM=$(FROM) $(BIN)/pytest -m upgrades -o faulthandler_timeout=1800 tests/upgrades

chaos: install ## the service in containers, all of which are killed; needs docker; half an hour
	$(BIN)/python -m tests.faults.chaos

deployment: install ## the commands of docs/how-to/deployment.md on real containers, each of which ends and recovers; needs docker
	$(BIN)/python -m tests.deploy.operator

IMAGE := relevance:0.1.0

image: install ## the container image, and the sizes of its parts; needs docker
	docker build --tag $(IMAGE) .
	$(BIN)/python -m deploy.image sizes $(IMAGE)

# The second build is of a copy whose files only their owner can read: modes are those that the Dockerfile gives.
image-twice: image ## the image again, from nothing: both have equal files, modes and contents
	@rm -rf build/copy && mkdir -p build/copy
	(umask 077 && git ls-files -z --cached --others --exclude-standard | xargs -0 tar --create | \
		tar --extract --no-same-permissions --directory build/copy)
	docker build --no-cache --tag $(IMAGE)-twice build/copy
	$(BIN)/python -m deploy.image compare $(IMAGE) $(IMAGE)-twice
	docker rmi $(IMAGE)-twice

sbom: install $(AUDIT)/.installed ## what the image is made of, as CycloneDX, into dist/; checked against the schema
	@mkdir -p dist
	$(BIN)/python deploy/image/sbom.py requirements-runtime.lock > dist/sbom.cdx.json
	$(AUDIT)/bin/python -c 'import sys; from cyclonedx.schema import SchemaVersion; from cyclonedx.validation.json import \
		JsonStrictValidator; sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()))' < dist/sbom.cdx.json

audit: $(AUDIT)/.installed ## known vulnerabilities of what the image is made of; asks a database of them over the network
	$(AUDIT)/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off \
		$(if $(SERVICE),--vulnerability-service $(SERVICE)) --requirement requirements-runtime.lock

format: install ## put the code in its one format, and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install ## speed, memory and accuracy beside the papers and the peers
	$(BIN)/python -m benchmarks

# QUICK=1: few draws and rows. DATA: the folder of real data. PEERS: a folder that keeps the peers' figures. OURS=1: ours alone.
bench-accuracy: install ## our defaults beside the peers, and the pictures of docs; hours, or QUICK=1
	$(BIN)/python -m benchmarks accuracy --pictures $(if $(QUICK),--quick) $(if $(OURS),--engines ours) \
		$(if $(DATA),--data "$(DATA)") $(if $(PEERS),--peers-cache "$(PEERS)")

docs: install ## the documentation as a site, in dist/guide; a warning is an error
	@rm -rf dist/guide build/doctrees
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -d build/doctrees docs dist/guide

lock: $(BIN)/uv ## renew all locks, from pyproject.toml and from what clients and peers are wanted
	$(COMPILE) --upgrade --group demo --group dev --group docs --group bench --output-file requirements.lock pyproject.toml
	$(COMPILE) --constraints requirements.lock --extra grpc --extra jwt --extra onnx --extra tracing --output-file requirements-runtime.lock pyproject.toml
	$(COMPILE) --constraints requirements.lock --group docs --output-file requirements-docs.lock
	for wanted in tests/foreign/requirements-*.in benchmarks/serving/peers/requirements-*.in \
		benchmarks/tables/requirements-*.in deploy/image/requirements-*.in; do \
		$(COMPILE) --upgrade --output-file "$${wanted%.in}.lock" "$$wanted" || exit 1; \
	done
	@$(MAKE) install

protocol: install ## make app/inference/rpc/generated from the protocol's file
	$(BIN)/python -m grpc_tools.protoc --proto_path=app/inference/rpc --python_out=app/inference/rpc/generated \
		--pyi_out=app/inference/rpc/generated app/inference/rpc/open_inference.proto

wheels: docs ## both distributions as wheels, into dist/
	@rm -rf app/guide && cp -R dist/guide app/guide
	cd library && ../$(BIN)/python -P -m hatchling build --target wheel --directory ../dist
	$(BIN)/python -P -m hatchling build --target wheel --directory dist

secrets: ## random secrets and a certificate for docker compose, where there are none yet; needs openssl
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

clean: ## remove every .venv and everything that was generated (never a database, never a secret)
	rm -rf $(VENV) $(CLIENTS) $(PEER_SERVERS) $(TABLES) $(AUDIT) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find app library tests examples benchmarks deploy migrations -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
