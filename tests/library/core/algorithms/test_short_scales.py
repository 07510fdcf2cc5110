"""Starts at short length scales: oscillations are found, and nothing else is taken for one."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.algorithms.hyperparameter_space import CAUTIOUS_SIGNAL_TO_NOISE, maximise
from relevance_bayes.core.algorithms.scales import (
    MAX_NATS_BELOW,
    Period,
    has_short_starts,
    linear_residuals,
    periods,
    periods_of,
    screened,
    with_short_starts,
    worth_maximising,
)
from relevance_bayes.core.algorithms.sequential import of_process
from relevance_bayes.core.algorithms.state import Trial
from relevance_bayes.core.algorithms.task import RISE, ProcessTask
from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels import CityBlock, Matern32
from relevance_bayes.core.kernels.by_input import Periodic
from relevance_bayes.core.kernels.hyperparameters import (
    EvidencePerInputWidth,
    EvidenceWidth,
    FixedWidth,
    Hyperparameters,
)
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.models.fitting import pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.rows import ArrayRows
from relevance_bayes.core.types import Array
from tests.library.core.drawn import friedman, process_spec, ripley

SPEC = process_spec(GaussianNoise())

SPECS = {
    "plain": SPEC,
    "one width": process_spec(GaussianNoise(), width=EvidenceWidth()),
    "shrunk": process_spec(GaussianNoise(), width=EvidencePerInputWidth(2.0)),
    "warped, with inputs": process_spec(GaussianNoise(), warp="evidence", inputs=True),
    "summed distances": process_spec(GaussianNoise(), kernel=CityBlock()),
    "matern": process_spec(GaussianNoise(), kernel=Matern32(), inputs=True),
    "periodic": process_spec(GaussianNoise(), kernel=Periodic()),
    "known noise": process_spec(GaussianNoise(0.3)),
}


def standardised(values: Array) -> Array:
    return np.asarray((values - values.mean(axis=0)) / values.std(axis=0))


def oscillation(cycles: float, noise: float, seed: int, rows: int = 308) -> tuple[Array, Array]:
    """Three inputs of unit variance, evenly distributed, and a sine of the second with so many cycles in its range."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 3))
    t = np.sin(2.0 * np.pi * cycles * X[:, 1]) + noise * rng.standard_normal(rows)
    return (X - 0.5) * np.sqrt(12.0), standardised(t)


def period_of(cycles: float) -> float:
    """The period in the units of these inputs."""
    return float(np.sqrt(12.0) / cycles)


def smooth(seed: int, rows: int = 300) -> tuple[Array, Array]:
    X, t, _ = friedman(rows, seed)
    return X, standardised(t)


def white(seed: int, rows: int = 300) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, 3)), rng.standard_normal(rows)


def found_in(X: Array, t: Array) -> tuple[Period, ...]:
    return periods(X, linear_residuals(X, t))


def posed(X: Array, t: Array, spec: Spec = SPEC, precisions: Array | None = None) -> tuple[ProcessTask, ProcessRows]:
    """A task and all of its rows."""
    problem = replace(pose(X, t, spec), source=ArrayRows(X, t, precisions))
    task = ProcessTask.of(problem)
    return task, ProcessRows(X, t, problem.candidates.columns(X, task.space.fixed_numbers()), precisions)


def maximum(task: ProcessTask, rows: ProcessRows, h: Hyperparameters) -> Trial:
    theta, value = maximise(
        of_process(task, rows, h),
        h.packed(),
        task.space.free(h),
        task.space.box(h, CAUTIOUS_SIGNAL_TO_NOISE),
        15,
        origin=task.origin(rows),
        flat=RISE / len(rows.t),
        ties=task.space.ties(h),
    )
    return Trial(h.unpacked(theta), value)


def best_start(task: ProcessTask, rows: ProcessRows) -> Trial:
    trials = [maximum(task, rows, task.space.start(number)) for number in range(task.space.starts)]
    return max(trials, key=lambda trial: trial.objective)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("cycles", [3.0, 10.0, 30.0])
def test_the_period_of_one_input_of_three_is_found(cycles: float, noise: float, seed: int) -> None:
    (found,) = found_in(*oscillation(cycles, noise, seed))
    assert found.input == 1
    assert found.period == pytest.approx(period_of(cycles), rel=1.0 / (3.0 * cycles))  # the step of frequencies


def test_inputs_that_oscillate_come_in_the_order_of_their_power() -> None:
    (X, first), (_, noise) = oscillation(10.0, 0.0, 0, 2_000), white(1, 2_000)
    t = first + 0.5 * np.sin(2.0 * np.pi * X[:, 2] / 0.2) + 0.1 * noise
    found = found_in(X, t)
    assert [one.input for one in found] == [1, 2]
    assert [one.period for one in found] == pytest.approx([period_of(10.0), 0.2], rel=0.05)


def test_an_oscillation_beside_a_slow_curve_is_found() -> None:
    x = np.random.default_rng(0).uniform(size=1_000)
    t = np.sin(3.0 * np.pi * x) + 0.5 * np.sin(40.0 * np.pi * x)
    (found,) = found_in(x[:, None], t)
    assert found.period == pytest.approx(1.0 / 20.0, rel=0.05)


def test_the_power_is_that_of_the_sum_over_rows_by_its_definition() -> None:
    X, t = oscillation(20.0, 0.5, 0)
    residuals = linear_residuals(X, t)
    (found,) = periods(X, residuals)
    x = X[:, 1]
    some = (x >= np.sort(x)[3]) & (x <= np.sort(x)[-4])
    total = np.sum(residuals[some] * np.exp(2j * np.pi * x[some] / found.period))
    assert found.power == pytest.approx(abs(total) ** 2 / np.sum(residuals[some] ** 2), rel=0.01)


def test_white_noise_has_a_period_in_fewer_than_one_table_of_a_hundred() -> None:
    assert sum(bool(found_in(*white(seed))) for seed in range(200)) <= 2


@pytest.mark.parametrize("seed", range(5))
def test_smooth_functions_have_no_period(seed: int) -> None:
    assert found_in(*smooth(seed)) == ()


def test_one_row_of_any_size_makes_no_period() -> None:
    X, t = white(0)
    t[17] = 1e6
    assert found_in(X, t) == ()


def test_the_residuals_are_those_of_least_squares() -> None:
    X, t = smooth(0)
    design = np.column_stack([np.ones(len(t)), X])
    expected = t - design @ np.linalg.lstsq(design, t)[0]
    np.testing.assert_allclose(linear_residuals(X, t), expected, atol=1e-5)


def test_residuals_are_weighted_by_their_precisions() -> None:
    X, t = oscillation(10.0, 0.1, 0)
    precisions = np.exp(np.random.default_rng(5).normal(size=len(t)))
    design = np.column_stack([np.ones(len(t)), X])
    root = np.sqrt(precisions)
    weights = np.linalg.lstsq(root[:, None] * design, root * t)[0]
    expected = precisions / precisions.mean() * (t - design @ weights)
    np.testing.assert_allclose(linear_residuals(X, t, precisions), expected, atol=1e-5)


def test_a_few_rows_of_little_precision_hide_no_period() -> None:
    X, t = oscillation(10.0, 0.1, 0)
    far = np.arange(len(t)) % 3 == 0
    t[far] += 30.0 * np.random.default_rng(5).standard_normal(int(far.sum()))
    task, _ = posed(X, t, precisions=np.where(far, 1e-4, 1.0))
    assert found_in(X, t) == ()
    assert [one.input for one in periods_of(task.problem)] == [1]


def test_a_linear_function_leaves_no_residual() -> None:
    X, _ = white(0)
    assert not linear_residuals(X, X @ np.array([1.0, -2.0, 3.0]) + 5.0).any()


@pytest.mark.parametrize("rows", [2, 5, 12])
def test_few_rows_few_values_and_constants_have_no_period(rows: int) -> None:
    rng = np.random.default_rng(0)
    assert found_in(rng.standard_normal((rows, 2)), rng.standard_normal(rows)) == ()
    X = np.column_stack([np.ones(300), rng.integers(0, 11, 300), np.append(np.zeros(298), [1.0, 2.0])])
    t = np.cos(np.pi * X[:, 1])
    assert found_in(X, t) == ()
    assert found_in(X, np.full(300, 3.0)) == ()
    assert found_in(np.ones((300, 1)), rng.standard_normal(300)) == ()


def test_the_order_of_rows_does_not_matter() -> None:
    X, t = oscillation(10.0, 0.5, 0)
    order = np.random.default_rng(0).permutation(len(t))
    one, other = found_in(X, t), found_in(X[order], t[order])
    assert [found.period for found in one] == [found.period for found in other]


def test_units_change_the_period_alone() -> None:
    X, t = oscillation(10.0, 0.5, 0)
    scale = np.array([1e-3, -40.0, 7.0])
    (one,), (other,) = found_in(X, t), found_in(X * scale + np.array([5.0, -900.0, 0.1]), 1e4 * t - 3.0)
    assert other.input == one.input
    assert other.period == pytest.approx(40.0 * one.period, rel=1e-9)
    assert other.power == pytest.approx(one.power, rel=1e-2)  # rows at a cell's edge change cells


@pytest.mark.parametrize("name", SPECS)
def test_the_objective_is_the_exact_evidence_and_the_log_prior(name: str) -> None:
    X, t = oscillation(10.0, 0.3, 0, 70)
    task, rows = posed(X, t, SPECS[name])
    found = (Period(1, period_of(10.0), 20.0), Period(0, 1.0, 15.0))
    trials = screened(task, rows, found)
    assert len(trials) == {"one width": 5 + 4, "periodic": 5 + 3}.get(name, 5 + 6)
    assert [trial.objective for trial in trials] == sorted((trial.objective for trial in trials), reverse=True)
    for trial in trials:
        h = trial.hyperparameters
        value = ExactProcess.of(rows, task.kernel, h).value + task.space.log_prior(h)[0]
        assert trial.objective == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("precisions", [None, np.exp(np.linspace(-1.0, 1.0, 70))], ids=["equal", "by row"])
@pytest.mark.parametrize("inputs", [False, True])
def test_the_signal_variance_is_where_the_evidence_is_flat_in_it(inputs: bool, precisions: Array | None) -> None:
    X, t = oscillation(10.0, 0.3, 0, 70)
    task, rows = posed(X, t, process_spec(GaussianNoise(), inputs=inputs), precisions)
    for trial in screened(task, rows, (Period(1, period_of(10.0), 20.0),)):
        h = trial.hyperparameters
        process = ExactProcess.of(rows, task.kernel, h)
        value, slope = process.value, process.gradient
        assert trial.objective == pytest.approx(value + task.space.log_prior(h)[0], abs=1e-8)
        beta, s, *alpha = slope[: 2 + len(h.alpha)]
        assert s - beta - sum(alpha) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_every_trial_is_a_start_within_the_box(name: str, size: float) -> None:
    X, t = oscillation(10.0, 0.0, 0, 40)
    task, rows = posed(X, size * t, SPECS[name])
    for trial in screened(task, rows, (Period(1, period_of(10.0), 20.0),)):
        h = trial.hyperparameters
        (low, high), theta = task.space.box(h, CAUTIOUS_SIGNAL_TO_NOISE), h.packed()
        free = task.space.free(h)
        assert np.isfinite(trial.objective)
        assert (low[free] - 1e-9 <= theta[free]).all()
        assert (theta[free] <= high[free] + 1e-9).all()
        warps = [warp for warp in (h.input_map.skew, h.input_map.tail) if warp is not None]
        assert len(warps) == (2 if name.startswith("warped") else 0)
        assert not any(warp.any() for warp in warps)


def test_a_signal_variance_outside_its_bounds_takes_the_nearest_value() -> None:
    X, t = oscillation(10.0, 0.0, 0)
    task, rows = posed(X[:, 1:2], t)
    trials = screened(task, rows, (Period(0, 5.0 * period_of(10.0), 20.0), Period(0, period_of(10.0), 20.0)))
    bound = task.space.box(task.space.start(0), CAUTIOUS_SIGNAL_TO_NOISE)[1][0]
    logs = [float(np.log(trial.hyperparameters.beta)) for trial in trials]
    assert max(logs) == pytest.approx(bound)
    for trial, log_beta in zip(trials, logs, strict=True):
        beta, s, *alpha = ExactProcess.of(rows, task.kernel, trial.hyperparameters).gradient
        rises = s - beta - sum(alpha[:1])
        assert rises == pytest.approx(0.0, abs=1e-6) or (log_beta == pytest.approx(bound) and rises < 0.0)


def test_inputs_without_a_period_are_wide_beside_one() -> None:
    task, rows = posed(*oscillation(10.0, 0.3, 0))
    best, *_ = screened(task, rows, (Period(1, 0.3, 20.0),))
    first, _, last = 4.0 * 3.0**0.5 * rows.X.std(axis=0)
    np.testing.assert_allclose(best.hyperparameters.input_map.widths, [first, 0.45 * 0.3, last])


def test_units_change_no_evidence_but_by_the_targets_unit() -> None:
    X, t = oscillation(10.0, 0.5, 0, 100)
    scale, unit = np.array([0.2, 30.0, 7.0]), 1e3
    (task, rows), (other, others) = posed(X, t), posed(X * scale - 4.0, unit * t)
    found = (Period(1, 0.3, 20.0),)
    one = {
        tuple(trial.hyperparameters.input_map.widths.round(6)): trial.objective
        - task.space.log_prior(trial.hyperparameters)[0]
        for trial in screened(task, rows, found)
    }
    two = {
        tuple((trial.hyperparameters.input_map.widths / scale).round(6)): trial.objective
        - other.space.log_prior(trial.hyperparameters)[0]
        for trial in screened(other, others, (Period(1, 9.0, 20.0),))
    }
    assert one.keys() == two.keys()
    shift = len(t) * np.log(unit)
    assert [two[widths] + shift for widths in one] == pytest.approx(list(one.values()), abs=1e-6)


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_the_targets_unit_changes_no_choice(unit: float) -> None:
    X, t = oscillation(10.0, 0.5, 0, 100)
    found = (Period(1, period_of(10.0), 20.0),)
    (task, rows), (other, others) = posed(X, t), posed(X, unit * t)
    one, two = screened(task, rows, found), screened(other, others, found)
    shift = len(t) * np.log(unit)
    widths = [trial.hyperparameters.input_map.widths for trial in one]
    np.testing.assert_allclose([trial.hyperparameters.input_map.widths for trial in two], widths)
    assert [trial.objective + shift for trial in two] == pytest.approx([trial.objective for trial in one])
    best = one[0].objective
    assert len(worth_maximising(two, best - shift)) == len(worth_maximising(one, best)) > 0


def test_at_most_two_trials_within_two_nats_are_worth_an_ascent() -> None:
    task, _ = posed(*oscillation(10.0, 0.3, 0, 40))
    h = task.space.start(0)
    trials = tuple(Trial(h, value) for value in (5.0, 4.0, 3.5, -9.0))
    assert worth_maximising(trials, 4.0) == trials[:2]
    assert worth_maximising(trials, 4.0 + MAX_NATS_BELOW) == trials[:1]
    assert worth_maximising(trials, 5.0 + MAX_NATS_BELOW) == ()
    assert worth_maximising((), 0.0) == ()


@pytest.mark.parametrize("draw", [smooth, white])
@pytest.mark.parametrize("seed", range(2))
def test_without_oscillations_the_usual_start_is_kept(
    draw: Callable[[int, int], tuple[Array, Array]], seed: int
) -> None:
    task, rows = posed(*draw(seed, 150))
    best = best_start(task, rows)
    assert worth_maximising(screened(task, rows, periods_of(task.problem)), best.objective) == ()
    assert with_short_starts(task, rows, best, lambda h: maximum(task, rows, h)) is best


@pytest.mark.parametrize("cycles", [10.0, 30.0])
def test_an_oscillation_that_was_noise_becomes_signal(cycles: float) -> None:
    task, rows = posed(*oscillation(cycles, 0.1, 0, 200))
    best = best_start(task, rows)
    found = with_short_starts(task, rows, best, lambda h: maximum(task, rows, h))
    assert best.hyperparameters.beta < 2.0
    assert found.objective > best.objective + 100.0
    assert found.hyperparameters.beta > 10.0


def test_the_best_maximum_is_the_result_and_of_equal_ones_the_first() -> None:
    task, rows = posed(*oscillation(10.0, 0.1, 0))
    best = Trial(task.space.start(0), -1e6)
    assert with_short_starts(task, rows, best, lambda h: Trial(h, best.objective)) is best
    values = iter([3.0, 7.0])
    assert with_short_starts(task, rows, best, lambda h: Trial(h, next(values))).objective == 7.0


def test_only_learned_widths_of_one_target_with_exact_evidence_have_short_starts() -> None:
    X, t = oscillation(10.0, 0.1, 0, 60)
    task, rows = posed(X, t)
    begun = ProcessTask.of(replace(task.problem, begin=task.space.start(0)))
    given, _ = posed(X, t, process_spec(GaussianNoise(), width=FixedWidth(1.0)))
    classes, _ = posed(*ripley(60, 0), process_spec(Bernoulli()))
    several = ProcessTask.of(replace(task.problem, source=ArrayRows(X, np.column_stack([t, t]))))
    assert has_short_starts(task)
    best = Trial(task.space.start(0), -1e6)
    for other in (begun, given, classes, several):
        assert not has_short_starts(other)
        assert screened(other, rows, ()) == ()
        assert with_short_starts(other, rows, best, lambda h: Trial(h, 0.0)) is best
