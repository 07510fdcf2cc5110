"""Error bars under independent precisions: the fast form against a refit, and what they are far from the data."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.basis import Bias, KernelBasis, KernelFunctions, evaluate
from relevance_bayes.core.inference import posterior as module
from relevance_bayes.core.inference.posterior import Augmentation, Augmented
from relevance_bayes.core.kernels import Gaussian, Kernel, Laplacian, Linear, Matern32
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    Categorical,
    GaussianNoise,
    LogGaussian,
    OneAgainstRest,
    Poisson,
    StudentT,
)
from relevance_bayes.core.models.fitting import fit as fit_plainly
from relevance_bayes.core.models.fitting import iterates, pose
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import RealPrediction, latent, predict
from relevance_bayes.core.types import Array
from tests.library.core.drawn import friedman, ring, rows_for, sinc, spec_for

NEW = np.linspace(-16.0, 16.0, 23)[:, None]


def fit(X: Array, t: Array, spec: Spec) -> Model:
    """A model that keeps what error bars need."""
    model = fit_plainly(X, t, spec)
    return replace(model, augmentation=Augmentation.of(pose(X, t, spec), model.functions))


def refitted(model: Model, X: Array, t: Array, x: Array) -> tuple[float, float]:
    """Variance of the function at x (1, d) with the column k(., x) in the model, and the share of 1/a* in it."""
    assert model.augmentation is not None
    assert model.noise_sd is not None
    kernel = model.augmentation.functions
    every = np.arange(kernel.size)
    own = kernel.moved(kernel.input_map, x, np.zeros(1, np.intp))
    P = np.hstack([evaluate(model.functions, X), own(X, every[:1])])
    targets, _ = model.likelihood.working(t)
    prior = float(targets.var(axis=0).mean()) - model.noise_sd**2
    alpha = np.append(model.alpha, 1.0 / prior)
    Sigma = np.linalg.solve(np.diag(alpha) + P.T @ P / model.noise_sd**2, np.eye(len(alpha)))
    phi = np.append(evaluate(model.functions, x)[0], 1.0)
    return float(phi @ Sigma @ phi), prior


@pytest.mark.parametrize("kernel", [Gaussian(), Matern32(), Laplacian()], ids=lambda member: member.type)
def test_the_variance_is_that_of_a_refit_with_a_function_at_the_point(kernel: Kernel) -> None:
    X, t = sinc(60, 0)
    model = fit(X, t, spec_for(GaussianNoise(), kernel=kernel, width=2.0))
    found = latent(model, NEW)
    assert found.support is not None
    for n, x in enumerate(NEW):
        full, prior = refitted(model, X, t, x[None])
        assert found.weights[n] + found.residual[n] == pytest.approx(full, rel=1e-8)
        assert found.support[n] == pytest.approx(1.0 - found.residual[n] / prior, abs=1e-9)


def test_several_inputs_are_refitted_alike() -> None:
    X, t, _ = friedman(80, 0)
    model = fit(X, t, spec_for(GaussianNoise(), width=4.0))
    points = np.random.default_rng(1).normal(0.0, 2.0, (5, 10))
    found = latent(model, points)
    for n, x in enumerate(points):
        full, _ = refitted(model, X, t, x[None])
        assert found.variance[n] == pytest.approx(full, rel=1e-7)


@pytest.mark.parametrize("classes", [2, 4])
def test_latents_that_share_precisions_share_that_of_the_new_function(classes: int) -> None:
    """One 1/a* for all, the mean over the latents of what their targets vary by beyond the noise."""
    likelihood = OneAgainstRest(classes)
    X, t = ring(60, 0, classes)
    model = fit(X, t, spec_for(likelihood))
    points = np.random.default_rng(1).normal(0.0, 2.0, (9, 2))
    found = latent(model, points)
    for n, x in enumerate(points):
        full, _ = refitted(model, X, t, x[None])
        assert found.variance[n] == pytest.approx(full, rel=1e-8)
    assert model.noise_sd is not None
    far = latent(model, np.array([[1e3, 0.0]]))
    assert far.residual[0] == pytest.approx((classes - 1.0) / classes**2 - model.noise_sd**2, rel=1e-9)
    assert far.support is not None
    assert far.support[0] == 0.0


def test_the_mean_keeps_its_value() -> None:
    X, t = sinc(60, 0)
    model = fit(X, t, spec_for(GaussianNoise()))
    plain = replace(model, augmentation=None)
    np.testing.assert_array_equal(latent(model, NEW).mean, latent(plain, NEW).mean)
    np.testing.assert_array_equal(latent(model, NEW).weights, latent(plain, NEW).weights)
    np.testing.assert_array_equal(latent(plain, NEW).residual, 0.0)
    assert latent(plain, NEW).support is None


@pytest.mark.parametrize("rows", [60, 600])
def test_far_from_all_rows_the_sd_is_that_of_the_targets(rows: int) -> None:
    X, t = sinc(rows, 0)
    model = fit(X, t, spec_for(GaussianNoise()))
    far = np.array([[1e3], [-1e6]])
    predicted = predict(model, far)
    assert isinstance(predicted, RealPrediction)
    assert (np.sqrt(predicted.variance) >= 0.9 * t.std()).all()
    support = latent(model, far).support
    assert support is not None
    np.testing.assert_array_equal(support, 0.0)


@pytest.mark.parametrize("rows", [100, 1_000])
def test_among_the_rows_the_data_speak_and_little_is_added(rows: int) -> None:
    X, t = sinc(rows, 0)
    found = latent(fit(X, t, spec_for(GaussianNoise())), np.linspace(-9.0, 9.0, 50)[:, None])
    assert found.support is not None
    assert found.support.min() > 0.9
    assert found.support.max() <= 1.0
    assert found.residual.min() >= 0.0
    assert found.residual.mean() < 0.002


def test_many_rows_are_drawn_by_content_and_represent_all() -> None:
    X, t = sinc(1_000, 0)
    spec = spec_for(GaussianNoise())
    model = fit(X, t, spec)
    kept = model.augmentation
    assert kept is not None
    assert kept.functions.size == module.MAX_ROWS
    order = np.random.default_rng(0).permutation(1_000)
    again = Augmentation.of(pose(X[order], t[order], spec), model.functions)
    assert again is not None
    assert sorted(again.functions.centres[:, 0].tolist()) == sorted(kept.functions.centres[:, 0].tolist())
    # At the edge a new function is known by few rows: few of a thousand give about the same as all.
    edge = np.linspace(10.0, 14.0, 9)[:, None]
    everywhere = kept.functions.moved(kept.functions.input_map, X, np.arange(1_000))
    full = replace(model, augmentation=Augmentation(everywhere, kept.spread))
    some, every = latent(model, edge).support, latent(full, edge).support
    assert some is not None
    assert every is not None
    np.testing.assert_allclose(some, every, atol=0.05)


def test_a_model_of_the_bias_alone_has_the_kernel_of_its_candidates() -> None:
    X, t = sinc(40, 0)
    spec = spec_for(GaussianNoise(), kernel=Matern32(), width=2.0)
    kept = Augmentation.of(pose(X, t, spec), ())
    assert kept is not None
    assert kept.functions.kernel == Matern32()
    noise = np.random.default_rng(0).standard_normal(40)
    model = replace(fit_plainly(X, noise, spec_for(GaussianNoise(1.5))), augmentation=kept)
    assert np.isfinite(latent(model, NEW).variance).all()


def test_noise_as_large_as_the_targets_leaves_nothing_to_add() -> None:
    X, t = sinc(40, 0)
    found = latent(fit(X, t, spec_for(GaussianNoise(10.0))), NEW)
    np.testing.assert_array_equal(found.residual, 0.0)
    assert found.support is not None
    assert ((found.support >= 0.0) & (found.support <= 1.0)).all()


def test_the_first_kernel_that_falls_with_distance_is_taken() -> None:
    X, t = sinc(40, 0)
    spec = Spec(GaussianNoise(), (KernelBasis(Linear(), FixedWidth(1.0)), KernelBasis(Gaussian(), FixedWidth(2.0))))
    problem = pose(X, t, spec)
    kept = Augmentation.of(problem, problem.candidates.dictionaries[:1])
    assert kept is not None
    assert isinstance(kept.functions, KernelFunctions)
    assert kept.functions.kernel == Gaussian()
    only = pose(X, t, replace(spec, basis=(spec.basis[0], Bias())))
    assert Augmentation.of(only, ()) is None


@pytest.mark.parametrize(
    "likelihood", [Bernoulli(), Poisson(), StudentT(), Categorical(3)], ids=lambda member: member.type
)
def test_without_gaussian_noise_nothing_is_kept(likelihood: Bernoulli | Poisson | StudentT | Categorical) -> None:
    X, t = rows_for(likelihood, 40, 0)
    assert Augmentation.of(pose(X, t, spec_for(likelihood)), ()) is None


def test_the_logarithm_of_a_positive_target_is_no_other_case() -> None:
    X, t = rows_for(LogGaussian(), 40, 0)
    spec = spec_for(LogGaussian())
    model = fit(X, t, spec)
    assert model.augmentation is not None
    assert model.augmentation.spread == pytest.approx(float(np.log(t).var()))


def test_the_end_of_a_fit_keeps_it() -> None:
    X, t = sinc(40, 0)
    spec = spec_for(GaussianNoise())
    problem = pose(X, t, spec)
    *_, last = iterates(problem, spec)
    kept = last.kept(problem).augmentation
    assert kept is not None
    np.testing.assert_array_equal(kept.functions.centres, X)


def test_weights_that_the_data_determine_beyond_rounding_have_error_bars() -> None:
    """P'P/noise^2 is singular there, and the identity beside it lost."""
    X, t = sinc(60, 0)
    model = fit(X, t, spec_for(GaussianNoise(), width=5.0))
    assert model.augmentation is not None
    every = model.augmentation.functions
    exact = Augmented.of(model.augmentation, (every,), np.ones(every.size), noise_sd=1e-7, rows=len(X))
    at = np.array([[-60.0], [-8.0], [0.5], [7.0], [60.0]])
    assert exact.left(at, evaluate((every,), at)) == pytest.approx([1.0, 0.0, 0.0, 0.0, 1.0], abs=1e-6)
