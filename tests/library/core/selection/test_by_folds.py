"""Folds choose among alternatives of classes, measure what is taken, and end the same wherever they are broken off."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.folds import Split, random_folds
from relevance_bayes.core.kernels import CityBlock
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, EvidenceWidth
from relevance_bayes.core.likelihoods import Bernoulli, BernoulliPerClass, Categorical, OneAgainstRest
from relevance_bayes.core.likelihoods.base import ClassPrediction
from relevance_bayes.core.likelihoods.bernoulli import fitted_temperature, temperature_of, tempered
from relevance_bayes.core.models.classes import PerClass, without_functions
from relevance_bayes.core.models.fitting import FitLog, LogEntry, fit
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import LearnedModel, likelihood_of, ready_of
from relevance_bayes.core.models.prediction import predict, scores
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.selection import NORMAL, FitContext, Folding, Rows, Selection, Step, Trained, by_folds, train
from relevance_bayes.core.selection.by_folds import FoldFits, affordable, chosen, work
from relevance_bayes.core.selection.candidates import FittedClasses
from relevance_bayes.core.selection.scoring import BEHIND, NOT_FITTED
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec, ring, ripley
from tests.library.core.generators import returned

ONE = replace(process_spec(Bernoulli(), width=EvidenceWidth(), vectors="rows", min_gain=0.3), seed=3)
EACH = replace(process_spec(Bernoulli(), width=EvidencePerInputWidth(1.0), vectors="rows", min_gain=0.3), seed=3)
STEPS = replace(
    process_spec(Bernoulli(), width=EvidencePerInputWidth(1.0), vectors="rows", min_gain=0.3, kernel=CityBlock()),
    seed=3,
)


@cache
def rows() -> Rows:
    return Rows(*ripley(60, 0))


@cache
def more_rows() -> Rows:
    return Rows(*ripley(100, 0))


def ended(steps: Iterator[Step | Trained]) -> Trained:
    *_, last = steps
    assert isinstance(last, Trained)
    return last


ANEW = replace(NORMAL, learns_folds_anew=True)


@cache
def trained() -> Trained:
    return ended(train(rows(), Selection(ONE, alternatives=(EACH, STEPS), bounds=ANEW)))


@cache
def stepped() -> Trained:
    return ended(train(more_rows(), Selection(ONE, alternatives=(EACH, STEPS))))


def probabilities(found: Trained, X: Array) -> Array:
    prediction, _ = ready_of(found.learned).predict(X)
    assert isinstance(prediction, ClassPrediction)
    return prediction.probabilities


def by_hand(spec: Spec) -> tuple[Array, Array]:
    """Probabilities of all folds' rows by what was learned without them, and their classes, fold after fold."""
    X, t = rows().X, rows().t
    parts = []
    splits = list(random_folds(X, t, 5, 3, stratified=True))
    for others, fold in splits:
        prediction = predict(fit(X[others], t[others], spec), X[fold])
        assert isinstance(prediction, ClassPrediction)
        parts.append(prediction.probabilities)
    return np.concatenate(parts), np.concatenate([t[fold] for _, fold in splits])


def test_the_score_is_that_of_rows_that_nothing_was_learned_from() -> None:
    """Each alternative by hand, each fold at the temperature of the other folds."""
    losses = {}
    for spec in (ONE, EACH, STEPS):
        found, t = by_hand(spec)
        edges = np.cumsum([0, *(len(fold) for _, fold in random_folds(rows().X, rows().t, 5, 3, stratified=True))])
        each = np.empty(len(t))
        for first, stop in pairwise(edges):
            here = np.arange(len(t))[first:stop]
            others = np.setdiff1d(np.arange(len(t)), here)
            cooled = tempered(NUMPY, found[here], fitted_temperature(found[others], t[others]))
            each[here] = -np.log(cooled[np.arange(len(here)), t[here].astype(int)])
        losses[spec] = each
    best = min(losses, key=lambda spec: float(losses[spec].mean()))
    reported = trained().validation
    assert reported["log_loss"] == pytest.approx(float(losses[best].mean()), rel=1e-9)
    assert reported["log_loss_se"] == pytest.approx(float(losses[best].std(ddof=1) / np.sqrt(60)), rel=1e-9)
    assert reported["rows"] == 60.0
    assert trained().score.value == pytest.approx(-reported["log_loss"])
    assert trained().spec.basis == best.basis
    compared = {one.spec: one.score for one in trained().compared}
    assert set(compared) == {ONE, EACH, STEPS} - {best}
    for spec, score in compared.items():
        assert score == pytest.approx(-float(losses[spec].mean()), rel=1e-9)


def temperature_in(model: LearnedModel) -> float:
    likelihood = likelihood_of(model)
    assert isinstance(likelihood, Bernoulli)
    return temperature_of(likelihood.temperature)


def test_what_is_taken_is_fitted_to_all_rows_at_the_temperature_of_the_folds() -> None:
    selected = next(spec for spec in (ONE, EACH, STEPS) if spec.basis == trained().spec.basis)
    temperature = fitted_temperature(*by_hand(selected))
    assert temperature_in(trained().learned) == pytest.approx(temperature, rel=1e-9)
    full = predict(fit(rows().X, rows().t, selected), rows().X)
    assert isinstance(full, ClassPrediction)
    np.testing.assert_allclose(
        probabilities(trained(), rows().X), tempered(NUMPY, full.probabilities, temperature), rtol=1e-9, atol=1e-12
    )


def test_the_score_agrees_with_new_rows() -> None:
    X, t = ripley(2_000, 1)
    prediction, _ = ready_of(trained().learned).predict(X)
    reported = trained().validation
    assert abs(reported["log_loss"] - scores(prediction, t)["log_loss"]) < 3.0 * reported["log_loss_se"]


@pytest.mark.parametrize("places", [2, pytest.param(8, marks=pytest.mark.thorough)])
def test_a_training_that_is_broken_off_anywhere_ends_the_same(places: int) -> None:
    expected = probabilities(stepped(), more_rows().X)
    marks: list[tuple[LogEntry, ...]] = []
    fit_log = FitLog()
    for _ in train(more_rows(), Selection(ONE, alternatives=(EACH, STEPS)), on=FitContext(fit_log)):
        kept = fit_log.entries
        if not marks or len(marks[-1]) != len(kept) or any(a is not b for a, b in zip(marks[-1], kept, strict=True)):
            marks.append(kept)
    assert len(marks) > 10
    for kept in marks[:: max(1, len(marks) // places)]:
        again = ended(train(more_rows(), Selection(ONE, alternatives=(EACH, STEPS)), on=FitContext(FitLog(kept))))
        np.testing.assert_array_equal(probabilities(again, more_rows().X), expected)
        assert again.validation == stepped().validation
        assert again.compared == stepped().compared


def test_it_reports_how_far_it_is() -> None:
    steps = [step for step in train(rows(), Selection(ONE, alternatives=(STEPS,))) if isinstance(step, Step)]
    folds = [(step.completed, step.total or 0) for step in steps if step.phase == "folds"]
    assert folds == sorted(folds)
    assert folds[0] == (0, 2 * 5)
    assert folds[-1][0] == folds[-1][1] <= 2 * 5
    assert all(after[1] <= before[1] for before, after in pairwise(folds))
    assert any(step.phase == "fit" and step.log_marginal_likelihood is not None for step in steps)
    assert steps[-1].phase == "done"


def test_three_classes_are_chosen_among_with_a_model_for_each() -> None:
    X, t = ring(60, 0)
    specs = [replace(spec, likelihood=BernoulliPerClass(3)) for spec in (ONE, EACH)]
    found = ended(train(Rows(X, t), Selection(specs[0], alternatives=(specs[1],))))
    assert isinstance(found.learned, PerClass)
    assert len(found.class_specs) == 3
    assert found.validation["rows"] == 60.0
    assert len(found.compared) == 1
    Z, u = ring(1_000, 1)
    prediction, _ = ready_of(found.learned).predict(Z)
    assert abs(found.validation["log_loss"] - scores(prediction, u)["log_loss"]) < 3.0 * found.validation["log_loss_se"]


@pytest.mark.parametrize("likelihood", [Categorical(3), OneAgainstRest(3)], ids=lambda one: one.type)
def test_of_classes_reported_together_the_temperature_is_that_of_folds(
    likelihood: Categorical | OneAgainstRest,
) -> None:
    X, t = ring(45, 0)
    specs = [replace(spec, likelihood=likelihood) for spec in (ONE, STEPS)]
    found = ended(train(Rows(X, t), Selection(specs[0], alternatives=(specs[1],))))
    assert likelihood_of(found.learned).latents == 3
    assert found.validation["rows"] == 45.0
    assert found.score.value is not None


Learned = Generator[Step, None, FittedClasses]


def fifths(n: int) -> list[Split]:
    """Every fifth row is measured on."""
    return [(np.flatnonzero(np.arange(n) % 5 != k), np.flatnonzero(np.arange(n) % 5 == k)) for k in range(5)]


class Constant:
    """Replaces fits: each alternative predicts one probability of class 1 everywhere, or fails."""

    def __init__(self, shares: dict[Spec, float | None]) -> None:
        self.shares = shares
        self.fitted: list[Spec] = []

    def __call__(self, some: Rows, spec: Spec, begin: Sequence[State | None] = ()) -> Learned:
        self.fitted.append(spec)
        yield Step("fit", 0, None, "iterations")
        share = self.shares[spec]
        if share is None:
            raise NotPositiveDefiniteError("expected a positive definite matrix")
        classes = (np.arange(1_000) < 1_000 * share).astype(np.float64)
        return FittedClasses(without_functions(2, classes, 1_000), (spec,), (None,))


def learned_by(learn: Constant, *, by_steps: bool = False) -> FoldFits:
    return FoldFits(learn, Folding(), FitContext(), by_steps)


def of_constants(n: int, shares: dict[Spec, float | None]) -> tuple[Trained, Constant]:
    rng = np.random.default_rng(0)
    some = Rows(rng.standard_normal((n, 2)), (rng.random(n) < 0.3).astype(np.float64))
    learn = Constant(shares)
    steps = chosen(some, tuple(shares), fifths(n), learned_by(learn), NORMAL.budget_of_choice)
    return returned(steps), learn


FROZEN = [replace(spec, likelihood=Bernoulli(1.0)) for spec in (ONE, EACH, STEPS)]
"""At a temperature that is given, so that a constant stays what it is."""


def test_what_will_hardly_be_the_best_is_not_fitted_again() -> None:
    one, each, steps = FROZEN
    for rows, folds in ((200, 2), (1_200, 1)):  # of 40 and 240 rows
        found, learn = of_constants(rows, {one: 0.9, each: 0.3, steps: 0.3})
        assert found.spec == each
        assert learn.fitted.count(one) == folds
        assert learn.fitted.count(each) + learn.fitted.count(steps) == 11
        assert [(other.spec, other.reason) for other in found.compared] == [
            (one, BEHIND.format(folds, 5)),
            (steps, None),
        ]
        assert [other.score is None for other in found.compared] == [True, False]


def test_of_equal_ones_the_first_is_taken() -> None:
    one, each, steps = FROZEN
    found, _ = of_constants(200, {one: 0.3, each: 0.3, steps: 0.3})
    assert found.spec == one


def test_what_cannot_be_fitted_is_named_and_costs_nothing_else() -> None:
    one, each, steps = FROZEN
    found, learn = of_constants(200, {one: None, each: 0.4, steps: 0.3})
    assert found.spec == steps
    first = found.compared[0]
    assert (first.spec, first.score, first.reason) == (one, None, NOT_FITTED)
    assert learn.fitted.count(one) == 1


def test_a_training_fails_only_where_nothing_can_be_fitted() -> None:
    one, each, steps = FROZEN
    with pytest.raises(NotPositiveDefiniteError, match="none of 3 alternatives"):
        of_constants(200, {one: None, each: None, steps: None})


def test_what_is_beyond_the_budget_is_left_out_and_named() -> None:
    specs = [ONE, EACH, STEPS]
    anew, by_steps = learned_by(Constant({})), learned_by(Constant({}), by_steps=True)
    unit = 300.0 * 150.0
    each = [work(spec, 300) for spec in specs]
    assert each == [75 * unit, 105 * unit, 105 * unit]
    assert work(replace(ONE, likelihood=BernoulliPerClass(4)), 300) == 4 * 75 * unit
    for budget, expected in (
        (5 * 285 * unit, (3, 5)),
        (5 * 285 * unit - 1, (3, 3)),
        (3 * 285 * unit - 1, (1, 5)),
        (5 * 75 * unit - 1, (1, 3)),
        (3 * 75 * unit - 1, (1, 0)),
    ):
        assert affordable(300, specs, 5, anew, budget) == expected
    for budget, expected in (
        (435 * unit, (3, 5)),
        (434 * unit, (3, 3)),
        (125 * unit, (1, 5)),
        (105 * unit, (1, 3)),
        (104 * unit, (1, 0)),
    ):
        assert affordable(300, specs, 5, by_steps, budget) == expected
    for_one = replace(ANEW, budget_of_choice=5 * work(ONE, 60))
    found = ended(train(rows(), Selection(ONE, alternatives=(STEPS,), bounds=for_one)))
    assert found.spec == ONE
    assert found.score.rows == 60
    assert {one.reason for one in found.compared} == {by_folds.UNAFFORDABLE}


def test_without_a_fold_the_temperature_is_that_of_weights_learned_anew() -> None:
    nothing = replace(NORMAL, budget_of_choice=0.0)
    unmeasured, quick = (
        ended(train(rows(), Selection(ONE, alternatives=(STEPS,), bounds=nothing))),
        ended(train(rows(), Selection(ONE))),
    )
    assert unmeasured.validation == {}
    assert unmeasured.score.value is None
    assert unmeasured.score.reason is not None
    np.testing.assert_array_equal(probabilities(unmeasured, rows().X), probabilities(quick, rows().X))
    temperature = fitted_temperature(*by_hand(ONE))
    assert temperature_in(quick.learned) == pytest.approx(temperature, rel=0.1)


def test_a_temperature_that_is_given_stays() -> None:
    given = [replace(spec, likelihood=Bernoulli(1.7)) for spec in (ONE, STEPS)]
    found = ended(train(rows(), Selection(given[0], alternatives=(given[1],))))
    assert likelihood_of(found.learned) == Bernoulli(1.7)


def test_every_fold_has_its_share_of_every_class() -> None:
    X, t = ring(97, 0, 4)
    for _, fold in random_folds(X, t, 5, 0, stratified=True):
        for label in range(4):
            held = int((t[fold] == label).sum())
            assert abs(held - int((t == label).sum()) / 5) < 1.0


def factors(rows: int, seed: int) -> tuple[Array, Array]:
    """60 correlated inputs of 12 factors, and two classes on both sides of a weakly bent boundary."""
    rng = np.random.default_rng(5)
    loads, slopes = rng.standard_normal((12, 60)) / np.sqrt(12.0), rng.standard_normal(12)
    rng = np.random.default_rng((5, seed))
    F = rng.standard_normal((rows, 12))
    X = F @ loads + 0.3 * rng.standard_normal((rows, 60))
    latent = 2.0 * F @ slopes / np.linalg.norm(slopes) + 0.4 * F[:, 0] * F[:, 1]
    return X, (rng.random(rows) < 1.0 / (1.0 + np.exp(-latent))).astype(np.float64)


def logistic(X: Array, t: Array, Z: Array, u: Array) -> float:
    """The log loss at Z of logistic regression under scikit-learn's default penalty, 1/2 |w|^2."""
    X, Z = (np.column_stack([one, np.ones(len(one))]) for one in (X, Z))
    penalised = np.append(np.ones(X.shape[1] - 1), 0.0)

    def falling(w: Array) -> tuple[float, Array]:
        f = X @ w
        value = float(np.logaddexp(0.0, f).sum() - t @ f + 0.5 * penalised @ w**2)
        return value, X.T @ (expit(f) - t) + penalised * w

    w = minimize(falling, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B").x
    return float(np.mean(np.logaddexp(0.0, Z @ w) - u * (Z @ w)))


def test_few_rows_of_many_correlated_inputs_are_classified_as_well_as_by_logistic_regression() -> None:
    (X, t), (Z, u) = factors(130, 0), factors(3_000, 1)
    X, Z = X / X.std(axis=0), Z / X.std(axis=0)
    found = ended(train(Rows(X, t), Selection(ONE)))
    prediction, _ = ready_of(found.learned).predict(Z)
    assert scores(prediction, u)["log_loss"] < logistic(X, t, Z, u) + 0.02


@pytest.mark.thorough
def test_the_four_inputs_of_32_that_matter_are_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 32))
    latent = 3.0 * np.sin(1.5 * X[:, 0]) + 2.0 * X[:, 1] * X[:, 2] + 2.0 * X[:, 3]
    t = (rng.random(300) < 1.0 / (1.0 + np.exp(-2.0 * latent))).astype(np.float64)
    model = ended(train(Rows(X, t), Selection(EACH))).model
    kernels = model.functions[0]
    assert isinstance(kernels, KernelFunctions)
    widths = kernels.input_map.widths
    assert set(np.argsort(widths)[:4].tolist()) == {0, 1, 2, 3}
    assert np.sort(widths)[4] > 1.5 * np.sort(widths)[3]
