"""Choices drawn from the unions themselves: what `check` lets through trains, and no objective falls."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from types import UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relevance_bayes.core.algorithms import re_estimation
from relevance_bayes.core.algorithms.state import State, Termination
from relevance_bayes.core.basis import Basis, Group, KernelBasis
from relevance_bayes.core.dictionaries import Gabor
from relevance_bayes.core.errors import IllegalCombinationError
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, InheritedWidth
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    Categorical,
    Likelihood,
    LogGaussian,
    LogitGaussian,
    LogVariance,
    OneAgainstRest,
)
from relevance_bayes.core.likelihoods.counts import CountLikelihood
from relevance_bayes.core.models import width_search
from relevance_bayes.core.models.fitting import iterate, pose
from relevance_bayes.core.models.model import Algorithm, Prior, Spec, check, searched
from relevance_bayes.core.models.prediction import ClassPrediction, predict
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from tests.properties import examples

ROWS = 20
INPUTS = 3

NUMBERS = {
    "value": (0.7, 3.0),
    "noise_sd": (0.1, 1.0),
    "degrees_of_freedom": (2.5, 30.0),
    "dispersion": (0.5, 30.0),
    "classes": (3,),
    "folds": (2,),
    "harmonics": (5,),
    "temperature": (1.5,),
}
"""The values of an option of this name, where not any number within its bounds is sensible for these few rows."""

SLIGHT = 0.1
"""Above the least that a number may be, where its name has no bound."""


def options(annotation: object, name: str, minimum: float) -> Iterator[st.SearchStrategy[object]]:
    """The values of a field of this annotation."""
    if annotation is None or annotation is type(None):
        yield st.none()
    elif get_origin(annotation) is Literal:
        yield st.sampled_from(get_args(annotation))
    elif get_origin(annotation) in {Union, UnionType}:
        for member in get_args(annotation):
            yield from options(member, name, minimum)
    elif annotation is bool:
        yield st.booleans()
    elif annotation is int:
        yield st.sampled_from(NUMBERS.get(name, (int(minimum), int(minimum) + 2)))
    elif annotation is float:
        yield st.sampled_from(
            NUMBERS.get(name, (minimum, minimum, minimum + SLIGHT) if minimum == 0.0 else (minimum + SLIGHT,))
        )
    elif name == "inputs":
        yield st.sampled_from([(0,), (0, 2), (2, 1, 0), (1, 1), ()])
    elif get_origin(annotation) is tuple:
        yield st.sampled_from([(2.0,) * INPUTS, (0.5, 3.0, 1e3), (2.0,) * (INPUTS + 1)])
    elif isinstance(annotation, type) and is_dataclass(annotation):
        yield members(annotation)
    else:
        raise TypeError(f"expected an option that can be drawn, got {name}: {annotation}")


def members(kind: type) -> st.SearchStrategy[object]:
    """Any of a frozen dataclass."""
    hints = get_type_hints(kind)
    given: dict[str, st.SearchStrategy[object]] = {}
    for field in fields(kind):
        minimum = float(field.metadata.get("ge", field.metadata.get("gt", 0.0)))
        exclusive = SLIGHT if "gt" in field.metadata else 0.0
        given[field.name] = st.one_of(*options(hints[field.name], field.name, minimum + exclusive))
    return st.builds(kind, **given)


def union(annotation: object) -> st.SearchStrategy[object]:
    """Any member of a union, with any of its options."""
    return st.one_of(*(members(member) for member in get_args(annotation)))


bases = st.lists(union(Basis), min_size=1, max_size=3).map(tuple)
of_targets = st.one_of(*(members(member) for member in get_args(Likelihood) if member is not LogVariance))
"""Likelihoods that are chosen: that of the log noise variance is posed by the fit of a target, never requested."""

specs = st.builds(
    Spec,
    likelihood=of_targets,
    basis=bases,
    prior=union(Prior),
    algorithm=union(Algorithm),
    seed=st.integers(0, 3),
)
"""The whole product."""

legal = specs.filter(lambda spec: refused(spec) is None and not any(map(sees_too_much, spec.basis)))


def sees_too_much(basis: Basis) -> bool:
    """Return whether wavelets would have more than two inputs, which depends on the rows."""
    return isinstance(basis, Gabor) or (
        isinstance(basis, Group) and isinstance(basis.of, Gabor) and len(basis.inputs) > 2
    )


def refused(spec: Spec) -> IllegalCombinationError | None:
    """The errors of `check` for a spec."""
    try:
        check(spec)
    except IllegalCombinationError as error:
        return error
    return None


def rows_for(likelihood: Likelihood) -> Rows:
    """A curve in one input, which stands there twice beside a constant; two rows come again."""
    rng = np.random.default_rng(6)
    x = np.sort(rng.uniform(-2.0, 2.0, ROWS))
    f = np.sin(2.0 * x)
    match likelihood:
        case Bernoulli():
            t = (f + 0.3 * rng.standard_normal(ROWS) > 0.0).astype(np.float64)
        case Categorical(latents=classes) | OneAgainstRest(latents=classes):
            t = np.floor((f + 1.0) / 2.0 * (classes - 1e-6))
        case CountLikelihood():
            t = rng.poisson(np.exp(1.0 + f)).astype(np.float64)
        case LogGaussian():
            t = np.exp(f + 0.1 * rng.standard_normal(ROWS))
        case LogitGaussian():
            t = 1.0 / (1.0 + np.exp(-f - 0.1 * rng.standard_normal(ROWS)))
        case _:
            t = f + 0.1 * rng.standard_normal(ROWS)
    X = np.column_stack([x, np.full(ROWS, 1.5), x])
    X[5], t[5], X[6] = X[4], t[4], X[7]
    return Rows(X, t, np.linspace(0.1, 0.3, ROWS) if likelihood.noise_by_row else None)


def fitting_widths(spec: Spec) -> bool:
    """Return whether each list of widths has one for each input that its kernel sees."""
    complete = [(basis, INPUTS) for basis in spec.basis]
    seen = complete + [(basis.of, len(basis.inputs)) for basis in spec.basis if isinstance(basis, Group)]
    lists = [(basis.width, inputs) for basis, inputs in seen if isinstance(basis, KernelBasis)]
    return all(
        len(width.each) == inputs
        for width, inputs in lists
        if isinstance(width, FixedWidth) and isinstance(width.value, tuple)
    )


def with_fixed_widths(spec: Spec, *, places: list[int]) -> Spec:
    """The spec with some of its widths given."""
    basis = tuple(
        replace(one, width=FixedWidth(2.0)) if place in places and isinstance(one, KernelBasis) else one
        for place, one in enumerate(spec.basis)
    )
    return replace(spec, basis=basis)


def inheriting(spec: Spec) -> list[int]:
    """Positions of the dictionaries that have another fit's widths."""
    return [
        place
        for place, one in enumerate(spec.basis)
        if isinstance(one, KernelBasis) and isinstance(one.width, InheritedWidth)
    ]


@pytest.fixture(autouse=True)
def few_fits_of_few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """EM creeps for thousands of steps, and searches fit dozens of times: what holds for a few holds for them all."""
    monkeypatch.setattr(re_estimation, "MAX_ITERATIONS", 20)
    monkeypatch.setattr(width_search, "GRID", 4)
    monkeypatch.setattr(width_search, "SECTIONS", 1)


walk = settings(
    max_examples=80,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)


@given(spec=specs)
@settings(walk, max_examples=examples(75))
def test_what_is_refused_names_a_field_of_the_request(spec: Spec) -> None:
    error = refused(spec)
    assert error is None or error.field in {field.name for field in fields(Spec)}


@given(spec=legal)
@settings(walk, max_examples=examples(5))
def test_a_few_that_are_legal_train_and_predict(spec: Spec) -> None:
    assert_trains_and_predicts(spec)


@pytest.mark.thorough
@given(spec=legal)
@walk
def test_whatever_is_legal_trains_and_predicts(spec: Spec) -> None:
    assert_trains_and_predicts(spec)


def assert_trains_and_predicts(spec: Spec) -> None:
    rows, borrowed = rows_for(spec.model_likelihood), inheriting(spec)
    lender, alternatives = (with_fixed_widths(spec, places=borrowed), (spec,)) if borrowed else (spec, ())
    if not fitting_widths(spec):
        with pytest.raises(IllegalCombinationError, match="one for each input"):
            list(train(rows, Selection(lender, compared_models=alternatives)))
        return
    *_, found = train(rows, Selection(lender, compared_models=alternatives))
    assert isinstance(found, Trained)
    model = found.model
    assert model.termination in set(Termination)
    for numbers in (model.mean, model.covariance, model.alpha, model.gamma, np.array(model.evidence.value)):
        assert np.isfinite(numbers).all()
    assert (model.alpha > 0.0).all()
    assert_sound(found, np.vstack([rows.X, rows.X + 0.3, 50.0 * rows.X]))


def assert_sound(found: Trained, X: Array) -> None:
    prediction = predict(found.model, X)
    if isinstance(prediction, ClassPrediction):
        assert (prediction.probabilities >= 0.0).all()
        np.testing.assert_allclose(prediction.probabilities.sum(axis=1), 1.0, atol=1e-12)
        return
    assert np.isfinite(prediction.mean).all()
    assert np.isfinite(prediction.variance).all()
    assert (prediction.variance > 0.0).all()


@given(spec=legal.filter(fitting_widths))
@walk
def test_no_objective_falls_within_a_phase(spec: Spec) -> None:
    given = with_fixed_widths(spec, places=[*searched(spec), *inheriting(spec)])
    rows = rows_for(given.model_likelihood)
    states = list(iterate(pose(rows.X, rows.t, given, noise_sd=rows.noise_sd), given))
    for before, after in pairwise(states):
        if phase(before) == phase(after):
            assert after.objective >= before.objective - 1e-9 * (1.0 + abs(before.objective))
    assert [state.termination is None for state in states] == [True] * (len(states) - 1) + [False]


def phase(state: State) -> tuple[str | None, str | None]:
    """That of the algorithm, and that of the process."""
    return state.phase, None if state.process is None else state.process.phase
