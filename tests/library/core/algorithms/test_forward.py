"""Kinds of functions mixed: each alone, then together from the best."""

from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import pytest

from relevance_bayes.core.algorithms import sequential as forward
from relevance_bayes.core.algorithms.sequential import kinds
from relevance_bayes.core.algorithms.state import AGAIN, BACKWARD, FORWARD, ONE_KIND, State, price_in, rebuild
from relevance_bayes.core.basis import Basis, Bias, Group, Inputs, KernelBasis
from relevance_bayes.core.dictionaries import BSplines, Fourier, StepFunctions, Steps
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models import fitting
from relevance_bayes.core.models.fitting import fit, iterate, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.types import Array

BUMPS = tuple(KernelBasis(width=FixedWidth(width)) for width in (0.01, 0.03, 0.1))
MIXED = Spec(GaussianNoise(), (Steps(), *BUMPS, Bias()), Independent(price=True))


def staircase(rows: int = 256, seed: int = 0) -> tuple[Array, Array]:
    """Seven jumps of a size, noise of sd .3."""
    x = np.arange(rows) / rows
    t = sum(((-1.0) ** k) * 4.0 * (x >= place) for k, place in enumerate((0.1, 0.13, 0.23, 0.25, 0.4, 0.65, 0.81)))
    return x[:, None], t + 0.3 * np.random.default_rng(seed).standard_normal(rows)


def states(spec: Spec = MIXED, start: State | None = None) -> list[State]:
    return list(iterate(pose(*staircase(), spec), spec, start))


@pytest.mark.parametrize("seed", range(3))
def test_a_staircase_is_represented_by_its_steps_though_bumps_are_offered(seed: int) -> None:
    X, t = staircase(seed=seed)
    found = fit(X, t, MIXED)
    assert sum(functions.size for functions in found.functions if isinstance(functions, StepFunctions)) == 7
    assert len(found.mean) <= 9
    assert found.noise_sd == pytest.approx(0.3, rel=0.15)


def test_every_way_is_tried_and_the_best_is_continued() -> None:
    visited = states()
    phases = [phase for phase, _ in groupby(state.phase for state in visited)]
    assert phases == [FORWARD, f"{ONE_KIND}0", f"{ONE_KIND}1", AGAIN, BACKWARD]
    best = [state.best for state in visited if state.phase == f"{ONE_KIND}1"][-1]
    assert best is not None
    assert best.phase == f"{ONE_KIND}0"  # the steps
    first = next(state for state in visited if state.phase == BACKWARD)
    largest = max(state.best.objective for state in visited if state.best is not None)
    assert first.objective == pytest.approx(largest, rel=1e-9)


def test_the_objective_never_falls_within_a_phase() -> None:
    for before, after in pairwise(states()):
        if before.phase == after.phase:
            assert after.objective >= before.objective - 1e-9 * (1.0 + abs(before.objective))


def test_the_best_is_what_it_reports_in_the_numbers_of_all_candidates() -> None:
    problem = pose(*staircase(), MIXED)
    bests = {state.best.iteration: state.best for state in states() if state.best is not None}
    assert len(bests) > 5
    for best in bests.values():
        full = price_in(problem, BACKWARD).of(len(best.active))
        assert rebuild(problem, replace(best, phase=None)).evidence.value - full == pytest.approx(
            best.objective, rel=1e-9
        )


def test_a_fit_goes_on_from_any_of_its_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "REBUILT_EVERY", 1)
    visited = states()
    last = visited[-1]
    for number in np.linspace(0, len(visited) - 2, 7).astype(int):
        resumed = states(start=visited[number])[-1]
        assert (resumed.active, resumed.objective, resumed.iteration) == (last.active, last.objective, last.iteration)
        np.testing.assert_array_equal(resumed.weights, last.weights)


@pytest.mark.parametrize(
    ("basis", "expected"),
    [
        ((Steps(), Bias()), ()),
        ((*BUMPS, Bias()), ()),
        ((Steps(), Bias(), BSplines()), ((0, 1), (1, 2))),
        ((*BUMPS, Bias(), Steps()), ((0, 1, 2, 3), (3, 4))),
        ((Group((0,), Steps()), Group((0,), BSplines())), ((0,), (1,))),
        ((Inputs(), Bias(), Steps()), ()),
        ((Fourier(5), Bias(), Steps(), BSplines()), ((0, 1, 2), (0, 1, 3))),
    ],
)
def test_kinds_are_dictionaries_of_several_functions_by_what_they_are(
    basis: tuple[Basis, ...], expected: tuple[tuple[int, ...], ...]
) -> None:
    assert kinds(pose(*staircase(), replace(MIXED, basis=basis))) == expected


def test_too_many_candidates_are_not_tried_kind_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward, "MAX_CELLS", 1_000)
    assert [phase for phase, _ in groupby(state.phase for state in states())] == [FORWARD, BACKWARD]


def test_without_a_price_there_is_one_way() -> None:
    assert {state.phase for state in states(replace(MIXED, prior=Independent(), basis=(Steps(), *BUMPS[:1])))} == {None}
