FROM python:3.13-slim AS base
ENV PYTHONUNBUFFERED=1
WORKDIR /srv/relevance

# Dependencies change seldom: a layer of their own, which a change of the code leaves as it is.
FROM base AS dependencies
COPY requirements-runtime.lock ./
RUN python3 -m venv --without-pip /srv/venv \
 && python3 -m pip --python /srv/venv/bin/python install --no-cache-dir --disable-pip-version-check \
        --require-hashes --no-deps --only-binary :all: -r requirements-runtime.lock

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
 && python3 -m compileall -q /srv/package/lib

FROM base
RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /srv/data --shell /usr/sbin/nologin relevance \
 && install -d -o relevance -g relevance /srv/data
COPY --from=dependencies /srv/venv /srv/venv
COPY --from=package /srv/package /srv/venv
# The worker's health check is run every few seconds, as a file by an interpreter that imports nothing else.
COPY app/jobs/worker/health_check.py ./
ENV PATH=/srv/venv/bin:$PATH \
    RELEVANCE_DATABASE_URL=sqlite:////srv/data/relevance.db
USER 10001:10001
EXPOSE 8000 8001
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import http.client, os, sys; c = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('RELEVANCE_PORT', '8000')), timeout=4); c.request('GET', '/health/live'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["relevance"]
CMD ["api"]
