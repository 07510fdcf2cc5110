"""The metrics of drift: of an owner, of all processes that share a directory, of few versions."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import pytest

from app.identity import BUILT_IN_OWNER as OWNER
from app.identity import uuid7
from app.metrics.numbers import Family, Labels
from app.prediction import ServedVersion, drift_monitors
from app.prediction.drift import DriftMonitor
from app.prediction.drift_monitors import INPUTS, MAX_REPORTED, ROWS, WINDOW_SECONDS, DriftMonitors
from app.prediction.drift_windows import SUFFIX
from tests.prediction.drifting import add, rows, with_baseline
from tests.waiting import until

HALF = WINDOW_SECONDS / 2


@contextmanager
def monitors(directory: Path | None = None, now: float | None = None) -> Iterator[DriftMonitors]:
    clock = time.time if now is None else lambda: now
    made = DriftMonitors(WINDOW_SECONDS, directory, clock)
    try:
        yield made
    finally:
        made.close()


def predict(made: DriftMonitors, loaded: ServedVersion, number: int, *, seed: int, shift: float = 0.0) -> None:
    add(made.of(loaded.version, loaded.model.classes), loaded, rows(number, seed=seed, shift=shift))


def has_rows(monitor: DriftMonitor, number: int) -> bool:
    return sum(counts[0] for counts in monitor.window.halves.values()) == number


def found(made: DriftMonitors, owner: str | None = OWNER) -> dict[tuple[Family, Labels], float]:
    return {(one.family, one.labels): one.numbers[0] for one in made.samples(owner)}


@pytest.fixture(scope="module")
def loaded() -> ServedVersion:
    return with_baseline()


def test_an_owner_sees_the_own_versions_alone(loaded: ServedVersion) -> None:
    version = replace(loaded.version, id=uuid7(), owner="acme", model="secret")
    with monitors() as made:
        predict(made, loaded, 300, seed=1)
        predict(made, replace(loaded, version=version), 400, seed=1)
        assert found(made)[ROWS, (OWNER, "small", "1")] == 300
        assert found(made, "acme")[ROWS, ("acme", "secret", "1")] == 400
        assert {labels[:2] for _, labels in found(made)} == {(OWNER, "small")}
        assert {labels[:2] for _, labels in found(made, "acme")} == {("acme", "secret")}
        assert found(made, None) == found(made) | found(made, "acme")
        assert found(made, "nobody") == {}


def test_processes_that_share_a_directory_report_what_one_process_would(loaded: ServedVersion, tmp_path: Path) -> None:
    with monitors() as alone:
        for seed, shift in ((1, 0.0), (2, 0.0), (3, 1.0)):
            predict(alone, loaded, 150, seed=seed, shift=shift)
        expected = found(alone)
    with monitors(tmp_path) as one, monitors(tmp_path) as other:
        predict(one, loaded, 150, seed=1)
        predict(one, loaded, 150, seed=2)
        predict(other, loaded, 150, seed=3, shift=1.0)
        for made in (one, other):
            made.count()
            made.publish()
        assert found(one) == found(other) == expected
        assert expected[ROWS, (OWNER, "small", "1")] == 450
        assert expected[INPUTS, (OWNER, "small", "1", "x")] > 0.1
        other.close()
        assert found(one) == expected
        with monitors(tmp_path) as without_the_version:
            one.publish()
            assert found(without_the_version) == expected


def test_counts_of_an_ended_process_leave_with_the_window_and_its_file_is_deleted(
    loaded: ServedVersion, tmp_path: Path
) -> None:
    now = time.time()
    with monitors(tmp_path, now) as ended:
        predict(ended, loaded, 300, seed=1)
    (file,) = tmp_path.glob(f"*{SUFFIX}")
    with monitors(tmp_path, now + HALF) as successor:
        assert found(successor)[ROWS, (OWNER, "small", "1")] == 300
    with monitors(tmp_path, now + 2 * HALF) as later:
        assert found(later) == {}
    os.utime(file, (now, now))
    with monitors(tmp_path, now + 2 * HALF + 1) as later:
        assert found(later) == {}
    assert not file.exists()


def test_files_of_other_windows_or_releases_are_not_read(loaded: ServedVersion, tmp_path: Path) -> None:
    other = DriftMonitors(WINDOW_SECONDS / 4, tmp_path)
    predict(other, loaded, 300, seed=1)
    other.close()
    (tmp_path / f"1-a{SUFFIX}").write_bytes(b"{}")
    (tmp_path / f"1-b{SUFFIX}").write_bytes(b"\x00 half of a file")
    (tmp_path / f"1-c{SUFFIX}").write_bytes(msgspec.json.encode({"half_seconds": HALF, "windows": [{"model": "m"}]}))
    with monitors(tmp_path) as made:
        assert found(made) == {}


def test_a_directory_that_can_not_be_written_stops_nothing(loaded: ServedVersion, tmp_path: Path) -> None:
    directory = tmp_path / "metrics"
    with monitors(directory) as made:
        directory.rmdir()
        predict(made, loaded, 300, seed=1)
        made.count()
        made.publish()
        assert found(made)[ROWS, (OWNER, "small", "1")] == 300


def test_a_thread_counts_what_is_predicted(loaded: ServedVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift_monitors, "COUNT_SECONDS", 0.01)
    with monitors() as made:
        monitor = made.of(loaded.version, ())
        for number in (1, 2):
            add(monitor, loaded, rows(100, seed=number))
            until(partial(has_rows, monitor, 100 * number))


def test_the_monitor_of_a_version_outlasts_what_is_kept_of_it_in_memory(loaded: ServedVersion) -> None:
    with monitors() as made:
        predict(made, loaded, 100, seed=1)
        predict(made, replace(loaded), 100, seed=2)
        assert found(made)[ROWS, (OWNER, "small", "1")] == 200


def test_few_versions_are_reported_those_with_the_most_rows(loaded: ServedVersion) -> None:
    with monitors() as made:
        for number in range(1, MAX_REPORTED + 11):
            version = replace(loaded.version, id=uuid7(), number=number)
            predict(made, replace(loaded, version=version), number, seed=number)
        reported = {int(labels[2]) for family, labels in found(made) if family is ROWS}
    assert reported == set(range(11, MAX_REPORTED + 11))


def test_few_versions_are_monitored_those_that_were_loaded_last(
    loaded: ServedVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift_monitors, "MAX_VERSIONS", 3)
    with monitors() as made:
        for number in range(1, 6):
            version = replace(loaded.version, id=uuid7(), number=number)
            predict(made, replace(loaded, version=version), 1, seed=number)
        assert {labels[2] for _, labels in found(made)} == {"3", "4", "5"}
