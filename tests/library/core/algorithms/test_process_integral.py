import numpy as np
import pytest

from relevance_bayes.core.algorithms import process_integral
from relevance_bayes.core.algorithms.process_integral import integral
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.algorithms.task import ProcessTask, process_of
from relevance_bayes.core.inference.process import bound
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.models.fitting import iterate, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.types import Array
from tests.library.core.drawn import WIDTHS, process_spec, ripley, sinc

EACH = process_spec(GaussianNoise(), warp="evidence", inputs=True)


def ended(spec: Spec = EACH, rows: int = 60) -> tuple[ProcessTask, State]:
    problem = pose(*sinc(rows, 0), spec)
    *_, last = iterate(problem, spec)
    return ProcessTask.of(problem), last


def test_the_curvature_is_that_of_the_bound() -> None:
    task, state = ended()
    process = process_of(state)
    h, rows, vectors = process.hyperparameters, task.rows(state), task.vectors(state)
    theta = h.packed()

    def value(step: Array) -> float:
        return bound(rows, vectors, task.kernel, task.problem.likelihood, h.unpacked(theta + step)).value

    active = np.arange(2)
    found = process_integral._curvature(task, state, process, active)
    steps = 1e-2 * np.eye(len(theta))
    for i in active:
        for j in active:
            corners = (value(a * steps[i] + b * steps[j]) * a * b for a in (1.0, -1.0) for b in (1.0, -1.0))
            assert found[i, j] == pytest.approx(-sum(corners) / 4e-4, rel=2e-2, abs=0.05)


def test_that_of_all_rows_is_judged_by_some(monkeypatch: pytest.MonkeyPatch) -> None:
    task, state = ended(rows=150)
    full = integral(task, state, process_of(state))
    monkeypatch.setattr(process_integral, "MAX_ROWS", 75)
    some = integral(task, state, process_of(state))
    assert some.value == pytest.approx(full.value, abs=1.5)
    assert some.input_map == pytest.approx(full.input_map, abs=1.5)


def test_what_was_not_learned_of_the_input_map_is_not_paid_for() -> None:
    task, state = ended(process_spec(GaussianNoise(), width=WIDTHS["fixed"]))
    assert integral(task, state, process_of(state)).input_map == 0.0


def test_learning_widths_and_bends_is_paid_for() -> None:
    task, state = ended()
    assert -30.0 < integral(task, state, process_of(state)).input_map < -1.0


def test_columns_without_kernel_that_are_in_were_chosen() -> None:
    spec = process_spec(GaussianNoise(), inputs=True)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    problem = pose(X, X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(80), spec)
    *_, last = iterate(problem, spec)
    task = ProcessTask.of(problem)
    (bias, inputs) = process_integral._without_kernel(task, last)
    assert bias == (1, 1)
    assert inputs[0] == 6
    assert 2 <= inputs[1] <= 6


def test_the_hyperprior_of_a_common_width_counts_as_a_density() -> None:
    problem = pose(*ripley(40, 0), process_spec(Bernoulli(), width=EvidencePerInputWidth(2.0)))
    *_, last = iterate(problem, process_spec(Bernoulli(), width=EvidencePerInputWidth(2.0)))
    task = ProcessTask.of(problem)
    h = process_of(last).hyperparameters
    normaliser, precision = process_integral._common_width(task, h)

    def log_density(theta: Array) -> float:
        return h.unpacked(theta).common_width(problem.spread, 2.0)[0]

    moves = 0.1 * np.eye(len(h.packed()))
    for one in moves:  # of a quadratic form a second difference is exact
        for other in moves:
            corners = (log_density(h.packed() + a * one + b * other) * a * b for a in (1.0, -1.0) for b in (1.0, -1.0))
            assert one @ precision @ other == pytest.approx(-0.25 * sum(corners), abs=1e-9)
    # Of two widths the difference is normal with variance 2/shrinkage, along the line whose length is its root of 1/2.
    offs = np.linspace(-20.0, 20.0, 4001)
    logs = np.array(
        [h.unpacked(h.packed() + _apart(h.packed(), off)).common_width(problem.spread, 2.0)[0] for off in offs]
    )
    assert np.trapezoid(np.exp(normaliser + logs), offs) == pytest.approx(1.0, rel=1e-6)


def _apart(theta: Array, off: float) -> Array:
    """A move of two log widths against one another by so much, measured along the line."""
    move = np.zeros_like(theta)
    move[-2:] = off / np.sqrt(2.0), -off / np.sqrt(2.0)
    return move
