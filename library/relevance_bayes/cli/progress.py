"""A job's own progress, live on a terminal and line by line elsewhere; on standard error: results can be piped."""

from collections.abc import Iterable

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from relevance_bayes.types.jobs import Event
from relevance_bayes.types.jobs import Progress as JobProgress


def watch(events: Iterable[Event], *, label: str, console: Console | None = None) -> None:
    """Show `events` as they come, to their end."""
    console = console or Console(stderr=True)
    if console.is_terminal:
        _bar(events, label, console)
    else:
        _lines(events, label, console)


def figures(progress: JobProgress) -> str:
    """Return what the fit knows by now: functions kept, log evidence, noise."""
    known = [
        None if progress.functions is None else f"{progress.functions} functions",
        None if progress.log_marginal_likelihood is None else f"log evidence {progress.log_marginal_likelihood:.1f}",
        None if progress.noise_sd is None else f"noise {progress.noise_sd:.3g}",
    ]
    return ", ".join(part for part in known if part)


def _bar(events: Iterable[Event], label: str, console: Console) -> None:
    columns = (
        TextColumn("{task.fields[label]}", style="bold"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=32),
        TextColumn("{task.fields[count]}"),
        TextColumn("{task.fields[figures]}", style="dim"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bars:
        task = bars.add_task("queued", total=None, label=label, count="", figures="")
        for event in events:
            if event.progress is not None:
                now = event.progress
                bars.update(
                    task,
                    description=_words(now.phase),
                    completed=now.completed,
                    total=now.total,
                    count=_count(now),
                    figures=figures(now),
                )
            elif event.transition is not None:
                bars.update(task, description=event.transition.state)
                if event.is_last:
                    bars.update(task, total=1, completed=int(event.transition.state == "succeeded"), count="")


def _lines(events: Iterable[Event], label: str, console: Console) -> None:
    for event in events:
        if event.progress is not None:
            now = event.progress
            parts = (f"{_words(now.phase)} {_count(now)}".strip(), figures(now))
            given = "; ".join(part for part in parts if part)
        elif event.transition is not None:
            given = event.transition.state
        else:
            continue
        console.print(f"{label}: {given}", markup=False, highlight=False, soft_wrap=True)


def _words(slug: str) -> str:
    return slug.replace("_", " ")


def _count(progress: JobProgress) -> str:
    total = "" if progress.total is None else f"/{progress.total}"
    return f"{progress.completed}{total} {progress.unit}"
