# Two builds of a checkout have equal files (`make image-twice`): compiled modules hold a digest of their source, not its time.
FROM python:3.13-slim-trixie AS base
ENV PYTHONUNBUFFERED=1 \
    PYTHONHASHSEED=0
WORKDIR /srv/relevance

# Dependencies change seldom: a layer of their own, which a change of the code leaves as it is. Their tests, the sources of
# compiled modules, and Arrow Flight, which nothing imports, are a fifth of their bytes.
FROM base AS dependencies
COPY requirements-runtime.lock ./
RUN python3 -m venv --without-pip /srv/venv \
 && python3 -m pip --python /srv/venv/bin/python install --no-cache-dir --disable-pip-version-check \
        --require-hashes --no-deps --only-binary :all: --no-compile -r requirements-runtime.lock \
 && cd /srv/venv/lib/python*/site-packages \
 && find . -type d \( -name tests -o -path ./onnx/backend/test -o -path ./pyarrow/include -o -path ./pyarrow/src \) -prune \
        -exec rm -r {} + \
 && find . -type f \( -name '*.h' -o -name '*.pxd' -o -name '*.pxi' -o -name '*.pyi' -o -name '*.pyx' -o -name '*.a' \) -delete \
 && rm pyarrow/libarrow*flight.so* pyarrow/_flight.*.so \
 && python3 -m compileall -q --invalidation-mode unchecked-hash /srv/venv/lib

# The guide, as pages alone: what builds them stays in this stage.
FROM base AS guide
COPY requirements-docs.lock ./
RUN python3 -m venv --without-pip venv \
 && python3 -m pip --python venv/bin/python install --no-cache-dir --disable-pip-version-check \
        --require-hashes --no-deps --only-binary :all: -r requirements-docs.lock
COPY benchmarks/README.md ./benchmarks/
COPY docs ./docs
RUN venv/bin/sphinx-build --quiet --fail-on-warning -d doctrees docs guide && rm guide/.buildinfo

# Library and service as two wheels, laid over the venv by the last stage; the build backend stays in this stage.
FROM dependencies AS package
COPY requirements.lock ./
RUN sed -nE '/^(hatchling|packaging|pathspec|pluggy|tomlkit|trove-classifiers)==/,/[^\\]$/p' requirements.lock > build.lock \
 && python3 -m pip --python /srv/venv/bin/python install --no-cache-dir --disable-pip-version-check \
        --require-hashes --no-deps --only-binary :all: -r build.lock
COPY pyproject.toml README.md LICENSE ./
COPY library ./library
COPY migrations ./migrations
COPY app ./app
COPY --from=guide /srv/relevance/guide ./app/guide
RUN python3 -m pip --python /srv/venv/bin/python install --no-cache-dir --disable-pip-version-check \
        --no-deps --no-build-isolation --no-index --no-compile --prefix /srv/package ./library . \
 && python3 -m compileall -q --invalidation-mode unchecked-hash /srv/package/lib
COPY deploy/image/imports.py deploy/image/sbom.py ./check/
RUN export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(echo /srv/package/lib/python*/site-packages) \
 && /srv/venv/bin/python check/imports.py \
 && /srv/venv/bin/python check/sbom.py requirements-runtime.lock > sbom.cdx.json

# For `relevance backup` and `relevance restore`: two programs of Debian's package, without the Perl that its others need.
FROM base AS postgresql
RUN apt-get update -qq \
 && apt-get download -qq postgresql-client-17 \
 && dpkg-deb --extract postgresql-client-17_*.deb client \
 && mv client/usr/lib/postgresql/17/bin client/bin

FROM base
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends liblz4-1 libpq5 libzstd1 zlib1g > /dev/null \
 && find /var/lib/apt/lists /var/cache /var/log -type f -delete && rm -f /var/lib/dpkg/*-old
RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /srv/data --shell /usr/sbin/nologin relevance \
 && rm -f /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- \
 && install -d -o relevance -g relevance /srv/data /srv/spool
COPY --from=postgresql /srv/relevance/client/bin/pg_dump /srv/relevance/client/bin/pg_restore /usr/local/bin/
COPY --from=dependencies /srv/venv /srv/venv
COPY --from=package /srv/package /srv/venv
COPY --from=package /srv/relevance/sbom.cdx.json ./
# The worker's health check is run every few seconds, as a file by an interpreter that imports nothing else.
COPY --chmod=644 app/jobs/worker/health_check.py ./
ENV PATH=/srv/venv/bin:$PATH \
    RELEVANCE_DATABASE_URL=sqlite:////srv/data/relevance.db \
    RELEVANCE_SPOOL_DIRECTORY=/srv/spool
LABEL org.opencontainers.image.title="Relevance" \
      org.opencontainers.image.description="Calibrated predictions over HTTP from sparse Bayesian models (relevance vector machines)" \
      org.opencontainers.image.version="1.0.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="python:3.13-slim-trixie"
USER 10001:10001
EXPOSE 8000 8001
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import http.client, os, sys; c = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('RELEVANCE_PORT', '8000')), timeout=4); c.request('GET', '/health/live'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["relevance"]
CMD ["api"]
