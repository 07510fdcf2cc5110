"""Counts of the rows that a version predicts: against a loop over the rows, bounded, and without the histograms."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from app.prediction import PredictRequest, predict
from app.prediction.drift import MAX_CELLS, MAX_ROWS, MAX_WAITING, DriftMonitor
from app.prediction.drift_monitors import INPUTS, MIN_ROWS, OUTSIDE, PREDICTIONS, ROWS, window_samples
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.records.baselines import Baseline, CategoryHistogram, NumberHistogram
from relevance_bayes.records.statistics import MIN_SUPPORT
from relevance_bayes.records.values import InputColumn
from relevance_bayes.tables.columns import CategoryArray, NumberArray, NumberBlock, block_rows
from relevance_bayes.tables.moments import histogram_of
from relevance_bayes.tasks.listing import MAX_INPUTS
from relevance_bayes.tasks.values import ValuePrediction
from tests.narrowing import of_data, of_kind
from tests.prediction.drifting import TRAINED_ON, add, baseline_in, monitor_of, rows, with_baseline
from tests.served_versions import served
from tests.small_components import version_of_components
from tests.small_models import small_version, version_of_numbers, version_of_three_classes
from tests.small_tables import numbers, texts


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
