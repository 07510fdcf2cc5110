"""The progress of a job, shown by rich in a terminal, as HTML in a notebook, and in plain lines elsewhere."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from relevance_bayes.records.html import facts_html, progress_html
from relevance_bayes.records.jobs import Event
from relevance_bayes.records.jobs import Progress as JobProgress

PHASES = {
    "compare": "comparing",
    "done": "finishing",
    "evaluate": "evaluating",
    "fit": "fitting",
    "folds": "cross-validation",
    "predict": "predicting",
}
"""Phases in words; others are shown by their own names."""


class Display(AbstractContextManager["Display"]):
    """A place where events are shown as they come."""

    def show(self, event: Event) -> None:
        """Show an event."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None


def display_of(label: str) -> Display:
    """Return the display of this program: of a notebook, of a terminal where rich is installed, else plain lines."""
    if (handle := _notebook()) is not None:
        return Notebook(label, handle)
    if sys.stderr.isatty() and find_spec("rich") is not None:
        return Terminal(label)
    return Lines(label, sys.stderr.write)


def phase_text(progress: JobProgress) -> str:
    """Return the phase in words."""
    name = progress.phase.replace("_", " ")
    return PHASES.get(name, name)


def figures(progress: JobProgress) -> str:
    """Return the current figures of a fit: functions kept, log evidence, noise."""
    known = [
        None if progress.functions is None else f"{progress.functions} functions",
        None if progress.log_marginal_likelihood is None else f"log evidence {progress.log_marginal_likelihood:.1f}",
        None if progress.noise_sd is None else f"noise sd {progress.noise_sd:.3g}",
    ]
    return ", ".join(part for part in known if part)


def count_text(progress: JobProgress) -> str:
    """Return the completed units, and their number where that is known."""
    if progress.total is None and progress.completed == 0:
        return ""
    total = "" if progress.total is None else f"/{progress.total:,}"
    return f"{progress.completed:,}{total} {progress.unit}"


class Lines(Display):
    """A line for each event that differs from the one before."""

    def __init__(self, label: str, write: Callable[[str], object]) -> None:
        self._label = label
        self._write = write
        self._written = ""

    def show(self, event: Event) -> None:
        """Write a line."""
        text = _state(event)
        if text not in ("", self._written):
            self._write(f"{self._label}: {text}\n")
            self._written = text


class Terminal(Display):
    """A bar of rich on standard error."""

    def __init__(self, label: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.fields[label]}", style="bold", markup=False),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TimeElapsedColumn(),
        )
        self._bars = Progress(*columns, console=Console(stderr=True))
        self._task = self._bars.add_task("queued", total=None, label=label)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bars.stop()

    def show(self, event: Event) -> None:
        """Move the bar."""
        progress = event.progress
        if event.is_last:
            self._bars.update(self._task, description=_state(event), total=1, completed=1)
        elif progress is not None:
            share, total = (progress.completed, progress.total) if progress.share is None else (progress.share, 1.0)
            self._bars.update(self._task, description=_state(event), completed=share, total=total)
        else:
            self._bars.update(self._task, description=_state(event))


class Html:
    """A text of HTML, as notebooks show it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_html_(self) -> str:
        return self._text


@runtime_checkable
class DisplayHandle(Protocol):
    """An output of a notebook that changes, as IPython's."""

    def display(self, shown: object) -> None:
        """Show a value."""

    def update(self, shown: object) -> None:
        """Show another value in its place."""


class Notebook(Display):
    """A table with a bar in a cell's output, which changes in place."""

    def __init__(self, label: str, handle: DisplayHandle) -> None:
        self._label = label
        self._handle = handle
        self._is_shown = False

    def show(self, event: Event) -> None:
        """Replace what is shown."""
        shown = Html(event_html(self._label, event))
        if self._is_shown:
            self._handle.update(shown)
        else:
            self._handle.display(shown)
        self._is_shown = True


def event_html(label: str, event: Event) -> str:
    """Return an event as a table, with a bar while the job runs."""
    progress, transition = event.progress, event.transition
    if progress is None:
        state = None if transition is None else transition.state
        return facts_html(label, {"state": state, "reason": None if transition is None else transition.reason})
    of_phase = progress.completed / progress.total if progress.total else None
    share = of_phase if progress.share is None else progress.share
    facts = {"phase": phase_text(progress), "completed": count_text(progress), "fit": figures(progress)}
    return facts_html(label, facts) + progress_html(share)


def _state(event: Event) -> str:
    if event.progress is not None:
        parts = (f"{phase_text(event.progress)} {count_text(event.progress)}".strip(), figures(event.progress))
        return "; ".join(part for part in parts if part)
    return "" if event.transition is None else event.transition.state


def _notebook() -> DisplayHandle | None:
    """Return a new output where this program is a notebook; only IPython that is imported can be active."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    made: DisplayHandle = import_module("IPython.display").DisplayHandle()
    return made
