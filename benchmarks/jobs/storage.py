"""The bytes that rows, jobs, versions and entries of the audit take in each database, by the sizes of its tables."""

import time
from collections import Counter
from collections.abc import Mapping

import numpy as np
from sqlalchemy import Engine, text

from app.database.engine import make_engine
from benchmarks.files import NotRun
from benchmarks.jobs import requests
from benchmarks.jobs.deployment import WORKER_BEGINS, Deploy
from benchmarks.jobs.running import seconds_for_each
from benchmarks.jobs.tables import DATABASES
from benchmarks.options import Options
from benchmarks.report import Table
from relevance_bayes.client import connect

ROWS, COLUMNS = 100_000, 10
JOBS, QUICK_JOBS = 200, 50

SIZES = {
    "sqlite": "SELECT m.tbl_name, sum(s.pgsize - s.unused) FROM dbstat s JOIN sqlite_master m USING (name) GROUP BY 1",
    "postgresql": "SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables",
}
"""Bytes of each table with its indexes: those in use on SQLite, those of its files on PostgreSQL."""

DATASETS = ("datasets", "dataset_blocks")
VERSIONS = ("models", "model_versions", "relevance_vectors", "posteriors", "version_tags")
AUDIT = ("audit_chains", "audit_entries")

NOTES = """\
A service with its default settings, whose worker ran the jobs. A row has ten numbers of random digits, so it compresses
as badly as any. A job is a training of 20 rows with all its events and its entry in the queue; its version has the
functions that these rows need; both the job and the version are an entry of the audit. PostgreSQL's files grow by pages
of 8 kB, of which each table and index has its last one partly empty."""


def storage(options: Options) -> list[Table]:
    """Bytes on each database."""
    columns: dict[str, Mapping[str, str]] = {}
    notes = [NOTES]
    for database, deployments in DATABASES.items():
        try:
            with deployments() as deploy:
                columns[database] = _measured(deploy, QUICK_JOBS if options.quick else JOBS)
        except NotRun as absent:
            notes.append(f"{database}: NOT RUN: {absent}.")
    what = list(next(iter(columns.values())))
    rows = tuple((line, *(cells[line] for cells in columns.values())) for line in what)
    return [Table("Bytes in the database", ("", *columns), rows, tuple(notes))]


def _measured(deploy: Deploy, jobs: int) -> Mapping[str, str]:
    with deploy() as deployment, connect(deployment.api()) as calls:
        engine = make_engine(deployment.settings.url)
        numbers = np.random.default_rng(2027).standard_normal((ROWS, COLUMNS))
        request = requests.empty(calls)
        empty = _sizes(engine)
        calls.create_dataset({f"x{number}": numbers[:, number].tolist() for number in range(COLUMNS)}, name="many")
        uploaded = _sizes(engine)
        deployment.worker()
        time.sleep(WORKER_BEGINS)
        for _ in range(jobs):
            calls.trainings.submit(request)
        seconds_for_each(calls, jobs)
        with engine.connect() as connection:
            entries = int(connection.execute(text("SELECT count(*) FROM audit_entries")).scalar_one())
        grown = _sizes(engine) - uploaded
        engine.dispose()
    of = {name: sum(grown[table] for table in tables) for name, tables in (("versions", VERSIONS), ("audit", AUDIT))}
    rest = grown.total() - sum(of.values())
    row = sum(uploaded[table] - empty[table] for table in DATASETS) / ROWS
    return {
        f"a row of {COLUMNS} numbers": f"{row:,.0f}",
        "a job, its events and its entry in the queue": f"{rest / jobs:,.0f}",
        "a version of 20 rows": f"{of['versions'] / jobs:,.0f}",
        "an entry of the audit": f"{of['audit'] / entries:,.0f}",
    }


def _sizes(engine: Engine) -> Counter[str]:
    with engine.connect() as connection:
        found = connection.execute(text(SIZES[engine.dialect.name]))
        return Counter({str(name): int(size) for name, size in found})
