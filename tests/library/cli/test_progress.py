import io
from datetime import UTC, datetime
from typing import Literal

import pytest
from rich.console import Console

from relevance_bayes.cli.progress import watch
from relevance_bayes.types.jobs import Event, JobState, Progress, Transition

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def moved(number: int, state: JobState) -> Event:
    return Event(number, NOW, "transition", Transition(state, NOW, 1, None, None), None)


def progressed(number: int, completed: int, functions: int | None) -> Event:
    return Event(number, NOW, "progress", None, Progress("width_search", completed, 40, "fits", -12.34, functions, 0.1))


EVENTS = [moved(1, "queued"), moved(2, "running"), progressed(3, 1, None), progressed(4, 40, 7), moved(5, "succeeded")]


def test_without_a_terminal_each_event_is_a_line() -> None:
    console = Console(file=io.StringIO(), width=40)
    watch(EVENTS, label="rows", console=console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "rows: queued",
        "rows: running",
        "rows: width search 1/40 fits; log evidence -12.3, noise 0.1",
        "rows: width search 40/40 fits; 7 functions, log evidence -12.3, noise 0.1",
        "rows: succeeded",
    ]


@pytest.mark.parametrize("end", ["succeeded", "failed", "cancelled"])
def test_on_a_terminal_a_bar_ends_with_the_state(end: Literal["succeeded", "failed", "cancelled"]) -> None:
    console = Console(file=io.StringIO(), width=160, force_terminal=True)
    watch([*EVENTS[:-1], moved(5, end)], label="rows", console=console)
    assert isinstance(console.file, io.StringIO)
    last_frame = console.file.getvalue().splitlines()[-2]
    assert end in last_frame
