"""The table of jobs."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from benchmarks.files import NotRun
from benchmarks.jobs.cells import Cells
from benchmarks.jobs.deployment import Deploy, on_postgresql, on_sqlite
from benchmarks.jobs.dying import dying
from benchmarks.jobs.running import running
from benchmarks.jobs.submitting import queueing, submitting
from benchmarks.options import Options
from benchmarks.report import Table

DATABASES: Mapping[str, Callable[[], AbstractContextManager[Deploy]]] = {
    "SQLite": on_sqlite,
    "PostgreSQL": on_postgresql,
}

MEASURED: tuple[Callable[[Deploy, Options], Cells], ...] = (submitting, running, queueing, dying)

NOTES = """\
`relevance api` and `relevance worker` as processes with their default settings unless a line states otherwise, all on
one machine; PostgreSQL waits for its disk. Seconds are those of the clock. An empty fit learns from 20 rows with a
given width. `a job's end to the next one's`: jobs in the queue, one worker with one slot. `computed again`: both
starts' seconds of a fit of some ten, whose worker is killed halfway, less those of the unbroken run."""


def jobs(options: Options) -> list[Table]:
    """Every measure on each database."""
    columns: dict[str, Cells] = {}
    notes = [NOTES]
    for database, deployments in DATABASES.items():
        try:
            with deployments() as deploy:
                columns[database] = {
                    what: cell for measure in MEASURED for what, cell in measure(deploy, options).items()
                }
        except NotRun as absent:
            notes.append(f"{database}: NOT RUN: {absent}.")
    what = list(next(iter(columns.values())))
    rows = tuple((line, *(cells[line] for cells in columns.values())) for line in what)
    return [Table("Jobs", ("", *columns), rows, tuple(notes))]
