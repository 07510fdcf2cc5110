import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import norm

from relevance_bayes.core import selection
from relevance_bayes.core.errors import DataError, OneClassError
from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.inference.process import ProcessRows, Vectors, bound, bound_gradient, row_sums
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import GaussianNoise, OneAgainstRest
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.bernoulli import fitted_temperature, temperature_of, tempered
from relevance_bayes.core.models.fitting import fit, pose
from relevance_bayes.core.models.prediction import ClassPrediction, predict, scores
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec

K = 3
THEIRS = OneAgainstRest(K)
H = Hyperparameters(7.0, 0.6, np.array([1.3]), InputMap(np.array([1.1, 1.9])))
PLACES = np.array([2, 9, 20, 31])


def drawn(rows: int = 40) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 2))
    return X, np.digitize(np.sin(X[:, 0]) + 0.4 * X[:, 1] + 0.3 * rng.standard_normal(rows), [-0.4, 0.4]).astype(float)


def rings(rows: int, classes: int, seed: int) -> tuple[Array, Array]:
    """So many clusters around a circle."""
    rng = np.random.default_rng(seed)
    t = (np.arange(rows) % classes).astype(np.float64)
    angle = 2.0 * np.pi * t / classes
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.12 * rng.standard_normal((rows, 2)), t


X, T = drawn()
INDICATORS, _ = THEIRS.working(T)
F = np.ones((len(T), 1))
VECTORS = Vectors(PLACES, X[PLACES])


def test_the_noise_sd_of_classes_has_a_lower_bound() -> None:
    first, largest = THEIRS.start(THEIRS.working(np.array([0.0, 1.0, 2.0, 1.0]))[0])
    assert 0.08 == pytest.approx(largest**-0.5)
    assert first < largest


def test_all_classes_together_are_the_sum_of_each_against_the_rest() -> None:
    together = bound(ProcessRows(X, INDICATORS, F), VECTORS, Gaussian(), THEIRS, H)
    theta, _ = bound_gradient(ProcessRows(X, INDICATORS, F), VECTORS, Gaussian(), H, together)
    value, gradient = 0.0, np.zeros_like(theta)
    for k in range(K):
        rows = ProcessRows(X, INDICATORS[:, k], F)
        found = bound(rows, VECTORS, Gaussian(), GaussianNoise(), H)
        value += found.value
        gradient += bound_gradient(rows, VECTORS, Gaussian(), H, found)[0]
        np.testing.assert_allclose(together.optimum.posterior.mean[:, k], found.optimum.posterior.mean, rtol=1e-9)
        np.testing.assert_allclose(together.optimum.posterior.covariance, found.optimum.posterior.covariance)
    assert together.value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(theta, gradient, rtol=1e-8)


def test_so_it_is_where_the_evidence_has_a_closed_form() -> None:
    process = ExactProcess.of(ProcessRows(X, INDICATORS, F), Gaussian(), H)
    value, gradient = process.value, process.gradient
    each = [ExactProcess.of(ProcessRows(X, INDICATORS[:, k], F), Gaussian(), H) for k in range(K)]
    assert value == pytest.approx(sum(one.value for one in each), rel=1e-12)
    np.testing.assert_allclose(gradient, sum(one.gradient for one in each), rtol=1e-9)


def test_sums_over_rows_know_the_same() -> None:
    problem = pose(X, T, process_spec(THEIRS))
    rows = ProcessRows(X, problem.t, F)
    found = bound(rows, VECTORS, Gaussian(), THEIRS, H)
    gradient, _ = bound_gradient(rows, VECTORS, Gaussian(), H, found)
    reached = row_sums(problem, (40,), VECTORS, Gaussian(), H, np.ones((5, K))).at(H)
    assert reached.value == pytest.approx(found.value, rel=1e-11)
    np.testing.assert_allclose(reached.gradient, gradient[:3], rtol=1e-8)
    np.testing.assert_allclose(reached.posterior.mean, found.optimum.posterior.mean, rtol=1e-8, atol=1e-10)


def test_two_classes_are_as_probable_as_the_greater_of_two_gaussians() -> None:
    difference = np.linspace(-3.0, 3.0, 25)
    latent = LatentGaussian(np.column_stack([np.zeros(25), difference]), np.full(25, 0.3), np.full(25, 0.2))
    found = OneAgainstRest(2).predictive(latent, 0.5**0.5)
    expected = norm.cdf(difference / np.sqrt(2.0 * (0.3 + 0.2 + 0.5)))
    np.testing.assert_allclose(found.probability, expected, atol=0.023)  # as far as the logistic is from the normal
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0, rtol=1e-12)


def test_far_from_all_vectors_every_class_is_possible() -> None:
    model = fit(*rings(200, 4, 0), process_spec(OneAgainstRest(4)))
    found = predict(model, np.array([[50.0, 50.0]]))
    assert isinstance(found, ClassPrediction)
    assert found.probabilities.max() < 0.5


@pytest.mark.thorough
def test_many_classes_are_distinguished_and_their_probabilities_are_honest() -> None:
    X, t = rings(800, 16, 1)
    rows = selection.Rows(X, t)
    *_, found = selection.train(rows, selection.Selection(process_spec(OneAgainstRest(16))))
    assert isinstance(found, selection.Trained)
    model = found.model
    assert model.likelihood.type == "one_against_rest"
    assert model.likelihood.temperature != "learned"
    new, classes = rings(1600, 16, 2)
    measured = scores(predict(model, new), classes)
    # Beside the rule that knows the clusters; to know nothing is log 16 = 2.8.
    angle = 2.0 * np.pi * np.arange(16) / 16
    squares = np.square(new[:, None, :] - np.column_stack([np.cos(angle), np.sin(angle)])).sum(axis=2)
    best = log_softmax(-0.5 * squares / 0.12**2, axis=1)
    assert measured["error"] < np.mean(best.argmax(axis=1) != classes) + 0.03
    assert measured["log_loss"] < -best[np.arange(1600), classes.astype(np.intp)].mean() + 0.2
    assert set(found.leave_one_out) == {"error", "log_loss"}
    assert found.leave_one_out["log_loss"] == pytest.approx(measured["log_loss"], abs=0.1)


def lattice(classes: int, each: int, sd: float) -> tuple[selection.Rows, Array]:
    """Rows of classes about points of a square lattice, which can be distinguished, and all places half-way between two
    neighbours."""
    rng = np.random.default_rng(0)
    side = int(np.ceil(classes**0.5))
    points = np.array([(k // side, k % side) for k in range(classes)], np.float64)
    t = np.repeat(np.arange(classes), each)
    X = points[t] + sd * rng.standard_normal((len(t), 2))
    apart = np.abs(points[:, None] - points).sum(axis=2)
    pairs = np.argwhere(np.triu(apart == 1.0))
    between = 0.5 * (points[pairs[:, 0]] + points[pairs[:, 1]])
    shift, scale = X.mean(axis=0), X.std(axis=0)
    return selection.Rows((X - shift) / scale, t.astype(np.float64)), (between - shift) / scale


@pytest.mark.parametrize(("classes", "each"), [pytest.param(50, 8, marks=pytest.mark.thorough), (12, 6)])
def test_half_way_between_two_classes_neither_is_certain(classes: int, each: int) -> None:
    rows, between = lattice(classes, each, 0.1)
    *_, found = selection.train(rows, selection.Selection(process_spec(OneAgainstRest(classes))))
    assert isinstance(found, selection.Trained)
    prediction = predict(found.model, between)
    assert isinstance(prediction, ClassPrediction)
    # Without a bound on the noise the median was .99 of 50 classes.
    assert np.median(prediction.probabilities.max(axis=1)) < 0.75
    own = predict(found.model, rows.X)
    assert isinstance(own, ClassPrediction)
    assert np.exp(own.log_density(rows.t)).min() > 0.8


def test_folds_find_a_temperature_that_predicts_their_rows_better() -> None:
    rows = selection.Rows(*rings(200, 12, 3))
    at_one = process_spec(OneAgainstRest(12, 1.0))
    probabilities = np.empty((200, 12))
    for others, fold in selection.Folding().splits(rows, 4, 0):
        *_, found = selection.train(rows.take(others), selection.Selection(at_one))
        assert isinstance(found, selection.Trained)
        assert found.model.likelihood == OneAgainstRest(12, 1.0)
        predicted = predict(found.model, rows.X[fold])
        assert isinstance(predicted, ClassPrediction)
        probabilities[fold] = predicted.probabilities
    temperature = fitted_temperature(probabilities, rows.t)
    chosen = np.arange(200), rows.t.astype(np.intp)
    before, after = (
        -np.log(one[chosen]).mean() for one in (probabilities, tempered(NUMPY, probabilities, temperature))
    )
    assert after <= before
    # Left-out rows in closed form are about as in folds.
    *_, closed = selection.train(rows, selection.Selection(process_spec(OneAgainstRest(12))))
    assert isinstance(closed, selection.Trained)
    learned = closed.model.likelihood
    assert isinstance(learned, OneAgainstRest)
    assert temperature_of(learned.temperature) == pytest.approx(temperature, rel=0.25)


def test_a_thousand_classes_are_learned() -> None:
    rng = np.random.default_rng(0)
    t = (np.arange(3_000) % 1_000).astype(np.float64)
    centres = rng.uniform(-20.0, 20.0, (1_000, 2))
    X = centres[t.astype(np.intp)] + 0.05 * rng.standard_normal((3_000, 2))
    model = fit(X, t, process_spec(OneAgainstRest(1_000), max_functions=40))
    found = predict(model, X[:100])
    assert isinstance(found, ClassPrediction)
    assert found.probabilities.shape == (100, 1_000)
    assert np.isfinite(found.log_density(t[:100])).all()
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0, rtol=1e-9)
    assert found.log_density(t[:100]).mean() > -np.log(1_000.0)


def test_what_are_no_classes_is_refused() -> None:
    with pytest.raises(DataError, match=r"expected classes 0\.0 to 2\.0"):
        THEIRS.check(np.array([0.0, 3.0]))
    with pytest.raises(OneClassError, match="only class 1"):
        THEIRS.check(np.ones(4))
