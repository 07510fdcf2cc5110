"""Where processes on few functions once fell to nothing: units, next to no noise, too few functions, classes."""

import numpy as np
import pytest

from app.sparse_bayes.basis import KernelFunctions
from app.sparse_bayes.fitting import fit
from app.sparse_bayes.likelihoods import Bernoulli, GaussianNoise
from app.sparse_bayes.model import Model
from app.sparse_bayes.prediction import ClassPrediction, RealPrediction, predict, scores
from app.sparse_bayes.scales import FixedWidth, Width
from app.sparse_bayes.types import Array
from tests.sparse_bayes.drawn import WIDTHS, process_spec, ripley, sinc

each_width = pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)

GRID = np.linspace(-10.0, 10.0, 200)[:, None]


def predicted(model: Model, X: Array) -> RealPrediction:
    found = predict(model, X)
    assert isinstance(found, RealPrediction)
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.variance).all()
    return found


def vectors_of(model: Model) -> KernelFunctions:
    (functions,) = [member for member in model.functions if isinstance(member, KernelFunctions)]
    return functions


def rmse(model: Model, X: Array, f: Array) -> float:
    return float(np.sqrt(np.mean((predicted(model, X).mean - f) ** 2)))


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


@pytest.mark.parametrize("most", [4, 6])
@pytest.mark.parametrize("noise", [1e-3, 3e-3])
def test_what_few_functions_leave_of_a_curve_is_noise_to_them(most: int, noise: float) -> None:
    X, t = sinc(60, 1, noise=noise)
    model = fit(X, t, process_spec(GaussianNoise(), most=most))
    assert rmse(model, X, np.sinc(X[:, 0] / np.pi)) < 0.1


@pytest.mark.parametrize("seed", range(4))
def test_classes_at_a_width_given_are_told_apart(seed: int) -> None:
    spec = process_spec(Bernoulli(), width=FixedWidth(0.5), least_gain=2.0)
    found = predict(fit(*ripley(40, seed), spec), ripley(1_000, 99)[0])
    assert isinstance(found, ClassPrediction)
    assert scores(found, ripley(1_000, 99)[1])["log_loss"] < 0.5
