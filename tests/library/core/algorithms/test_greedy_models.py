"""The accuracy of models under a Gaussian process prior, also on difficult rows."""

from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, Width
from relevance_bayes.core.likelihoods import Bernoulli, Categorical, GaussianNoise
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.prediction import ClassPrediction, RealPrediction, predict, scores
from relevance_bayes.core.types import Array
from tests.library.core.drawn import WIDTHS, friedman, process_spec, ripley, sinc, spec_for

each_width = pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)

GRID = np.linspace(-10.0, 10.0, 200)[:, None]
CURVE = np.sinc(GRID[:, 0] / np.pi)


def predicted(model: Model, X: Array) -> RealPrediction:
    found = predict(model, X)
    assert isinstance(found, RealPrediction)
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.variance).all()
    return found


def vectors_of(model: Model) -> KernelFunctions:
    (functions,) = [member for member in model.functions if isinstance(member, KernelFunctions)]
    return functions


def size_of(model: Model) -> int:
    """The number of kernel functions."""
    return sum(functions.size for functions in model.functions if isinstance(functions, KernelFunctions))


def rmse(model: Model, X: Array, f: Array) -> float:
    return float(np.sqrt(np.mean((predicted(model, X).mean - f) ** 2)))


@cache
def of_sinc(name: str, seed: int) -> Model:
    return fit(*sinc(100, seed), process_spec(GaussianNoise(), width=WIDTHS[name]))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", WIDTHS)
def test_a_curve_is_found_with_honest_error_bars(name: str, seed: int) -> None:
    model = of_sinc(name, seed)
    assert rmse(model, GRID, CURVE) < 0.045
    fresh = CURVE + 0.1 * np.random.default_rng(100 + seed).standard_normal(len(CURVE))
    assert 0.85 <= scores(predicted(model, GRID), fresh)["coverage_95"] <= 1.0
    assert size_of(model) <= 20


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", WIDTHS)
def test_far_from_the_data_nothing_is_known(name: str, seed: int) -> None:
    _, t = sinc(100, seed)
    model = of_sinc(name, seed)
    far = predicted(model, np.array([[1e3], [-1e3]]))
    assert model.signal_variance is not None
    np.testing.assert_allclose(far.residual, model.signal_variance)
    # With a width that is given the curve's own size decides, which is nearly 0 on most of its rows.
    assert (far.variance >= (0.6 if name == "fixed" else 0.9) * t.var()).all()


def test_friedmans_function_is_learned_far_better_than_by_independent_precisions() -> None:
    X, t, _ = friedman(240, 0)
    X_new, _, f = friedman(500, 1)
    process = rmse(fit(X, t, process_spec(GaussianNoise(), inputs=True)), X_new, f)
    assert process**2 < 0.5
    assert process**2 < 0.25 * rmse(fit(X, t, spec_for(GaussianNoise(), width=4.0)), X_new, f) ** 2


@pytest.mark.thorough
def test_twenty_inputs_of_noise_beside_ten_cost_little() -> None:
    X, t, f = friedman(740, 2)
    others, _, beside = friedman(740, 3)
    informative = np.hstack([X[:, :5], others[:, :5]])
    among = np.hstack([informative, np.random.default_rng(4).uniform(-1.7, 1.7, (740, 20))])
    t, f = t + beside, f + beside

    def error(inputs: Array) -> float:
        return rmse(fit(inputs[:240], t[:240], process_spec(GaussianNoise(), inputs=True)), inputs[240:], f[240:])

    assert error(among) < min(1.3 * error(informative), 0.2 * f.std())


def test_inputs_that_do_not_matter_become_wide() -> None:
    X, t, _ = friedman(120, 0)
    widths = vectors_of(fit(X, t, process_spec(GaussianNoise()))).input_map.widths
    assert widths[5:].min() > 3.0 * widths[:3].max()


def test_warps_follow_a_curve_that_bends_only_on_one_side() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(0.0, 1.5, (100, 1))
    t = np.sin(np.sinh(X[:, 0])) * np.exp(-np.maximum(X[:, 0] - 2.0, 0.0)) + 0.1 * rng.standard_normal(100)
    plain, warped = (fit(X, t, process_spec(GaussianNoise(), warp=warp)) for warp in ("none", "evidence"))
    assert warped.evidence.value > plain.evidence.value + 3.0


def test_classes_are_distinguished() -> None:
    X_new, t_new = ripley(1_000, 1)
    spec = process_spec(Bernoulli(), width=FixedWidth(0.5), min_gain=1.0)
    found = predict(fit(*ripley(40, 0), spec), X_new)
    assert isinstance(found, ClassPrediction)
    assert scores(found, t_new)["error"] < 0.15
    assert scores(found, t_new)["log_loss"] < 0.4


@each_width
@pytest.mark.parametrize("inputs", [1, 5])
def test_noise_alone_keeps_few_functions(width: Width, inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    X, t = rng.standard_normal((80, inputs)), rng.standard_normal(80)
    model = fit(X, t, process_spec(GaussianNoise(), width=width, inputs=True))
    assert sum(one.size for one in model.functions if isinstance(one, KernelFunctions)) <= 3
    assert model.noise_sd == pytest.approx(1.0, rel=0.25)


@each_width
def test_the_order_of_the_rows_does_not_matter(width: Width) -> None:
    X, t = sinc(60, 0)
    order, spec = np.random.default_rng(0).permutation(60), process_spec(GaussianNoise(), width=width)
    here, there = predicted(fit(X, t, spec), GRID), predicted(fit(X[order], t[order], spec), GRID)
    assert float(np.abs(here.mean - there.mean).max()) < 0.02
    np.testing.assert_allclose(here.variance, there.variance, rtol=0.1)


@each_width
@pytest.mark.parametrize("inputs", [True, False], ids=["inputs", "kernel alone"])
def test_a_constant_input_changes_nothing(width: Width, inputs: bool) -> None:
    X, t = sinc(60, 0)
    beside = np.column_stack([X, np.full(60, 7.0)])
    model = fit(beside, t, process_spec(GaussianNoise(), width=width, inputs=inputs))
    assert rmse(model, np.column_stack([GRID, np.full(200, 7.0)]), CURVE) < 0.06


@each_width
def test_uninformative_inputs_leave_the_mean(width: Width) -> None:
    t = np.random.default_rng(0).normal(3.0, 1.0, 30)
    model = fit(np.ones((30, 2)), t, process_spec(GaussianNoise(), width=width, inputs=True))
    found = predicted(model, np.ones((1, 2)))
    assert found.mean[0] == pytest.approx(t.mean(), abs=0.2)
    assert found.variance[0] ** 0.5 == pytest.approx(t.std(), rel=0.25)


@each_width
def test_repeated_rows_carry_one_function_at_most(width: Width) -> None:
    X, _ = sinc(30, 0)
    X = np.tile(X, (3, 1))
    t = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(90)
    model = fit(X, t, process_spec(GaussianNoise(), width=width, vectors="rows"))
    places = vectors_of(model).rows % 30
    assert len(set(places.tolist())) == len(places)
    assert rmse(model, GRID, CURVE) < 0.06


@pytest.mark.parametrize("rows", [2, 3])
@each_width
def test_two_or_three_rows_are_enough(width: Width, rows: int) -> None:
    X, t = np.arange(2.0 * rows).reshape(rows, 2), np.arange(float(rows))
    found = predicted(fit(X, t, process_spec(GaussianNoise(), width=width, inputs=True)), X)
    assert (np.abs(found.mean - t) < 4.0 * found.variance**0.5).all()
    classes = predict(fit(X, t % 2, process_spec(Bernoulli(), width=width, inputs=True)), X)
    assert isinstance(classes, ClassPrediction)
    assert ((classes.probability > 0.0) & (classes.probability < 1.0)).all()


@pytest.mark.parametrize("inputs", [True, False], ids=["inputs", "kernel alone"])
def test_more_inputs_than_rows_are_fitted(inputs: bool) -> None:
    rng = np.random.default_rng(0)
    X, X_new = rng.standard_normal((12, 20)), rng.standard_normal((5, 20))
    t = X[:, 0] + 0.1 * rng.standard_normal(12)
    predicted(fit(X, t, process_spec(GaussianNoise(), inputs=inputs)), X_new)
    classes = predict(fit(X, np.where(t > 0.0, 1.0, 0.0), process_spec(Bernoulli(), inputs=inputs)), X_new)
    assert isinstance(classes, ClassPrediction)
    assert np.isfinite(classes.latent_variance).all()


@each_width
def test_one_target_that_differs_is_noise(width: Width) -> None:
    """Among many: of 30 rows without any other noise a process of a short width that passes through it is likelier."""
    X, _ = sinc(100, 0)
    line, noise = 0.1 * X[:, 0], 0.05 * np.random.default_rng(0).standard_normal(100)
    noise[7] += 1.0
    found = predicted(fit(X, line + noise, process_spec(GaussianNoise(), width=width)), X)
    assert np.abs(found.mean - line).max() < 0.2
    np.testing.assert_allclose(np.median(found.variance) ** 0.5, noise.std(), rtol=0.2)


@pytest.mark.parametrize("value", [0.0, 5.0])
@each_width
def test_a_constant_target_can_be_learned_where_noise_is_known(width: Width, value: float) -> None:
    X, _ = sinc(30, 0)
    model = fit(X, np.full(30, value), process_spec(GaussianNoise(0.1), width=width))
    np.testing.assert_allclose(predicted(model, X).mean, value, atol=0.1)
    assert model.noise_sd == 0.1


@each_width
@pytest.mark.parametrize("noise", [1e-2, 1e-3])
def test_little_noise_is_found_to_be_little(width: Width, noise: float) -> None:
    X, t = sinc(60, 0, noise=noise)
    model = fit(X, t, process_spec(GaussianNoise(), width=width))
    assert rmse(model, X, np.sinc(X[:, 0] / np.pi)) < 3.0 * noise
    assert model.noise_sd is not None
    assert model.noise_sd < 4.0 * noise


def test_a_line_without_noise_is_a_line() -> None:
    X, _ = sinc(40, 0)
    model = fit(X, 3.0 * X[:, 0] + 1.0, process_spec(GaussianNoise(), inputs=True))
    np.testing.assert_allclose(predicted(model, 2.0 * GRID).mean, 6.0 * GRID[:, 0] + 1.0, atol=0.1)


def test_a_width_given_may_be_far_too_small_or_too_great() -> None:
    X, t = sinc(40, 0)
    for width in (1e-6, 1e6):
        predicted(fit(X, t, process_spec(GaussianNoise(), width=FixedWidth(width))), GRID)


@pytest.mark.parametrize("seed", range(2))
def test_what_few_functions_leave_of_a_curve_is_noise_to_them(seed: int) -> None:
    """The process saw hardly any noise; with six functions it must see more, and not nothing else."""
    X, t = sinc(60, seed, noise=0.01)
    model = fit(X, t, process_spec(GaussianNoise(), max_functions=6))
    assert size_of(model) == 6
    assert rmse(model, X, np.sinc(X[:, 0] / np.pi)) < 0.06
    assert model.noise_sd is not None
    assert 0.01 < model.noise_sd < 0.08


@pytest.mark.parametrize("factor", [1e-8, 1e8])
@each_width
def test_the_unit_of_the_targets_changes_no_vector_and_scales_the_prediction(width: Width, factor: float) -> None:
    X, t = sinc(60, 0)
    one, other = (fit(X, unit * t, process_spec(GaussianNoise(), width=width)) for unit in (1.0, factor))
    np.testing.assert_array_equal(vectors_of(one).rows, vectors_of(other).rows)
    here, there = predicted(one, GRID), predicted(other, GRID)
    np.testing.assert_allclose(there.mean / factor, here.mean, atol=1e-6)
    np.testing.assert_allclose(there.variance / factor**2, here.variance, rtol=1e-6)


@each_width
def test_a_curve_without_noise_is_followed(width: Width) -> None:
    X, t = sinc(40, 0, noise=0.0)
    assert rmse(fit(X, t, process_spec(GaussianNoise(), width=width)), X, t) < 0.01


@pytest.mark.parametrize("max_functions", [4, 6])
@pytest.mark.parametrize("noise", [1e-3, 3e-3])
def test_few_functions_of_a_curve_with_next_to_no_noise_still_follow_it(max_functions: int, noise: float) -> None:
    X, t = sinc(60, 1, noise=noise)
    model = fit(X, t, process_spec(GaussianNoise(), max_functions=max_functions))
    assert rmse(model, X, np.sinc(X[:, 0] / np.pi)) < 0.1


@pytest.mark.parametrize("seed", range(4))
def test_classes_at_a_width_given_are_distinguished(seed: int) -> None:
    spec = process_spec(Bernoulli(), width=FixedWidth(0.5), min_gain=2.0)
    found = predict(fit(*ripley(40, seed), spec), ripley(1_000, 99)[0])
    assert isinstance(found, ClassPrediction)
    assert scores(found, ripley(1_000, 99)[1])["log_loss"] < 0.5


def three_classes(rows: int, seed: int) -> tuple[Array, Array]:
    """Three rings' worth of angle: classes by thirds, with noise at the edges."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 2))
    angle = np.arctan2(X[:, 1], X[:, 0]) + 0.15 * rng.standard_normal(rows)
    return X, np.floor((angle + 3.0 * np.pi) / (2.0 * np.pi / 3.0)).astype(int) % 3 * 1.0


def test_three_classes_share_few_functions() -> None:
    X, t = three_classes(240, 0)
    model = fit(X, t, process_spec(Categorical(3), min_gain=1.0))
    X_new, t_new = three_classes(500, 1)
    found = predict(model, X_new)
    assert isinstance(found, ClassPrediction)
    assert model.mean.shape == (len(model.alpha), 3)
    assert len(model.alpha) <= 30
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    measured = scores(found, t_new)
    assert measured["error"] < 0.12
    assert measured["log_loss"] < 0.35
