"""The progress of a job: its share and the time left, live on a terminal and in plain lines elsewhere.

It goes to standard error, so that results can be piped.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from relevance_bayes.cli.console import warn
from relevance_bayes.client.calls import Blocking
from relevance_bayes.client.evaluations import BatchPredictions, Evaluations, Promotions
from relevance_bayes.client.jobs import Trainings
from relevance_bayes.client.progress import count_text, figures, phase_text
from relevance_bayes.records.jobs import Event, ExpectedCost, JobBase
from relevance_bayes.records.jobs import Progress as JobProgress

Collection: TypeAlias = Trainings[Blocking] | Evaluations[Blocking] | BatchPredictions[Blocking] | Promotions[Blocking]

PHASE_COLUMNS = len("cross-validation")
COUNT_COLUMNS = len("10/10 folds")
TIME_COLUMNS = len("59 min left")

MIN_COLUMNS_FOR_FIGURES = 120
"""Terminals that are narrower do not show what a fit knows by now, so that a line stays a line."""


def watch(events: Iterable[Event], *, label: str, console: Console | None = None) -> None:
    """Show `events` as they come, to their end."""
    console = console or Console(stderr=True)
    if console.is_terminal:
        _bar(events, label, console)
    else:
        _lines(events, label, console)


def watch_job(jobs: Collection, job: JobBase, *, label: str) -> None:
    """Show the progress of a submitted job until its end; Ctrl-C ends the command, not the job."""
    try:
        watch(jobs.follow(job.id), label=label)
    except KeyboardInterrupt:
        warn(f"The job goes on. See: relevance jobs {job.id}; end it: relevance jobs --cancel {job.id}")
        raise


@dataclass(frozen=True)
class PhasePace:
    """The units of a phase that were completed since its first event, and the time that they took."""

    first: JobProgress
    since: datetime
    now: JobProgress
    changed: datetime
    """The time at which a unit was last completed."""
    at: datetime

    @classmethod
    def after(cls, earlier: "PhasePace | None", now: JobProgress, at: datetime) -> "PhasePace":
        """The pace with another event: that of the same phase goes on, another one begins."""
        if earlier is None or (now.phase, now.total) != (earlier.now.phase, earlier.now.total):
            return cls(now, at, now, at, at)
        return replace(
            earlier, now=now, changed=at if now.completed > earlier.now.completed else earlier.changed, at=at
        )

    @property
    def share(self) -> float | None:
        """The completed share of the job, else of the phase; None where its length is not known."""
        if self.now.share is not None:
            return self.now.share
        return min(self.now.completed / self.now.total, 1.0) if self.now.total else None

    @property
    def seconds_left(self) -> float | None:
        """The seconds that are left of the job, else of the phase if a unit takes what it took so far; None where that
        is not known."""
        if self.now.seconds_left is not None:
            return self.now.seconds_left
        completed = self.now.completed - self.first.completed
        if not self.now.total or completed <= 0 or self.now.completed >= self.now.total:
            return None
        a_unit = (self.changed - self.since).total_seconds() / completed
        waited = (self.at - self.changed).total_seconds()
        return max(a_unit * (self.now.total - self.now.completed) - waited, 0.0)


def cost_text(cost: ExpectedCost) -> str:
    """The expected CPU time and memory of a job, and whose speed that is."""
    memory = max(cost.memory_bytes / 2**20, 1.0)
    of = "" if cost.speed_of == "workers" else " of the reference core, as no worker runs"
    return f"{cost.cpu_seconds:.2g} CPU s{of} and {memory:,.0f} MiB"


def duration_text(seconds: float) -> str:
    """Seconds below 100, else minutes below 100, else hours."""
    for unit, name in ((1, "s"), (60, "min")):
        if seconds < 99.5 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 3600:.1f} h"


def _bar(events: Iterable[Event], label: str, console: Console) -> None:
    columns = (
        TextColumn("{task.fields[label]}", style="bold"),
        TextColumn(f"{{task.description:<{PHASE_COLUMNS}}}"),
        BarColumn(bar_width=12),
        TextColumn("{task.fields[share]:>5}"),
        TextColumn(f"{{task.fields[count]:<{COUNT_COLUMNS}}}"),
        TextColumn(f"{{task.fields[left]:<{TIME_COLUMNS}}}"),
        TimeElapsedColumn(),
        *([TextColumn("{task.fields[figures]}", style="dim")] if console.width >= MIN_COLUMNS_FOR_FIGURES else []),
    )
    with Progress(*columns, console=console) as bars:
        task = bars.add_task("queued", total=None, label=label, share="", count="", left="", figures="")
        pace: PhasePace | None = None
        for event in events:
            if event.progress is not None:
                now = event.progress
                pace = PhasePace.after(pace, now, event.at)
                bars.update(
                    task,
                    description=phase_text(now),
                    completed=now.completed if now.share is None else now.share,
                    total=now.total if now.share is None else 1.0,
                    share=_share(pace),
                    count=count_text(now),
                    left=_left(pace),
                    figures=figures(now),
                )
            elif event.transition is not None:
                bars.update(task, description=event.transition.state, left="")
                if event.is_last:
                    succeeded = event.transition.state == "succeeded"
                    bars.update(task, total=1, completed=int(succeeded), share="100 %" if succeeded else "", count="")


def _lines(events: Iterable[Event], label: str, console: Console) -> None:
    """Print a line for each event that differs from the one before."""
    pace: PhasePace | None = None
    printed = ""
    for event in events:
        if event.progress is not None:
            pace = PhasePace.after(pace, event.progress, event.at)
            done = f"{phase_text(event.progress)} {count_text(event.progress)}".strip()
            share = f"{done} ({_share(pace)})" if pace.share is not None else done
            given = "; ".join(part for part in (share, _left(pace), figures(event.progress)) if part)
        elif event.transition is not None:
            given = event.transition.state
        else:
            continue
        if given != printed:
            console.print(f"{label}: {given}", markup=False, highlight=False, soft_wrap=True)
        printed = given


def _share(pace: PhasePace) -> str:
    return "" if pace.share is None else f"{100 * pace.share:.0f} %"


def _left(pace: PhasePace) -> str:
    return "" if pace.seconds_left is None else f"{duration_text(pace.seconds_left)} left"
