import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
from rich.console import Console

from relevance_bayes.cli.progress import duration_text, watch
from relevance_bayes.records.jobs import Event, JobState, Progress, Transition
from tests.terminals import Dialogue

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
        "rows: width search 1/40 fits (2 %); log evidence -12.3, noise sd 0.1",
        "rows: width search 40/40 fits (100 %); 7 functions, log evidence -12.3, noise sd 0.1",
        "rows: succeeded",
    ]


@pytest.mark.parametrize("end", ["succeeded", "failed", "cancelled"])
def test_on_a_terminal_a_bar_ends_with_the_state(end: Literal["succeeded", "failed", "cancelled"]) -> None:
    console = Console(file=io.StringIO(), width=160, force_terminal=True)
    watch([*EVENTS[:-1], moved(5, end)], label="rows", console=console)
    assert isinstance(console.file, io.StringIO)
    last_frame = console.file.getvalue().splitlines()[-2]
    assert end in last_frame


def at(seconds: float, number: int, progress: Progress) -> Event:
    return Event(number, NOW + timedelta(seconds=seconds), "progress", None, progress)


def lines(*events: Event) -> list[str]:
    console = Console(file=io.StringIO(), width=40)
    watch(events, label="rows", console=console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def folds(completed: int, phase: str = "folds", total: int | None = 5) -> Progress:
    return Progress(phase, completed, total, "folds")


def test_the_time_left_of_a_phase_is_what_its_units_took_so_far() -> None:
    # The first two folds took 30 s each, whatever was before: three are left.
    assert lines(at(100, 1, folds(0)), at(130, 2, folds(1)), at(160, 3, folds(2)), at(250, 4, folds(5))) == [
        "rows: cross-validation 0/5 folds (0 %)",
        "rows: cross-validation 1/5 folds (20 %); 2 min left",
        "rows: cross-validation 2/5 folds (40 %); 90 s left",
        "rows: cross-validation 5/5 folds (100 %)",
    ]


def test_an_event_within_a_unit_counts_down() -> None:
    events = at(0, 1, folds(0)), at(20, 2, folds(1)), at(50, 3, folds(1)), at(500, 4, folds(1))
    assert lines(*events)[1:] == [
        "rows: cross-validation 1/5 folds (20 %); 80 s left",
        "rows: cross-validation 1/5 folds (20 %); 50 s left",
        "rows: cross-validation 1/5 folds (20 %); 0 s left",
    ]


def test_each_phase_has_a_pace_of_its_own() -> None:
    assert lines(at(0, 1, folds(1)), at(10, 2, folds(2)), at(20, 3, folds(3, "validation"))) == [
        "rows: cross-validation 1/5 folds (20 %)",
        "rows: cross-validation 2/5 folds (40 %); 30 s left",
        "rows: validation 3/5 folds (60 %)",
    ]


def test_nothing_is_reported_of_the_share_of_a_phase_of_unknown_length() -> None:
    assert lines(at(0, 1, folds(0, "fit", None)), at(1, 2, folds(3, "alternative fit", None))) == [
        "rows: fitting",
        "rows: alternative fit 3 folds",
    ]


def test_an_event_that_changes_nothing_prints_nothing() -> None:
    assert lines(at(0, 1, folds(0)), at(1, 2, folds(0)), at(2, 3, folds(0))) == [
        "rows: cross-validation 0/5 folds (0 %)"
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (99.4, "99 s"), (100.0, "2 min"), (5900.0, "98 min"), (9000.0, "2.5 h")]
)
def test_durations_have_two_digits(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize("width", [80, 160])
def test_a_bar_is_one_line_of_one_width(width: int) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    watch([at(0, 1, folds(0)), at(30, 2, folds(1)), at(60, 3, folds(2))], label="rows", console=console)
    assert isinstance(console.file, io.StringIO)
    last = console.file.getvalue().split("\r")[-1].split("\x1b[2K")[-1].splitlines()[0]
    assert "cross-validation" in last
    assert "40 %" in last
    assert "2/5 folds" in last
    assert "90 s left" in last
    assert len(last) <= width


@pytest.mark.thorough
@pytest.mark.parametrize("no_color", [None, "1"])
def test_a_terminal_has_colours_unless_no_color_is_set(
    dialogue: Dialogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_color: str | None
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    file = tmp_path / f"colours{no_color}.csv"
    file.write_text("x,y\n" + "".join(f"{k * k % 23}.5,{k * k % 17}\n" for k in range(40)))
    done = dialogue("train", str(file), "--target", "y", "--effort", "quick")
    assert done.exit_code == 0, done.terminal
    assert "\x1b[" in done.terminal
    assert bool(re.search(r"\x1b\[(?:\d+;)*(?:3|9)\d[;m]", done.terminal)) == (no_color is None)
    assert "\x1b[" not in done.stdout
