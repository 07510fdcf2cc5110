"""Softmax regression, and its comparison with kernels by folds."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from relevance_bayes.core.algorithms import Greedy, ReEstimation, Sequential
from relevance_bayes.core.basis import Basis, Bias, Inputs, KernelBasis
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.kernels.hyperparameters import EvidenceWidth
from relevance_bayes.core.likelihoods import Categorical, GaussianNoise, OneAgainstRest
from relevance_bayes.core.likelihoods.base import ClassPrediction
from relevance_bayes.core.models.classes import (
    CONSTANT_SD,
    CONVERGED,
    is_softmax_regression,
    softmax_regression,
    softmax_regression_spec,
)
from relevance_bayes.core.models.fitting import FitLog, pose
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection import Rows, Selection, Step, Trained, train
from relevance_bayes.core.selection.candidates import FitContext
from relevance_bayes.core.types import Array

K = 12
REGRESSION = softmax_regression_spec(K)
KERNELS = Spec(OneAgainstRest(K), (KernelBasis(width=EvidenceWidth()), Bias()), GaussianProcess("rows"), Greedy(5))


def blobs(rows: int = 240, *, seed: int = 0, inputs: int = 5) -> tuple[Array, Array]:
    """X (N, d) of sd 1 about the centre of each class, and t (N,), every class in it."""
    rng = np.random.default_rng(seed)
    t = np.arange(rows) % K
    X = np.random.default_rng(9).standard_normal((K, inputs))[t] + rng.standard_normal((rows, inputs))
    return X, t.astype(np.float64)


def fitted(X: Array, t: Array) -> Model:
    steps = softmax_regression(pose(X, t, REGRESSION))
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            model: Model = ended.value
            return model


def probabilities(model: Model, X: Array) -> Array:
    prediction = predict(model, X)
    assert isinstance(prediction, ClassPrediction)
    return prediction.probabilities


def test_the_precision_is_at_its_fixed_point() -> None:
    X, t = blobs()
    model = fitted(X, t)
    inputs, spread = model.mean[:-1], X.std(axis=0) ** 2
    precision = K * model.gamma[:-1].sum() / (spread @ np.square(inputs).sum(axis=1))
    np.testing.assert_allclose(model.alpha[:-1], precision * spread, rtol=1.01 * CONVERGED)
    assert model.alpha[-1] == CONSTANT_SD**-2
    assert model.termination == "converged"
    assert model.evidence.kind == "laplace"


def test_its_weights_are_those_of_scikit_learn_at_that_precision() -> None:
    X, t = blobs()
    model = fitted(X, t)
    columns = np.column_stack([X, np.ones(len(t))]) / np.sqrt(model.alpha)
    theirs = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-9, max_iter=10_000).fit(columns, t)
    np.testing.assert_allclose(model.mean, theirs.coef_.T / np.sqrt(model.alpha)[:, None], atol=5e-3)


def test_the_units_of_inputs_change_no_prediction() -> None:
    X, t = blobs()
    units = np.array([1e-3, 1.0, 7.0, 1e2, 1e4])
    one, other = fitted(X, t), fitted(X * units, t)
    np.testing.assert_allclose(probabilities(other, X * units), probabilities(one, X), atol=1e-5)


def test_an_input_may_be_constant_and_a_class_without_rows() -> None:
    X, t = blobs()
    X = np.column_stack([X, np.ones(len(t))])
    found = probabilities(fitted(X[t < K - 1], t[t < K - 1]), X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found[:, -1].max() < 0.2


def test_it_predicts_new_rows_as_well_as_scikit_learn() -> None:
    """At a temperature by folds, which the training finds."""
    X, t = blobs()
    new, classes = blobs(1_200, seed=1)
    *_, last = train(Rows(X, t), Selection(REGRESSION, alternatives=(REGRESSION,)))
    assert isinstance(last, Trained)
    own = log_loss(classes, probabilities(last.model, new))
    theirs = LogisticRegression(max_iter=1_000).fit(X, t)
    assert own < 1.02 * log_loss(classes, theirs.predict_proba(new))
    assert last.score.value == pytest.approx(-own, abs=0.2)


def test_it_is_taken_where_it_is_better_and_kernels_where_these_are() -> None:
    X, t = blobs()
    assert taken(X, t) == REGRESSION
    radii = np.abs(np.random.default_rng(3).standard_normal(len(t)) * 0.1 + 1.0 + t)
    angles = np.random.default_rng(4).uniform(0.0, 2.0 * np.pi, len(t))
    assert taken(np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]), t).likelihood == OneAgainstRest(K)


def taken(X: Array, t: Array) -> Spec:
    *_, last = train(Rows(X, t), Selection(KERNELS, alternatives=(REGRESSION,)))
    assert isinstance(last, Trained)
    assert len(last.compared) == 1
    return last.spec


def test_a_training_that_was_cancelled_goes_on_to_the_same_model() -> None:
    X, t = blobs()
    selection = Selection(KERNELS, alternatives=(REGRESSION,))
    *_, whole = train(Rows(X, t), selection)
    log = FitLog()
    for step in train(Rows(X, t), selection, on=FitContext(log)):
        if isinstance(step, Step) and step.phase == "folds" and step.completed == 3:
            break
    *_, resumed = train(Rows(X, t), selection, on=FitContext(FitLog(log.entries)))
    assert isinstance(whole, Trained)
    assert isinstance(resumed, Trained)
    np.testing.assert_array_equal(whole.model.mean, resumed.model.mean)
    assert whole.score == resumed.score


def test_its_steps_are_counted() -> None:
    X, t = blobs(60)
    numbers = [step.completed for step in softmax_regression(pose(X, t, REGRESSION))]
    assert all(other == one + 1 for one, other in pairwise(numbers))
    assert 2 <= len(numbers) < 30


@pytest.mark.parametrize(
    "other",
    [
        replace(REGRESSION, likelihood=GaussianNoise()),
        replace(REGRESSION, algorithm=Sequential()),
        replace(REGRESSION, algorithm=ReEstimation("em")),
        KERNELS,
        replace(KERNELS, likelihood=Categorical(K)),
    ],
)
def test_other_specs_are_none(other: Spec) -> None:
    assert is_softmax_regression(replace(REGRESSION, seed=4))
    assert not is_softmax_regression(other)


def test_other_likelihoods_are_refused() -> None:
    X, t = blobs(60)
    basis: tuple[Basis, ...] = (Inputs(), Bias())
    problem = pose(X, t, replace(REGRESSION, likelihood=GaussianNoise(), basis=basis))
    with pytest.raises(SparseBayesError, match="expected coupled classes, got gaussian"):
        next(softmax_regression(problem))
