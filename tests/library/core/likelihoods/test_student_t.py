from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from scipy.stats import t as student

from relevance_bayes.core.errors import ConstantTargetError
from relevance_bayes.core.likelihoods import StudentT
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.student_t import MAX_DOF, MIN_DOF, HeavyTailedPrediction
from relevance_bayes.core.types import Array

TAILS = [2.1, 3.0, 8.0, 60.0, 200.0]
each_dof = pytest.mark.parametrize("dof", TAILS)
each_share = pytest.mark.parametrize("latent_sd", [0.0, 0.1, 1.0, 30.0])


def predicted(dof: float, latent_sd: float, rows: int = 1) -> HeavyTailedPrediction:
    """Noise of scale 1 about a latent of mean 2."""
    half = np.full(rows, 0.5 * latent_sd**2)
    sd = (dof / (dof - 2.0)) ** 0.5
    return StudentT(dof).predictive(LatentGaussian(np.full(rows, 2.0), half, half), sd)


def density(at: float, dof: float, latent_sd: float) -> float:
    """Of the sum of both, by quadrature over the latent."""
    if latent_sd == 0.0:
        return float(student.pdf(at - 2.0, dof))
    peaks = sorted({-12.0, 12.0, *(float(np.clip((at - 2.0 + d) / latent_sd, -12.0, 12.0)) for d in (-9, -3, 0, 3, 9))})
    pieces = pairwise(peaks)
    return sum(
        quad(lambda z: float(student.pdf(at - 2.0 - latent_sd * z, dof) * norm.pdf(z)), low, high, epsabs=1e-15)[0]
        for low, high in pieces
    )


@pytest.mark.thorough
@each_dof
@each_share
def test_the_density_is_that_of_noise_and_latent_added(dof: float, latent_sd: float) -> None:
    at = np.array([2.0, 2.5, -1.0, 12.0, 60.0])
    found = predicted(dof, latent_sd, 5).log_density(at)
    expected = np.log([density(float(one), dof, latent_sd) for one in at])
    np.testing.assert_allclose(found, expected, atol=1e-7)


@each_dof
def test_an_observation_however_far_out_has_a_finite_log_density(dof: float) -> None:
    found = predicted(dof, 0.0, 3).log_density(np.array([1e2, 1e3, -1e3]))
    np.testing.assert_allclose(found, student.logpdf(np.array([1e2, 1e3, -1e3]) - 2.0, dof), rtol=1e-6)


@each_dof
@pytest.mark.parametrize("probability", [0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999])
def test_without_latent_variance_quantiles_are_those_of_students_t(dof: float, probability: float) -> None:
    (found,) = predicted(dof, 0.0).quantile(probability)
    assert found == pytest.approx(2.0 + float(student.ppf(probability, dof)), abs=1e-6)


@each_dof
@each_share
def test_quantiles_enclose_their_probability(dof: float, latent_sd: float) -> None:
    prediction, z = predicted(dof, latent_sd), np.linspace(-8.5, 8.5, 20_001)
    for probability in (0.025, 0.6, 0.975):
        below = student.cdf(float(prediction.quantile(probability)[0]) - 2.0 - latent_sd * z, dof)
        assert float(below @ norm.pdf(z) / norm.pdf(z).sum()) == pytest.approx(probability, abs=1e-7)


@each_dof
def test_the_variance_is_the_noises_and_the_latents(dof: float) -> None:
    prediction = predicted(dof, 1.0)
    np.testing.assert_allclose(prediction.noise, dof / (dof - 2.0))
    np.testing.assert_allclose(prediction.variance, dof / (dof - 2.0) + 1.0)


def residuals(dof: float) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    return rng.standard_t(dof, 4_000), np.full(4_000, 1e-9)


@pytest.mark.parametrize("dof", [3.0, 6.0])
def test_degrees_of_freedom_are_learned_from_the_rows(dof: float) -> None:
    t, v = residuals(dof)
    found = StudentT().tuned(t, np.zeros(4_000), v, 1.0)
    assert isinstance(found.degrees_of_freedom, float)
    assert found.degrees_of_freedom == pytest.approx(dof, rel=0.15)
    here, *there = (
        float(StudentT(dof).expected(t, np.zeros(4_000), v, 1.0).value.sum())
        for dof in (found.degrees_of_freedom, found.degrees_of_freedom * 1.01, found.degrees_of_freedom / 1.01)
    )
    assert here > max(there)


def test_gaussian_noise_has_the_most_degrees_of_freedom_and_wild_noise_the_least() -> None:
    rng, none = np.random.default_rng(1), np.zeros(2_000)
    assert StudentT().tuned(rng.uniform(-1.0, 1.0, 2_000), none, none, 1.0).degrees_of_freedom == MAX_DOF
    assert StudentT().tuned(rng.standard_cauchy(2_000), none, none, 1.0).degrees_of_freedom == MIN_DOF


def test_given_degrees_of_freedom_stay() -> None:
    t, v = residuals(3.0)
    assert StudentT(7.0).tuned(t, np.zeros(4_000), v, 1.0) == StudentT(7.0)


def test_rows_far_off_are_distinguished_by_their_typicality() -> None:
    prediction = predicted(4.0, 0.1, 3)
    usual, odd, outlier = StudentT(4.0).typicality(prediction, np.array([2.5, 6.0, 50.0]))
    assert usual > 1.0
    assert usual > odd > outlier
    assert outlier < 0.01


def test_targets_that_are_all_one_number_are_refused() -> None:
    with pytest.raises(ConstantTargetError, match=r"2\.5"):
        StudentT().check(np.full(5, 2.5))
