"""Which inputs get a term of their own."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import log

import numpy as np
import pytest

from relevance_bayes.core.algorithms import greedy
from relevance_bayes.core.algorithms.process_integral import integral
from relevance_bayes.core.algorithms.state import Iterate, State
from relevance_bayes.core.algorithms.task import ProcessTask, process_of
from relevance_bayes.core.basis import Bias, KernelBasis, KernelFunctions
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Additive, Gaussian
from relevance_bayes.core.kernels.hyperparameters import InheritedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood
from relevance_bayes.core.models.fitting import fit, iterates, learned, pose
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import RealPrediction, predict
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec


def additive(spec: Spec) -> Spec:
    """The spec, with inputs of their own where evidence finds some."""
    return replace(
        spec,
        basis=tuple(replace(one, additive="evidence") if isinstance(one, KernelBasis) else one for one in spec.basis),
    )


def sum_of_curves(X: Array) -> Array:
    """Of each input something else."""
    return np.asarray(np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2 + np.cos(2.0 * X[:, 2]))


def product(X: Array) -> Array:
    """Of all inputs."""
    return np.asarray(np.sin(1.5 * X[:, 0]) * X[:, 1] * np.cos(X[:, 2]))


def drawn(f: Callable[[Array], Array], rows: int = 150, seed: int = 0) -> tuple[Array, Array]:
    """Three inputs, and the function with noise of sd .1."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.7, 1.7, (rows, 3))
    return X, f(X) - f(X).mean() + 0.1 * rng.standard_normal(rows)


SPEC = additive(process_spec(GaussianNoise()))


def terms_of(state: State) -> tuple[int, ...]:
    return process_of(state).hyperparameters.terms.alone


def kernel_of(model: Model) -> object:
    functions = model.functions[0]
    assert isinstance(functions, KernelFunctions)
    return functions.kernel


@cache
def walked() -> tuple[Problem, tuple[Iterate, ...]]:
    problem = pose(*drawn(sum_of_curves), SPEC)
    return problem, tuple(iterates(problem, SPEC))


def test_a_sum_of_curves_is_taken_apart_and_predicted_better() -> None:
    problem, (*_, last) = walked()
    assert len(terms_of(last.state)) == 2
    model = learned(problem, last)
    kernel = kernel_of(model)
    assert isinstance(kernel, Additive)
    assert kernel.kernel == Gaussian()
    assert kernel.alone == terms_of(last.state)
    assert min(*kernel.shares, 1.0 - sum(kernel.shares)) > 0.01
    assert error(model) < 0.7 * error(fit(*drawn(sum_of_curves), process_spec(GaussianNoise())))


def error(model: Model) -> float:
    """Mean square to the sum of curves as the rows' targets have it, at other places."""
    here, _ = drawn(sum_of_curves)
    X, _ = drawn(sum_of_curves, 500, 1)
    prediction = predict(model, X)
    assert isinstance(prediction, RealPrediction)
    return float(np.mean((prediction.mean - sum_of_curves(X) + sum_of_curves(here).mean()) ** 2))


def test_a_product_is_left_whole() -> None:
    assert kernel_of(fit(*drawn(product), SPEC)) == Gaussian()


def test_the_objective_rises_by_8_nats_with_each_term() -> None:
    _, iterated = walked()
    trials = [now.state for now in iterated if process_of(now.state).phase == "terms"]
    objectives = {len(terms_of(state)): state.objective for state in trials}
    assert sorted(objectives) == [0, 1, 2]
    assert objectives[1] > objectives[0] + 8.0
    assert objectives[2] > objectives[1] + 8.0


def test_each_trial_is_a_state_and_is_counted() -> None:
    _, iterated = walked()
    counted = [process_of(now.state).structures for now in iterated]
    assert counted == sorted(counted)
    assert counted[-1] == 1 + 3 + 2
    assert process_of(iterated[-1].state).trial is None


def test_a_fit_resumed_at_any_state_ends_with_the_same_model() -> None:
    problem, iterated = walked()
    model = learned(problem, iterated[-1])
    trials = [now for now in iterated if process_of(now.state).phase == "terms"]
    for start in (*trials[::3], iterated[-3]):
        *_, last = iterates(replace(problem), SPEC, start.state)
        assert terms_of(last.state) == terms_of(iterated[-1].state)
        np.testing.assert_array_equal(learned(problem, last).mean, model.mean)


def test_inputs_in_another_order_are_taken_apart_alike() -> None:
    """Two have terms of their own, and the third what is left: which of the three that is makes no difference."""
    X, t = drawn(sum_of_curves)
    order = [2, 0, 1]
    problem = pose(X[:, order], t, SPEC)
    *_, last = iterates(problem, SPEC)
    assert len(terms_of(last.state)) == len(terms_of(walked()[1][-1].state)) == 2


def test_where_it_is_not_requested_nothing_is_tried() -> None:
    spec = process_spec(GaussianNoise())
    problem = pose(*drawn(sum_of_curves, 60), spec)
    iterated = list(iterates(problem, spec))
    assert "terms" not in {process_of(now.state).phase for now in iterated}
    assert process_of(iterated[-1].state).structures == 1


@pytest.mark.parametrize("likelihood", [GaussianNoise(), Bernoulli()], ids=lambda one: one.type)
def test_one_input_has_nothing_to_be_apart_from(likelihood: Likelihood) -> None:
    X, t = drawn(sum_of_curves, 40)
    spec = additive(process_spec(likelihood))
    model = fit(X[:, :1], (t > 0.0).astype(np.float64) if isinstance(likelihood, Bernoulli) else t, spec)
    assert kernel_of(model) == Gaussian()


def test_an_input_that_does_not_matter_is_not_tried() -> None:
    X, t = drawn(sum_of_curves)
    noise = np.random.default_rng(3).standard_normal((150, 1))
    problem = pose(np.hstack([X, noise]), t, SPEC)
    task = ProcessTask.of(problem)
    for now in iterates(problem, SPEC):
        if process_of(now.state).phase == "terms":
            assert greedy._candidates(task, process_of(now.state).hyperparameters) == (0, 1, 2)
            break


def test_structures_that_were_tried_are_paid_for() -> None:
    problem, (*_, last) = walked()
    task, process = ProcessTask.of(problem), process_of(last.state)
    paid = integral(task, last.state, process)
    free = integral(task, last.state, replace(process, structures=1))
    assert paid.value == free.value
    assert free.input_map - paid.input_map == pytest.approx(log(6.0))


def test_independent_weights_inherit_the_terms_with_the_widths() -> None:
    problem, (*_, last) = walked()
    lender = learned(problem, last).functions[0]
    assert isinstance(lender, KernelFunctions)
    basis = (KernelBasis(width=InheritedWidth()), Bias())
    X, t = drawn(sum_of_curves, 40)
    borrowed, _ = pose(X, t, Spec(GaussianNoise(), basis), inherited=lender).candidates.dictionaries
    assert isinstance(borrowed, KernelFunctions)
    assert borrowed.kernel == lender.kernel
    assert borrowed.input_map is lender.input_map
    np.testing.assert_array_equal(borrowed.centres, X)


@pytest.mark.thorough
def test_classes_may_be_taken_apart() -> None:
    X, t = drawn(sum_of_curves, 200)
    spec = additive(process_spec(Bernoulli()))
    rng = np.random.default_rng(2)
    classes = (rng.uniform(size=200) < 1.0 / (1.0 + np.exp(-6.0 * t))).astype(np.float64)
    model = fit(X, classes, spec)
    assert isinstance(kernel_of(model), Additive)
