"""Counts of the rows that a version predicts: against a loop over the rows, bounded, and without the histograms."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.identity import BUILT_IN_OWNER as OWNER
from app.identity import uuid7
from app.metrics import Family, Labels
from app.prediction import PredictRequest, ServedVersion, drift, predict
from app.prediction.drift import (
    INPUTS,
    MAX_CELLS,
    MAX_REPORTED,
    MAX_ROWS,
    MAX_WAITING,
    MIN_ROWS,
    OUTSIDE,
    PREDICTIONS,
    ROWS,
    SUFFIX,
    WINDOW_SECONDS,
    DriftMonitor,
    DriftMonitors,
    window_samples,
)
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.records.reports import Baseline, CategoryHistogram, NumberHistogram
from relevance_bayes.records.statistics import MIN_SUPPORT
from relevance_bayes.records.values import InputColumn
from relevance_bayes.tables.columns import CategoryArray, NumberArray, NumberBlock, block_rows
from relevance_bayes.tables.moments import histogram_of
from relevance_bayes.tasks.listing import MAX_INPUTS
from relevance_bayes.tasks.prediction import ValuePrediction
from tests.narrowing import of_data, of_kind
from tests.prediction.drifting import TRAINED_ON, add, baseline_in, monitor_of, rows, with_baseline
from tests.served_versions import served
from tests.small_components import version_of_components
from tests.small_models import small_version, version_of_numbers, version_of_three_classes
from tests.small_tables import numbers, texts
from tests.waiting import until


def looped(values: list[float], histogram: NumberHistogram) -> list[int]:
    bounds = [-np.inf, *histogram.edges, np.inf]
    return [*(sum(low < value <= high for value in values) for low, high in pairwise(bounds)), 0]


def test_counts_are_those_of_a_loop_over_the_rows() -> None:
    loaded = with_baseline()
    monitor = monitor_of(loaded)
    blocks = [rows(number, seed=number, shift=0.7, red=0.2) for number in (1, 5, 90)]
    values = [value for block in blocks for value in add(monitor, loaded, block).tolist()]
    supports = [predict(loaded, PredictRequest(block)).support for block in blocks]
    assert monitor.count(7)
    baseline = baseline_in(loaded)
    of_x, of_predictions = (of_kind(NumberHistogram, one) for one in (baseline.inputs[0], baseline.predictions))
    xs = [float(x) for block in blocks for x in of_kind(NumberArray, block["x"]).values]
    columns = [of_kind(CategoryArray, block["colour"]) for block in blocks]
    colours = [column.labels[code] for column in columns for code in column.codes]
    listed = [one.label for one in of_kind(CategoryHistogram, baseline.inputs[1]).categories]
    assert monitor.window.halves == {
        7: [
            96,
            96,
            sum(int((support < MIN_SUPPORT).sum()) for support in supports if support is not None),
            *looped(xs, of_x),
            *(colours.count(label) for label in listed),
            0,
            0,
            *looped(values, of_predictions),
        ]
    }
    assert not monitor.count(7)


def test_gaps_and_unknown_categories_are_counted_apart_and_their_rows_are_predicted() -> None:
    loaded = with_baseline()
    monitor = monitor_of(loaded)
    add(monitor, loaded, {"x": numbers(1.0, None, 1.0), "colour": texts("red", "red", "green")})
    monitor.count(0)
    (total,) = monitor.window.halves.values()
    bins_of_x = len(monitor.window.inputs[0][1])
    of_x, of_colour = total[3 : 3 + bins_of_x], total[3 + bins_of_x :][:4]
    assert total[:2] == [3, 3]
    assert (sum(of_x), of_x[-1]) == (3, 1)
    assert (sum(of_colour), of_colour[2:]) == (3, [1, 0])
    assert sum(total[3 + bins_of_x + 4 :]) == 3


def test_a_large_request_counts_by_a_random_part_from_all_of_it() -> None:
    loaded = with_baseline()
    monitor = monitor_of(loaded)
    number = 20 * MAX_ROWS
    add(monitor, loaded, rows(number, seed=1))
    monitor.count(0)
    ordered = numbers(*np.linspace(-1, 3, number).tolist())
    add(monitor, loaded, {"x": ordered, "colour": texts(*["red"] * number)})
    monitor.count(1)
    first, second = (monitor.window.halves[half] for half in (0, 1))
    assert first[0] == second[0] == MAX_ROWS
    samples = {one.family: one.numbers[0] for one in window_samples(monitor.window, first)}
    assert samples[PREDICTIONS] < 0.1
    at_ends = second[3], second[3 + 9]
    edges = of_kind(NumberHistogram, baseline_in(loaded).inputs[0]).edges
    assert at_ends[0] == pytest.approx(MAX_ROWS * (edges[0] + 1) / 4, abs=2)
    assert at_ends[1] == pytest.approx(MAX_ROWS * (3 - edges[-1]) / 4, abs=2)


def test_rows_of_one_matrix_are_sampled_too() -> None:
    names = ("x", "a", "b")
    trained_on = NumberBlock(names, np.random.default_rng(0).normal(size=(500, 3)))
    loaded = with_baseline(version_of_numbers(), {name: trained_on[name] for name in names})
    monitor = monitor_of(loaded)
    add(monitor, loaded, NumberBlock(names, np.random.default_rng(1).normal(size=(5 * MAX_ROWS, 3))))
    monitor.count(0)
    assert monitor.window.halves[0][0] == MAX_ROWS
    assert sum(monitor.window.halves[0][3:]) == 4 * MAX_ROWS


def test_of_many_inputs_the_first_are_counted_and_of_fewer_rows() -> None:
    names = tuple(f"x{number}" for number in range(2 * MAX_INPUTS))
    trained_on = NumberBlock(names, np.random.default_rng(0).normal(size=(500, len(names))))
    histograms = tuple(histogram_of(name, trained_on[name]) for name in names)
    loaded = served(version_of_numbers())
    report = of_data(loaded.version.report)
    plan = replace(report.plan, inputs=tuple(InputColumn(name, "number") for name in names))
    baseline = Baseline(rows=500, inputs=histograms[:MAX_INPUTS], target=None, predictions=histograms[0])
    monitor = DriftMonitor(replace(loaded.version, report=replace(report, plan=plan, baseline=baseline)), ())
    counted: list[int] = []
    for number in (MAX_CELLS // len(names), MAX_CELLS // MAX_INPUTS, 5_000):
        block = NumberBlock(names, np.random.default_rng(1).normal(size=(number, len(names))))
        monitor.add(block, ValuePrediction(np.zeros(number), ()), number)
        monitor.count(number)
        rows_counted, _, _, *bins = monitor.window.halves[number]
        assert sum(bins) == rows_counted * (MAX_INPUTS + 1)
        counted.append(rows_counted)
    assert counted == [163, 327, 327]


def test_what_waits_is_bounded_and_counted_again_after_each_count() -> None:
    loaded = with_baseline()
    monitor = monitor_of(loaded)
    for _ in range(MAX_WAITING + 50):
        add(monitor, loaded, rows(1, seed=0))
    monitor.count(0)
    add(monitor, loaded, rows(1, seed=0))
    monitor.count(0)
    assert monitor.window.halves[0][0] == MAX_WAITING + 1


def test_the_window_is_the_current_half_and_the_one_before() -> None:
    loaded = with_baseline()
    monitor = monitor_of(loaded)
    for half, number in ((4, 10), (5, 20), (6, 40)):
        add(monitor, loaded, rows(number, seed=half))
        monitor.count(half)
    rows_of = [None if (total := monitor.window.total(half)) is None else total[0] for half in (6, 7, 8)]
    assert rows_of == [60, 40, None]
    monitor.count(8)
    assert monitor.window.halves == {}


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_a_version_without_histograms_reports_its_support_alone(shift: float) -> None:
    loaded = served(small_version(prior=GaussianProcess()))
    assert loaded.version.report.baseline is None
    monitor = monitor_of(loaded)
    block = rows(MIN_ROWS, seed=1, shift=shift)
    add(monitor, loaded, block)
    monitor.count(0)
    found = {one.family: one.numbers[0] for one in window_samples(monitor.window, monitor.window.total(0) or [])}
    assert found.keys() == {ROWS, OUTSIDE}
    support = predict(loaded, PredictRequest(block)).support
    assert support is not None
    assert found[ROWS] == MIN_ROWS
    assert found[OUTSIDE] == np.mean(support < MIN_SUPPORT)
    assert (found[OUTSIDE] > 0.9) == (shift > 0)


def test_drift_of_one_input_and_of_the_predictions_is_seen_and_of_no_other() -> None:
    loaded = with_baseline()
    found: list[dict[object, float]] = []
    for shift in (0.0, 1.0):
        monitor = monitor_of(loaded)
        add(monitor, loaded, rows(MAX_ROWS, seed=3, shift=shift))
        monitor.count(0)
        samples = window_samples(monitor.window, monitor.window.total(0) or [])
        found.append({(one.family, one.labels[3:]): one.numbers[0] for one in samples})
    usual, drifted = found
    psi = [(INPUTS, ("x",)), (INPUTS, ("colour",)), (PREDICTIONS, ())]
    assert all(usual[one] < 0.1 for one in psi)
    assert [drifted[one] > 0.25 for one in psi] == [True, False, True]


@pytest.mark.parametrize("min_rows", [MIN_ROWS - 1, MIN_ROWS])
def test_few_rows_report_their_number_alone(min_rows: int) -> None:
    loaded = with_baseline()
    monitor = monitor_of(loaded)
    add(monitor, loaded, rows(min_rows, seed=1))
    monitor.count(0)
    families = {one.family for one in window_samples(monitor.window, monitor.window.total(0) or [])}
    assert families == ({ROWS} if min_rows < MIN_ROWS else {ROWS, OUTSIDE, INPUTS, PREDICTIONS})


def test_predictions_are_monitored_by_the_task() -> None:
    points = {"x": numbers(*range(50)), "z": numbers(*range(50))}
    loaded = [
        with_baseline(),
        with_baseline(small_version("classification", classes=("no", "yes"))),
        with_baseline(version_of_three_classes()),
        with_baseline(version_of_components(), points),
    ]
    found = [baseline_in(one).predictions for one in loaded]
    assert [one.name for one in found] == ["mean", "probability_yes", "label", "novelty"]
    assert [one.kind for one in found] == ["number", "number", "category", "number"]
    assert baseline_in(loaded[0]).rows == TRAINED_ON


def test_classes_are_counted_by_the_most_probable_one() -> None:
    loaded = with_baseline(version_of_three_classes())
    monitor = monitor_of(loaded)
    block = rows(100, seed=2)
    probabilities = add(monitor, loaded, block)
    monitor.count(0)
    baseline = baseline_in(loaded)
    labels = [one.label for one in of_kind(CategoryHistogram, baseline.predictions).categories]
    names = [str(loaded.model.classes[place]) for place in probabilities.argmax(axis=1)]
    counted = monitor.window.halves[0][-len(labels) - 2 :]
    assert counted[: len(labels)] == [names.count(label) for label in labels]
    assert sum(counted) == block_rows(block)


HALF = WINDOW_SECONDS / 2


@contextmanager
def monitors(directory: Path | None = None, now: float | None = None) -> Iterator[DriftMonitors]:
    clock = time.time if now is None else lambda: now
    made = DriftMonitors(WINDOW_SECONDS, directory, clock)
    try:
        yield made
    finally:
        made.close()


def predict_rows(made: DriftMonitors, loaded: ServedVersion, number: int, *, seed: int, shift: float = 0.0) -> None:
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
        predict_rows(made, loaded, 300, seed=1)
        predict_rows(made, replace(loaded, version=version), 400, seed=1)
        assert found(made)[ROWS, (OWNER, "small", "1")] == 300
        assert found(made, "acme")[ROWS, ("acme", "secret", "1")] == 400
        assert {labels[:2] for _, labels in found(made)} == {(OWNER, "small")}
        assert {labels[:2] for _, labels in found(made, "acme")} == {("acme", "secret")}
        assert found(made, None) == found(made) | found(made, "acme")
        assert found(made, "nobody") == {}


def test_processes_that_share_a_directory_report_what_one_process_would(loaded: ServedVersion, tmp_path: Path) -> None:
    with monitors() as alone:
        for seed, shift in ((1, 0.0), (2, 0.0), (3, 1.0)):
            predict_rows(alone, loaded, 150, seed=seed, shift=shift)
        expected = found(alone)
    with monitors(tmp_path) as one, monitors(tmp_path) as other:
        predict_rows(one, loaded, 150, seed=1)
        predict_rows(one, loaded, 150, seed=2)
        predict_rows(other, loaded, 150, seed=3, shift=1.0)
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
        predict_rows(ended, loaded, 300, seed=1)
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
    predict_rows(other, loaded, 300, seed=1)
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
        predict_rows(made, loaded, 300, seed=1)
        made.count()
        made.publish()
        assert found(made)[ROWS, (OWNER, "small", "1")] == 300


def test_a_thread_counts_what_is_predicted(loaded: ServedVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "COUNT_SECONDS", 0.01)
    with monitors() as made:
        monitor = made.of(loaded.version, ())
        for number in (1, 2):
            add(monitor, loaded, rows(100, seed=number))
            until(partial(has_rows, monitor, 100 * number))


def test_the_monitor_of_a_version_outlasts_what_is_kept_of_it_in_memory(loaded: ServedVersion) -> None:
    with monitors() as made:
        predict_rows(made, loaded, 100, seed=1)
        predict_rows(made, replace(loaded), 100, seed=2)
        assert found(made)[ROWS, (OWNER, "small", "1")] == 200


def test_few_versions_are_reported_those_with_the_most_rows(loaded: ServedVersion) -> None:
    with monitors() as made:
        for number in range(1, MAX_REPORTED + 11):
            version = replace(loaded.version, id=uuid7(), number=number)
            predict_rows(made, replace(loaded, version=version), number, seed=number)
        reported = {int(labels[2]) for family, labels in found(made) if family is ROWS}
    assert reported == set(range(11, MAX_REPORTED + 11))


def test_few_versions_are_monitored_those_that_were_loaded_last(
    loaded: ServedVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift, "MAX_VERSIONS", 3)
    with monitors() as made:
        for number in range(1, 6):
            version = replace(loaded.version, id=uuid7(), number=number)
            predict_rows(made, replace(loaded, version=version), 1, seed=number)
        assert {labels[2] for _, labels in found(made)} == {"3", "4", "5"}
