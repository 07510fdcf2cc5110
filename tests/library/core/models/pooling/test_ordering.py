"""The order of a pool member's functions: it ends where those left cost little, by the exact evidence."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.algorithms import task
from relevance_bayes.core.inference.evidence import Chosen
from relevance_bayes.core.kernels import Covariance, Gaussian, Matern32
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import FitLog, pose
from relevance_bayes.core.models.pooling import members as learning
from relevance_bayes.core.models.pooling.members import Ordered, Whole, total_gain, whole
from tests.library.core.drawn import friedman, process_spec

ROWS = 90

each_kernel = pytest.mark.parametrize("kernel", [Gaussian(), Matern32()], ids=lambda kernel: kernel.type)
each_noise = pytest.mark.parametrize("by_row", [False, True], ids=["one noise", "noise by row"])


@cache
def member(kernel: Covariance, *, by_row: bool = False, rows: int = ROWS) -> Whole:
    """With bias and linear columns, and in other units than the standardised ones."""
    X, t, _ = friedman(rows, 0)
    spec = process_spec(GaussianNoise("rows" if by_row else "learned"), kernel=kernel, inputs=True)
    noise_sd = np.random.default_rng(1).uniform(0.5, 2.0, rows) if by_row else None
    problem = pose(X, 1_000.0 + 30.0 * t, spec, noise_sd=noise_sd)
    return [*whole(problem, spec, FitLog())][-1]


@cache
def complete(kernel: Covariance, *, by_row: bool = False) -> Ordered:
    """The order of all functions that gain a millionth of a nat."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "MIN_GAIN", 1e-6)
        return Ordered.of(member(kernel, by_row=by_row))


def everything(one: Whole) -> float:
    _, rows = one.task.rows_for_functions(one.state)
    U = one.hyperparameters.input_map(rows.X)
    return total_gain(one, rows, one.hyperparameters.covariance(one.task.kernel)(U, U))


@each_kernel
@each_noise
def test_all_functions_gain_what_the_evidence_of_the_process_is_above_that_of_no_function(
    kernel: Covariance, by_row: bool
) -> None:
    found = complete(kernel, by_row=by_row)
    assert found.total_gain == everything(member(kernel, by_row=by_row))
    assert found.chosen.gains.sum() == pytest.approx(found.total_gain, abs=0.01)
    assert 0.0 <= found.left < 0.01


@each_kernel
@each_noise
def test_the_evidence_of_scales_of_fewer_rows_is_computed_on_the_rows_of_the_order(
    kernel: Covariance, by_row: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = member(kernel, by_row=by_row)
    known = everything(one)
    monkeypatch.setattr(task, "ROWS_FOR_SCALES", ROWS - 1)
    assert everything(one) == pytest.approx(known, rel=1e-9)


@each_kernel
@pytest.mark.parametrize("max_loss", [0.0005, 0.001, 0.02, 0.2])
def test_an_order_that_ends_early_is_the_begin_of_the_complete_one_and_knows_what_is_left(
    kernel: Covariance, max_loss: float
) -> None:
    full, early = complete(kernel), Ordered.of(member(kernel), max_loss=max_loss)
    size = len(early.chosen.gains)
    assert 0 < size < len(full.chosen.gains)
    np.testing.assert_array_equal(early.chosen.places, full.chosen.places[:size])
    assert early.left == pytest.approx(full.chosen.gains[size:].sum(), rel=1e-2, abs=1e-3)
    assert 0.25 * np.log1p(2.0 * early.left / ROWS) <= max_loss
    assert 0.25 * np.log1p(2.0 * (early.left + early.chosen.gains[-1]) / ROWS) > max_loss
    assert not early.is_cut


def test_an_order_of_at_most_so_many_functions_is_cut_where_they_gain_much() -> None:
    full, few = complete(Gaussian()), Ordered.of(member(Gaussian()), max_functions=5)
    np.testing.assert_array_equal(few.chosen.places, full.chosen.places[:5])
    assert few.is_cut
    assert few.left == pytest.approx(full.chosen.gains[5:].sum(), abs=0.01)


def test_where_every_loss_is_allowed_no_function_is_ordered() -> None:
    found = Ordered.of(member(Gaussian()), max_loss=1e9)
    assert len(found.chosen.places) == 0
    assert found.left == found.total_gain


@pytest.mark.parametrize(("excess", "is_cut"), [(0.5, False), (1.5, True)])
def test_an_order_whose_gains_are_more_than_there_is_counts_as_cut(excess: float, is_cut: bool) -> None:
    found = complete(Gaussian())
    assert found.total_gain is not None
    gains = found.chosen.gains.copy()
    gains[0] += excess + found.left
    wrong = replace(found, chosen=Chosen(found.chosen.places, gains, found.chosen.next_gain))
    assert wrong.is_cut is is_cut
    assert wrong.left == 0.0


def test_of_more_rows_than_an_exact_process_has_nothing_is_known_to_be_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "MAX_ROWS_FOR_EXACT", ROWS - 1)
    found = Ordered.of(member(Gaussian()), max_loss=0.1)
    assert (found.total_gain, found.left) == (None, 0.0)
    assert found.chosen.gains[-1] >= learning.MIN_GAIN > found.chosen.next_gain


@each_kernel
def test_hardly_any_noise_leaves_an_order_whose_gains_are_no_more_than_there_is(kernel: Covariance) -> None:
    X = np.random.default_rng(0).uniform(0.0, 1.0, (80, 3))
    t = X[:, 0] * X[:, 1] / (0.1 + X[:, 2])
    spec = process_spec(GaussianNoise(), kernel=kernel, inputs=True)
    one = [*whole(pose(X, t, spec), spec, FitLog())][-1]
    assert one.hyperparameters.beta * one.problem.square > 1e4
    found = Ordered.of(one)
    assert found.total_gain is not None
    assert np.isfinite(found.chosen.gains).all()
    assert found.chosen.gains.sum() <= found.total_gain + 1.0
