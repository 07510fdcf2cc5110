from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.local.learning import LocalTask, ScoredKernel
from relevance_bayes.core.local.validation import validated
from tests.library.core.local.drawn_locally import plausible, posed, wavy


def scored(task: LocalTask, *, noise: float = 0.1, width: float = 1.0) -> ScoredKernel:
    h = plausible(task.problem, noise=noise)
    widths = replace(h.input_map, widths=width * h.input_map.widths)
    return ScoredKernel(Gaussian(), replace(h, input_map=widths), 0.0)


def test_a_process_that_holds_is_accepted_with_its_variances() -> None:
    task = LocalTask(posed(*wavy()), neighbours=64)
    found = validated(task, scored(task))
    assert found.refusal is None
    assert found.rows == 100
    assert found.score > found.linear + 0.5
    assert found.variance_factor == pytest.approx(1.0, abs=0.4)
    assert 0.9 <= found.coverage <= 1.0
    assert 1.0 / found.hyperparameters.beta == pytest.approx(found.variance_factor * 0.01)


def test_the_factor_mends_the_variances_and_no_mean() -> None:
    task = LocalTask(posed(*wavy()), neighbours=64)
    given = scored(task, noise=0.08)
    found = validated(task, given)
    before, after = (task.held_out(Gaussian(), one, 64) for one in (given.hyperparameters, found.hyperparameters))
    np.testing.assert_allclose(after.mean, before.mean, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(after.t, task.rows.t[task.learned :])
    assert float(np.mean((after.t - after.mean) ** 2 / after.variance)) == pytest.approx(1.0, rel=1e-9)
    assert found.score == pytest.approx(float(after.log_density.mean()), rel=1e-9)
    assert found.score > float(before.log_density.mean())


def test_known_noise_keeps_its_variance() -> None:
    task = LocalTask(posed(*wavy(), GaussianNoise(0.08)), neighbours=64)
    found = validated(task, scored(task, noise=0.08))
    assert found.hyperparameters.beta == pytest.approx(0.08**-2)
    assert found.variance_factor > 1.1


def test_scales_that_see_no_structure_are_refused_beside_noise() -> None:
    rng = np.random.default_rng(0)
    task = LocalTask(posed(rng.standard_normal((400, 3)), rng.standard_normal(400)), neighbours=64)
    found = validated(task, scored(task))
    assert found.refusal == "no better than noise"


def test_scales_that_are_too_narrow_are_refused_beside_a_linear_model() -> None:
    X, _ = wavy(400)
    task = LocalTask(posed(X, X[:, 2] + 0.3 * np.random.default_rng(1).standard_normal(400)), neighbours=64)
    found = validated(task, scored(task, noise=0.3, width=0.3))
    assert found.refusal == "no better than a linear model"
    assert found.linear == pytest.approx(-0.5 * np.log(2.0 * np.pi * np.e * 0.09), abs=0.2)


def test_a_process_equal_to_a_linear_model_is_refused() -> None:
    X, _ = wavy(400)
    task = LocalTask(posed(X, X[:, 0] + 0.3 * np.random.default_rng(1).standard_normal(400)), neighbours=200)
    given = scored(task, noise=0.3, width=20.0)
    found = validated(task, replace(given, hyperparameters=replace(given.hyperparameters, signal_variance=200.0)))
    assert found.refusal == "no better than a linear model"
    assert found.score == pytest.approx(found.linear, abs=0.03)


def test_variances_that_are_far_from_errors_are_refused() -> None:
    task = LocalTask(posed(*wavy()), neighbours=64)
    found = validated(task, scored(task, noise=0.03))
    assert found.refusal == "predicted variances do not hold"
