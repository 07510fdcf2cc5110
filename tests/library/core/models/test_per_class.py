"""A model for each class: their probabilities normalised, explained and learned one after the other."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.basis import Bias, ConstantFunction, KernelBasis
from relevance_bayes.core.errors import IllegalCombinationError, OneClassError, SparseBayesError
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import CrossValidationWidth, FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, BernoulliPerClass, GaussianNoise
from relevance_bayes.core.likelihoods.bernoulli import fitted_temperature, tempered
from relevance_bayes.core.models.classes import PerClass, ReadyPerClass, without_functions
from relevance_bayes.core.models.effects import contributions, joint
from relevance_bayes.core.models.fitting import FitLog, LogEntry, pose
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.pool import (
    Pool,
    alone,
    at_temperature,
    has_latent_per_class,
    likelihood_of,
    members_of,
    n_functions,
    ready_of,
)
from relevance_bayes.core.models.prediction import ClassPrediction, Ready
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.rows import ArrayRows
from relevance_bayes.core.selection import FitContext, Rows, Selection, Step, Trained, train
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec
from tests.library.core.sources import partitioned

NEW = np.random.default_rng(9).normal(size=(15, 2)) * 1.5


def rows(number: int = 60, classes: int = 3) -> Rows:
    """Classes in bands along the first input, with some noise."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(number, 2))
    t = np.digitize(X[:, 0] + 0.3 * rng.normal(size=number), np.linspace(-0.6, 0.6, classes - 1))
    return Rows(X, t.astype(np.float64))


def spec_of(classes: int = 3) -> Spec:
    return Spec(BernoulliPerClass(classes), (KernelBasis(Gaussian(), FixedWidth(2.0)), Bias()), Independent())


@cache
def trained(classes: int = 3) -> Trained:
    *_, found = train(rows(classes=classes), Selection(spec_of(classes)))
    assert isinstance(found, Trained)
    return found


def learned(classes: int = 3) -> PerClass:
    found = trained(classes).learned
    assert isinstance(found, PerClass)
    return found


def predicted(model: PerClass, X: Array = NEW) -> tuple[ClassPrediction, Array | None]:
    ready = ready_of(model)
    assert isinstance(ready, ReadyPerClass)
    return ready.predict(X)


def test_rows_that_come_from_a_source_teach_what_rows_in_memory_do() -> None:
    some = rows()
    *_, found = train(replace(some, source=partitioned(ArrayRows(some.X, some.t), 2)), Selection(spec_of()))
    assert isinstance(found, Trained)
    assert isinstance(found.learned, PerClass)
    for one, other in zip(found.learned.members, learned().members, strict=True):
        assert np.array_equal(one.mean, other.mean)


def test_probabilities_are_those_of_each_class_against_all_others_over_their_sum() -> None:
    found, support = predicted(learned())
    alone = np.empty((len(NEW), 3))
    supports = []
    for place, member in enumerate(learned().members):
        prediction, known = Ready.of(member).predict(NEW)
        assert isinstance(prediction, ClassPrediction)
        alone[:, place] = prediction.probability
        np.testing.assert_array_equal(found.latent_mean[:, place], prediction.latent_mean)
        np.testing.assert_array_equal(found.latent_variance[:, place], prediction.latent_variance)
        supports += [] if known is None else [known]
    np.testing.assert_allclose(found.probabilities, alone / alone.sum(axis=1, keepdims=True), rtol=1e-12)
    assert (support is None) == (not supports)


def test_each_member_is_the_bernoulli_model_of_its_class() -> None:
    for place, member in enumerate(learned().members):
        single = replace(spec_of(), likelihood=Bernoulli())
        data = rows()
        *_, found = train(Rows(data.X, (data.t == place).astype(np.float64)), Selection(single))
        assert isinstance(found, Trained)
        np.testing.assert_array_equal(found.model.mean, member.mean)
        np.testing.assert_array_equal(found.model.covariance, member.covariance)


def test_the_support_is_the_mean_of_those_that_are_known() -> None:
    data = rows()
    spec = replace(process_spec(GaussianNoise()), likelihood=BernoulliPerClass(3))
    *_, found = train(data, Selection(spec))
    assert isinstance(found, Trained)
    assert isinstance(found.learned, PerClass)
    first, second, third = found.learned.members
    constant = without_functions(2, (data.t == 1.0).astype(np.float64), 60)
    mixed = replace(found.learned, members=(first, constant, third))
    _, support = predicted(mixed)
    known = [Ready.of(member).predict(NEW)[1] for member in (first, third)]
    assert Ready.of(constant).predict(NEW)[1] is None
    expected = np.mean([one for one in known if one is not None], axis=0)
    assert support is not None
    np.testing.assert_allclose(support, expected)
    _, none = predicted(PerClass((constant,) * 3, BernoulliPerClass(3)))
    assert none is None
    assert second.signal_variance is not None


def test_contributions_add_up_to_the_latent_of_the_class_that_is_explained() -> None:
    ready, found = ready_of(learned()), predicted(learned())[0]
    R = n_functions(learned())
    of_class = np.repeat(np.arange(3), [len(member.mean) for member in learned().members])
    for explained in (np.zeros(len(NEW), np.intp), found.probabilities.argmax(axis=1)):
        parts = contributions(ready, NEW, R, latents=explained)
        expected = found.latent_mean[np.arange(len(NEW)), explained]
        np.testing.assert_allclose(parts.total, expected, rtol=1e-9)
        np.testing.assert_allclose(parts.added.sum(axis=1), expected, rtol=1e-9)
        others = of_class[parts.functions] != explained[:, None]
        assert (parts.added[others] == 0.0).all()
        assert (parts.shares[others] == 0.0).all()
    with pytest.raises(SparseBayesError):
        contributions(ready, NEW, R)


def test_a_class_of_no_row_or_of_one_is_as_rare_as_it_was() -> None:
    data = rows()
    t = data.t.copy()
    t[0] = 3.0
    *_, found = train(Rows(data.X, t), Selection(spec_of(5)))
    assert isinstance(found, Trained)
    assert isinstance(found.learned, PerClass)
    one, none = found.learned.members[3:]
    assert [type(functions) for functions in none.functions] == [ConstantFunction]
    prediction, _ = predicted(found.learned)
    assert np.isfinite(prediction.probabilities).all()
    own, _ = Ready.of(none).predict(NEW)
    assert isinstance(own, ClassPrediction)
    np.testing.assert_allclose(own.probability, 0.5 / 61.0, rtol=1e-6)
    single, _ = Ready.of(one).predict(NEW)
    assert isinstance(single, ClassPrediction)
    assert single.probability.max() < 0.5


@pytest.mark.parametrize(("positive", "number"), [(0, 1), (0, 50), (1, 50), (20, 40), (50, 50), (0, 10**6)])
def test_a_class_without_functions_has_the_mean_and_the_evidence_of_jeffreys_prior(positive: int, number: int) -> None:
    t = (np.arange(number) < positive).astype(np.float64)
    model = without_functions(2, t, number)
    prediction, _ = Ready.of(model).predict(NEW)
    assert isinstance(prediction, ClassPrediction)
    np.testing.assert_allclose(prediction.probability, (positive + 0.5) / (number + 1.0), rtol=1e-6)
    # int p^n (1 - p)^(N - n) under the density p^-1/2 (1 - p)^-1/2 / pi, p = sin^2 a.
    if number <= 50:
        a = (np.arange(20_000) + 0.5) * (np.pi / 2.0) / 20_000
        integral = (np.sin(a) ** (2 * positive) * np.cos(a) ** (2 * (number - positive))).mean()
        assert model.evidence.value == pytest.approx(float(np.log(integral)), rel=1e-6)
    assert model.covariance[0, 0] > 0.0
    assert 0.0 <= model.gamma[0] <= 1.0


def test_all_rows_of_one_class_are_refused() -> None:
    data = rows()
    with pytest.raises(OneClassError):
        list(train(Rows(data.X, np.zeros(60)), Selection(spec_of())))


def test_a_temperature_is_that_of_the_whole_and_leaves_the_members() -> None:
    plain, _ = predicted(learned())
    hot = at_temperature(learned(), 2.0)
    assert isinstance(hot, PerClass)
    np.testing.assert_allclose(predicted(hot)[0].probabilities, tempered(NUMPY, plain.probabilities, 2.0), rtol=1e-12)
    assert all(member.likelihood == Bernoulli() for member in hot.members)
    single = at_temperature(learned().members[0], 3.0)
    assert isinstance(single, Model)
    assert single.likelihood == Bernoulli(3.0)
    t = rows().t
    seen, _ = predicted(learned(), rows().X)
    assert fitted_temperature(seen.probabilities, t) > 0.0


def test_the_protocol_of_a_model_is_implemented_by_all_of_them() -> None:
    model = learned()
    assert members_of(model) == model.members
    assert n_functions(model) == sum(len(member.mean) for member in model.members)
    assert likelihood_of(model) == BernoulliPerClass(3)
    assert has_latent_per_class(model)
    assert not has_latent_per_class(model.members[0])
    assert likelihood_of(Pool(model.members[:1], np.ones(1))) == Bernoulli()
    for wrong in (lambda: alone(model), lambda: joint(ready_of(model), NEW)):
        with pytest.raises(SparseBayesError):
            wrong()
    with pytest.raises(SparseBayesError):
        at_temperature(Pool(model.members[:1], np.ones(1)), 2.0)


def test_one_fit_does_not_take_the_likelihood_of_several() -> None:
    with pytest.raises(IllegalCombinationError):
        pose(rows().X, rows().t, spec_of())


@pytest.mark.thorough
def test_a_training_reports_how_far_it_is_and_each_class_finds_its_own_width() -> None:
    spec = replace(spec_of(), basis=(KernelBasis(Gaussian(), CrossValidationWidth(2)), Bias()))
    steps = list(train(rows(40), Selection(spec)))
    classes = [step for step in steps if isinstance(step, Step) and step.phase == "classes"]
    assert [(step.completed, step.total) for step in classes] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    found = steps[-1]
    assert isinstance(found, Trained)
    widths = {one.basis[0].width for one in found.class_specs if isinstance(one.basis[0], KernelBasis)}
    assert all(isinstance(width, FixedWidth) for width in widths)
    assert found.spec == spec


def test_folds_and_held_out_rows_are_measured_by_the_whole() -> None:
    data = rows()
    held_out = Rows(NEW, np.digitize(NEW[:, 0], [-0.6, 0.6]).astype(np.float64))
    *_, found = train(data, Selection(spec_of(), folds=3), held_out=held_out)
    assert isinstance(found, Trained)
    assert found.validation["rows"] == 60
    assert isinstance(found.learned, PerClass)
    prediction, _ = predicted(found.learned)
    assert found.scores["log_loss"] == pytest.approx(-float(prediction.log_density(held_out.t).mean()))
    assert found.leave_one_out == {}
    np.testing.assert_array_equal(found.learned.members[1].mean, learned().members[1].mean)


def test_wherever_it_is_broken_off_it_ends_with_the_same_models() -> None:
    data, spec = rows(40, 4), spec_of(4)
    fit_log, logged = FitLog(), list[tuple[LogEntry, ...]]()
    steps = list[Step | Trained]()
    for step in train(data, Selection(spec, folds=2), on=FitContext(fit_log)):
        logged.append(fit_log.entries)
        steps.append(step)
    unbroken = steps[-1]
    assert isinstance(unbroken, Trained)
    draw = np.random.default_rng(7)
    for place in {len(logged) - 1, *draw.integers(0, len(logged), 4).tolist()}:
        *_, resumed = train(data, Selection(spec, folds=2), on=FitContext(FitLog(logged[place])))
        assert isinstance(resumed, Trained)
        assert resumed.validation == unbroken.validation
        for one, other in zip(members_of(resumed.learned), members_of(unbroken.learned), strict=True):
            np.testing.assert_array_equal(one.mean, other.mean)
            np.testing.assert_array_equal(one.covariance, other.covariance)
