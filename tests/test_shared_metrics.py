"""Processes that share a directory: sums over all, which never decrease, however a process ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from app.metrics import LENGTH_BYTES, SUFFIX, Family, Labels, MetricSample, SharedNumbers, counter, gauge
from app.metrics import SIZE as NUMBERS_SIZE

DONE = counter("done_total", "Done.", "what")
SIZE = gauge("size", "Size.")
PROGRAM = """
import sys
from pathlib import Path
from app.metrics import counter, gauge
from app.metrics import SharedNumbers
numbers = SharedNumbers(Path(sys.argv[1])).numbers
numbers.values[numbers.place(counter("done_total", "Done.", "what"), "work")] += 5
numbers.values[numbers.place(gauge("size", "Size."))] = 7
print("counted", flush=True)
sys.stdin.read()
"""


def process(directory: Path) -> subprocess.Popen[str]:
    """A process that has counted 5, and runs until its input ends."""
    started = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "counted\n"
    return started


def end(*processes: subprocess.Popen[str]) -> None:
    for one in processes:
        one.communicate()


def numbers_of(found: Sequence[MetricSample]) -> dict[tuple[str, Labels], tuple[float, ...]]:
    return {(one.family.name, one.labels): one.numbers for one in found}


def read(shared: SharedNumbers) -> tuple[float, float, int]:
    """The work that is done, the size, and the number of processes."""
    found, pids = shared.read()
    numbers = numbers_of(found)
    return numbers[("done_total", ("work",))][0], numbers.get(("size", ()), (0.0,))[0], len(pids)


def test_each_process_reads_the_sums_over_all(tmp_path: Path) -> None:
    shared = SharedNumbers(tmp_path)
    shared.numbers.values[shared.numbers.place(DONE, "work")] += 1
    assert read(shared) == (1, 0, 1)
    one, other = process(tmp_path), process(tmp_path)
    assert read(shared) == (11, 14, 3)
    assert set(shared.read()[1]) == {os.getpid(), one.pid, other.pid}
    end(one, other)
    shared.close()


def test_counters_stay_and_gauges_go_when_a_process_is_killed_or_ends_and_is_replaced(tmp_path: Path) -> None:
    shared = SharedNumbers(tmp_path)
    killed, ended = process(tmp_path), process(tmp_path)
    assert read(shared) == (10, 14, 3)
    killed.send_signal(signal.SIGKILL)
    end(killed, ended)
    assert read(shared) == (10, 0, 1)
    successor = process(tmp_path)
    assert read(shared) == (15, 7, 2)
    end(successor)
    assert read(shared) == read(shared) == (15, 0, 1)
    assert len(list(tmp_path.glob(f"*{SUFFIX}"))) == 1
    shared.close()
    again = SharedNumbers(tmp_path)
    assert read(again) == (15, 0, 1)
    again.close()


def test_a_process_that_ended_while_it_added_others_makes_nothing_count_twice(tmp_path: Path) -> None:
    shared = SharedNumbers(tmp_path)
    dead = process(tmp_path)
    (file,) = tmp_path.glob(f"{dead.pid}-*{SUFFIX}")
    content = file.read_bytes()
    end(dead)
    assert read(shared) == (5, 0, 1)
    file.write_bytes(content)  # as if it had been added, and not been deleted
    assert read(shared) == (5, 0, 1)
    assert not file.exists()
    shared.close()


def test_a_file_that_is_cut_short_counts_nothing(tmp_path: Path) -> None:
    shared = SharedNumbers(tmp_path)
    shared.numbers.values[shared.numbers.place(DONE, "work")] += 1
    (tmp_path / f"1-2{SUFFIX}").write_bytes(b"")
    assert read(shared) == (1, 0, 1)
    shared.close()


def test_counters_of_another_release_are_added_where_they_have_our_form(tmp_path: Path) -> None:
    shared, earlier = SharedNumbers(tmp_path), SharedNumbers(tmp_path)
    before = Family("times_seconds", "histogram", "Times.", (), (1.0,))
    after = Family("times_seconds", "histogram", "Times.", (), (1.0, 2.0))
    for numbers, times, text in ((earlier.numbers, before, "All."), (shared.numbers, after, "Done.")):
        numbers.values[numbers.place(times)] += 1
        numbers.values[numbers.place(counter("done_total", text))] += 1
    for is_over in (False, True):
        if is_over:
            earlier.close()
        found, _ = shared.read()
        assert [(one.family.help, len(one.numbers), one.numbers[0]) for one in found] == [
            ("Times.", 4, 1),
            ("Done.", 1, 2),
        ]
    shared.close()


def test_files_of_which_a_crash_of_the_system_left_a_part_are_ignored(tmp_path: Path) -> None:
    lost = LENGTH_BYTES.to_bytes(LENGTH_BYTES, "little").ljust(NUMBERS_SIZE, b"\0")  # a length without its text
    for name, content in (("ended.json", b""), (f"1-lost{SUFFIX}", lost), (f"1-short{SUFFIX}", lost[:100])):
        (tmp_path / name).write_bytes(content)
    shared = SharedNumbers(tmp_path)
    shared.numbers.values[shared.numbers.place(DONE, "work")] += 1
    assert read(shared) == read(shared) == (1, 0, 1)
    shared.close()
    again = SharedNumbers(tmp_path)
    assert read(again) == (1, 0, 1)
    again.close()
