"""import numpy as np"""

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential
from relevance_bayes.core.basis import Bias, KernelBasis, KernelFunctions
from relevance_bayes.core.errors import (
    ConstantTargetError,
    DataError,
    IllegalCombinationError,
    OneClassError,
    SparseBayesError,
)
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.models.fitting import fit, iterates, learned, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.prediction import RealPrediction, latent, predict
from tests.library.core.drawn import LIKELIHOODS, ripley, rows_for, sinc, spec_for


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_model_is_what_the_last_state_learned(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    X, t = rows_for(likelihood, 40, 0)
    spec = spec_for(likelihood)
    problem = pose(X, t, spec)
    *_, last = iterates(problem, spec)
    model = learned(problem, last)
    P = np.hstack([functions(X, np.arange(functions.size)) for functions in model.functions])
    np.testing.assert_allclose(P @ model.mean, problem.columns(last.state.active) @ last.state.weights, rtol=1e-9)
    R = len(last.state.active)
    assert model.covariance.shape == (R, R)
    np.testing.assert_allclose(model.gamma, 1.0 - model.alpha * model.covariance.diagonal(), atol=1e-9)
    assert (model.rows, model.inputs, model.candidates) == (40, X.shape[1], 41)
    assert model.termination == str(last.state.termination)
    assert model.evidence.value == last.state.objective + problem.log_jacobian
    for functions in model.functions:
        if isinstance(functions, KernelFunctions):
            np.testing.assert_array_equal(functions.centres, X[functions.rows])


def test_centres_state_which_rows_may_carry_a_function() -> None:
    centres = np.arange(0, 40, 4)
    model = fit(*sinc(40, 0), spec_for(GaussianNoise()), centres=centres)
    assert model.candidates == 11
    for functions in model.functions:
        if isinstance(functions, KernelFunctions):
            assert set(functions.rows.tolist()) <= set(centres.tolist())


@pytest.mark.parametrize("factor", [1e-8, 1e8])
def test_the_unit_of_the_targets_changes_neither_vectors_nor_predictions(factor: float) -> None:
    X, t = sinc(60, 0)
    one, other = (fit(X, unit * t, spec_for(GaussianNoise())) for unit in (1.0, factor))
    rows_of = [
        [functions.rows.tolist() for functions in model.functions if isinstance(functions, KernelFunctions)]
        for model in (one, other)
    ]
    assert rows_of[0] == rows_of[1]
    here, there = predict(one, X), predict(other, X)
    assert isinstance(here, RealPrediction)
    assert isinstance(there, RealPrediction)
    np.testing.assert_allclose(there.mean / factor, here.mean, rtol=1e-6)
    np.testing.assert_allclose(there.weights / factor**2, here.weights, rtol=1e-6)
    np.testing.assert_allclose(there.noise / factor**2, here.noise, rtol=1e-6)


def test_the_order_of_the_rows_changes_no_prediction() -> None:
    X, t = sinc(60, 0)
    order = np.random.default_rng(0).permutation(60)
    one = predict(fit(X, t, spec_for(GaussianNoise())), X)
    other = predict(fit(X[order], t[order], spec_for(GaussianNoise())), X)
    assert isinstance(one, RealPrediction)
    assert isinstance(other, RealPrediction)
    np.testing.assert_allclose(other.mean, one.mean, rtol=1e-5, atol=1e-8)


def test_only_a_bias_learns_the_mean() -> None:
    t = np.array([1.0, 2.0, 4.0, 3.0, 2.5])
    model = fit(np.zeros((5, 1)), t, Spec(GaussianNoise(), (Bias(),)))
    shrunk = float(model.gamma[0]) * float(t.mean())
    assert float(model.mean[0]) == pytest.approx(shrunk, rel=1e-6)


def test_inputs_that_are_all_one_point_can_be_learned_from() -> None:
    model = fit(np.ones((6, 2)), np.array([1.0, 2.0, 1.5, 1.2, 1.7, 1.1]), spec_for(GaussianNoise()))
    assert len(model.mean) == 1
    ripe = fit(np.ones((6, 2)), np.array([0.0, 1.0, 0.0, 1.0, 1.0, 1.0]), spec_for(Bernoulli()))
    assert len(ripe.mean) <= 1


@pytest.mark.parametrize("gap", [0.1, 10.0])
def test_classes_that_can_be_separated_end_with_finite_numbers(gap: float) -> None:
    x = np.concatenate([np.linspace(-2.0, -gap / 2.0, 15), np.linspace(gap / 2.0, 2.0 + gap, 15)])
    model = fit(x[:, None], (x > 0.0).astype(np.float64), spec_for(Bernoulli(), width=1.0))
    assert np.isfinite(model.mean).all()
    assert np.isfinite(model.covariance).all()
    assert len(model.mean) <= 6


@pytest.mark.parametrize("rows", [2, 3])
def test_two_or_three_rows_are_enough(rows: int) -> None:
    fit(np.arange(float(rows))[:, None], np.arange(float(rows)) ** 2, spec_for(GaussianNoise()))
    fit(np.arange(float(rows))[:, None], np.arange(float(rows)) % 2, spec_for(Bernoulli()))


def test_a_constant_target_is_refused_where_noise_is_learned() -> None:
    with pytest.raises(ConstantTargetError):
        fit(np.arange(4.0)[:, None], np.ones(4), spec_for(GaussianNoise()))


def test_a_constant_target_can_be_learned_where_noise_is_known() -> None:
    model = fit(np.arange(6.0)[:, None], np.full(6, 5.0), spec_for(GaussianNoise(0.1)))
    predicted = predict(model, np.arange(6.0)[:, None])
    assert isinstance(predicted, RealPrediction)
    np.testing.assert_allclose(predicted.mean, 5.0, atol=0.05)


def test_targets_that_are_all_zero_leave_the_model_empty() -> None:
    assert len(fit(np.arange(6.0)[:, None], np.zeros(6), spec_for(GaussianNoise(0.1))).mean) == 0


def test_one_class_is_refused() -> None:
    with pytest.raises(OneClassError):
        fit(np.arange(4.0)[:, None], np.ones(4), spec_for(Bernoulli()))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(bad: float) -> None:
    X, t = ripley(10, 0)
    X[3, 1] = bad
    with pytest.raises(DataError, match="finite"):
        fit(X, t, spec_for(Bernoulli()))


def test_shapes_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(DataError, match="shapes"):
        fit(np.ones((4, 1)), np.arange(5.0), spec_for(GaussianNoise()))


def test_an_illegal_combination_is_refused() -> None:
    with pytest.raises(IllegalCombinationError):
        fit(*sinc(10, 0), Spec(GaussianNoise(), ()))


def test_a_width_to_be_searched_for_is_not_a_fits_affair() -> None:
    with pytest.raises(SparseBayesError, match="fixed"):
        fit(*sinc(10, 0), Spec(GaussianNoise()))


def test_several_dictionaries_are_side_by_side() -> None:
    basis = (KernelBasis(width=FixedWidth(1.0)), Bias(), KernelBasis(width=FixedWidth(4.0)))
    model = fit(*sinc(40, 0), Spec(GaussianNoise(), basis))
    assert model.candidates == 81
    predicted = predict(model, sinc(40, 0)[0])
    assert isinstance(predicted, RealPrediction)
    assert float(np.sqrt(np.mean((predicted.mean - np.sinc(sinc(40, 0)[0][:, 0] / np.pi)) ** 2))) < 0.1


def test_a_width_for_each_input_divides_it() -> None:
    X, t = ripley(40, 0)
    widths = np.array([0.5, 2.0])
    each, bare = (Spec(Bernoulli(), (KernelBasis(width=FixedWidth(given)), Bias())) for given in (tuple(widths), 1.0))
    one, other = fit(X, t, each), fit(X / widths, t, bare)
    np.testing.assert_allclose(latent(one, X).mean, latent(other, X / widths).mean, rtol=1e-9)
    assert one.evidence.value == pytest.approx(other.evidence.value, rel=1e-12)


@pytest.mark.parametrize(
    ("widths", "detail"),
    [
        ((1.0,), "expected 2 widths, one for each input, got 1"),
        ((1.0, 2.0, 3.0), "expected 2 widths, one for each input, got 3"),
        ((1.0, 0.0), "expected widths above 0, got 1.0, 0.0"),
        (-1.0, "expected widths above 0, got -1.0"),
        (float("nan"), "expected widths above 0, got nan"),
        (float("inf"), "expected widths above 0, got inf"),
    ],
)
def test_widths_that_do_not_fit_the_inputs_are_refused(widths: float | tuple[float, ...], detail: str) -> None:
    with pytest.raises(IllegalCombinationError, match=detail) as refused:
        pose(*ripley(10, 0), Spec(Bernoulli(), (KernelBasis(width=FixedWidth(widths)),)))
    assert refused.value.field == "basis"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "width", [0.066, *(pytest.param(width, marks=pytest.mark.thorough) for width in (0.063, 0.07))]
)
@pytest.mark.parametrize("algorithm", [Sequential(), Sequential("single"), ReEstimation()], ids=str)
def test_a_wave_without_noise_is_learned_by_functions_that_are_hardly_different(
    algorithm: Algorithm, width: float
) -> None:
    """Noise falls to nothing, and rounding must decide neither what enters nor how sure the weights are."""
    x = np.sin(np.arange(300.0))[:, None]
    spec = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(width)), Bias()), algorithm=algorithm)
    model = fit(x, np.sin(40.0 * x[:, 0]), spec)
    assert ((model.gamma >= 0.0) & (model.gamma <= 1.0)).all()
    between = np.linspace(-0.9, 0.9, 50)
    predict(model, x)
    np.testing.assert_allclose(latent(model, between[:, None]).mean, np.sin(40.0 * between), atol=0.001)
