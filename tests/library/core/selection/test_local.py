"""Nearest-neighbour processes beside the sparse model: which is taken, on which rows, and what is kept of learning."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Greedy
from relevance_bayes.core.algorithms.state import FitTracer
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.kernels import Gaussian, Matern52
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth
from relevance_bayes.core.likelihoods import GaussianNoise, Hurdle, LogGaussian, Poisson, TargetLikelihood
from relevance_bayes.core.models.effects import contributions, joint
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.models.local.learning import (
    LocalState,
    LocalTask,
    advance,
    decoded,
    encoded,
    learn,
    n_apart,
    validated,
)
from relevance_bayes.core.models.local.model import LocalModel
from relevance_bayes.core.models.local.neighbours import LocalChoice
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import members_of, n_functions, ready_of, representative
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection import FitContext, Folding, Rows, Selection, Step, Trained, train
from relevance_bayes.core.selection.local import (
    BOUNDED_BETTER,
    NO_STRUCTURE,
    LearnedProcess,
    LocalFit,
    has_structure,
    learned_locally,
    sparse_alternative,
)
from relevance_bayes.core.types import Array
from tests.library.core.models.local.drawn_locally import posed

BASIS = (KernelBasis(Gaussian(), EvidencePerInputWidth()), Bias(), Inputs())
SPEC = Spec(GaussianNoise(), BASIS, GaussianProcess(inducing_points="rows"), Greedy())
ONE_KERNEL = (Matern52(),)
FEW_PRIOR = GaussianProcess(inducing_points="rows", max_functions=1)


def rough(rows: int = 700, *, seed: int = 3) -> Rows:
    """X (N, 2) and a function of so many hills that few functions can't follow it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (rows, 2))
    return Rows(X, np.sin(6.0 * X[:, 0]) * np.cos(6.0 * X[:, 1]) + X[:, 0] + 0.1 * rng.standard_normal(rows) + 3.0)


def linear(rows: int = 200) -> Rows:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, 2))
    return Rows(X, X @ np.array([1.0, -2.0]) + 0.3 * rng.standard_normal(rows))


def trained(rows: Rows, choice: LocalChoice, fit_log: FitLog | None = None, folding: Folding | None = None) -> Trained:
    """The end of a training whose sparse model may have few functions."""
    few = Spec(SPEC.likelihood, BASIS, GaussianProcess(inducing_points="rows", max_functions=12), Greedy())
    *_, last = train(rows, Selection(few, local=choice), folding=folding, on=FitContext(fit_log or FitLog()))
    assert isinstance(last, Trained)
    return last


def ended(steps: Generator[Step, None, LocalFit]) -> LocalFit:
    """The result of a comparison, run to its end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: LocalFit = end.value
            return found


def errors(found: Trained, rows: Rows) -> Array:
    prediction, _ = ready_of(found.learned).predict(rows.X)
    return np.asarray(prediction.mean - rows.t)  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def selected() -> Trained:
    return trained(rough(), LocalChoice(kernels=ONE_KERNEL, warped=False))


@pytest.mark.thorough
def test_a_process_is_taken_where_few_functions_can_not_follow(selected: Trained) -> None:
    assert isinstance(selected.learned, LocalModel)
    assert selected.local is not None
    assert selected.local.taken is not None
    assert selected.local.sparse is not None
    best = max(one.score for one in selected.local.candidates if one.score is not None)
    assert best > selected.local.sparse + 0.5
    assert selected.score.value == pytest.approx(best, rel=1e-9)
    assert [one.on for one in selected.local.candidates] == ["targets", "residuals"]
    assert [one.reason is None for one in selected.local.candidates].count(True) == 1


def test_it_is_of_all_rows_and_predicts_new_ones(selected: Trained) -> None:
    assert representative(selected.learned).rows == 700
    fresh = rough(300, seed=8)
    off = errors(selected, fresh)
    assert float(np.sqrt(np.mean(off**2))) < 0.2
    prediction, support = ready_of(selected.learned).predict(fresh.X)
    assert support is not None
    inside = (prediction.quantile(0.025) <= fresh.t) & (fresh.t <= prediction.quantile(0.975))  # type: ignore[union-attr]
    assert 0.9 <= float(inside.mean()) <= 0.99


def test_its_score_is_of_the_rows_kept_apart(selected: Trained) -> None:
    assert selected.validation["rows"] == selected.score.rows == 140
    assert selected.validation["nll"] == pytest.approx(-(selected.score.value or 0.0))
    assert selected.validation["rmse"] < 0.2
    assert 0.88 <= selected.validation["coverage_95"] <= 1.0


def test_folds_that_are_requested_measure_whole_trainings_of_the_process() -> None:
    choice = LocalChoice(20, "targets", True, ONE_KERNEL, False)
    *_, last = train(rough(360), Selection(SPEC, local=choice, folds=3))
    assert isinstance(last, Trained)
    assert isinstance(last.learned, LocalModel)
    assert last.validation["rows"] == 360
    assert (last.score.rows, last.score.folds) == (360, 3)
    assert last.validation["rmse"] < 0.5 * float(rough(360).t.std())


@pytest.mark.thorough
def test_residuals_keep_the_sparse_model_as_trend() -> None:
    found = trained(rough(400), LocalChoice(on="residuals", required=True, kernels=ONE_KERNEL, warped=False))
    assert isinstance(found.learned, LocalModel)
    assert found.learned.trend is not None
    assert members_of(found.learned) == (found.learned.trend,)
    assert n_functions(found.learned) == found.learned.trend.size > 0
    ready, X = ready_of(found.learned), rough(50, seed=9).X
    added = contributions(ready, X, 3)
    np.testing.assert_allclose(added.total, ready.predict(X)[0].mean, rtol=1e-12)  # type: ignore[union-attr]
    assert added.functions.shape == (50, 3)


def test_of_targets_alone_there_is_no_sparse_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevance_bayes.core.selection.local.fitted_to", None)
    found = trained(rough(400), LocalChoice(40, "targets", required=True, kernels=ONE_KERNEL, warped=False))
    assert isinstance(found.learned, LocalModel)
    assert found.learned.process.neighbours == 40
    assert n_functions(found.learned) == 0
    ready, X = ready_of(found.learned), rough(50, seed=9).X
    added = contributions(ready, X, 3)
    assert added.functions.shape == (50, 0)
    np.testing.assert_allclose(added.total, ready.predict(X)[0].mean, rtol=1e-12)  # type: ignore[union-attr]
    with pytest.raises(DataError, match="expected a sparse model"):
        joint(ready, X)


def test_noise_that_varies_is_compared_where_a_process_would_be_taken() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-2.0, 2.0, (500, 2))
    varied = Rows(X, np.sin(3.0 * X[:, 0]) + np.exp(1.5 * X[:, 0] - 1.5) * rng.standard_normal(500))
    few = replace(SPEC, prior=GaussianProcess(inducing_points="rows", max_functions=1))
    varying = replace(SPEC, likelihood=GaussianNoise("heteroscedastic"))
    choice = LocalChoice(kernels=ONE_KERNEL, warped=False)
    scores = []
    for compared_models in ((), (varying,)):
        context = FitContext(FitLog(), 1, None)
        compared = ended(learned_locally(varied, few, compared_models, choice, Folding(), context)).comparison
        assert (compared.taken is None) == bool(compared_models)
        scores.append(compared.sparse or 0.0)
    constant, best = scores
    assert best > constant + 0.3


@pytest.mark.thorough
def test_varying_noise_that_could_not_make_up_for_a_process_is_not_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is fitted where it could gain as much."""
    monkeypatch.setattr("relevance_bayes.core.selection.local.has_structure", lambda *_: True)
    monkeypatch.setattr("relevance_bayes.core.selection.local.has_varying_noise", lambda *_: True)
    rng = np.random.default_rng(1)
    X = rng.uniform(-2.0, 2.0, (300, 2))
    rows = Rows(X, np.sin(3.0 * X[:, 0]) + 0.1 * rng.standard_normal(300))
    few = replace(SPEC, prior=GaussianProcess(inducing_points="rows", max_functions=1))
    varying = replace(SPEC, likelihood=GaussianNoise("heteroscedastic"))
    choice, fits = LocalChoice(on="targets", kernels=ONE_KERNEL, warped=False), list[float]()

    def fit(*_: object, **__: object) -> Generator[Step, None, None]:
        fits.append(max_gain)
        yield Step("fit", 0, None, "iterations")
        raise NotPositiveDefiniteError("none")

    monkeypatch.setattr("relevance_bayes.core.selection.local.with_noise", fit)
    for max_gain in (0.0, 100.0):
        monkeypatch.setattr(
            "relevance_bayes.core.selection.local.max_gain_of_noise", lambda _, max_gain=max_gain: max_gain
        )
        context = FitContext(FitLog(), 1, None)
        found = ended(learned_locally(rows, few, (varying,), choice, Folding(), context))
        assert found.comparison.taken == "targets"
    assert fits == [100.0]


@pytest.mark.thorough
def test_residuals_that_do_not_vary_are_not_fitted_with_varying_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevance_bayes.core.selection.local.with_noise", None)
    few = replace(SPEC, prior=GaussianProcess(inducing_points="rows", max_functions=12))
    varying = replace(SPEC, likelihood=GaussianNoise("heteroscedastic"))
    *_, last = train(
        rough(400), Selection(few, compared_models=(varying,), local=LocalChoice(kernels=ONE_KERNEL, warped=False))
    )
    assert isinstance(last, Trained)
    assert isinstance(last.learned, LocalModel)


@pytest.mark.thorough
def test_the_sparse_model_stays_where_a_process_is_no_better() -> None:
    found = trained(linear(), LocalChoice(kernels=ONE_KERNEL))
    assert not isinstance(found.learned, LocalModel)
    assert found.local is not None
    assert found.local.taken is None
    assert all(one.reason is not None for one in found.local.candidates)


@pytest.mark.thorough
def test_a_process_that_is_behind_by_its_first_kernel_ends_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevance_bayes.core.selection.local.has_structure", lambda *_: True)
    kernels, log, steps = (Matern52(), Gaussian()), FitLog(), 0
    rows, choice = linear(600), LocalChoice(8, "targets", kernels=kernels, warped=False)
    for step in train(rows, Selection(SPEC, local=choice), on=FitContext(log)):
        steps += isinstance(step, Step) and step.phase == "neighbours"
    task = LocalTask(posed(rows.X, rows.t), kernels)
    assert steps == 1 + task.starts + 1  # the beginning, the starts of the first kernel, and its best
    assert isinstance(step, Trained)
    assert step.local is not None
    (candidate,) = step.local.candidates
    assert candidate.kernel == kernels[0].type
    assert candidate.score is not None
    assert candidate.reason is not None
    *_, again = train(rows, Selection(SPEC, local=choice), on=FitContext(FitLog(log.entries)))
    assert isinstance(again, Trained)
    assert again.local == step.local


def few_functions(rows: Rows) -> Ready:
    few = Spec(SPEC.likelihood, BASIS, GaussianProcess(inducing_points="rows", max_functions=12), Greedy())
    steps = sparse_alternative(rows, few, Folding(), FitContext())
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Ready = end.value
            return found


@pytest.mark.parametrize(("drawn", "training"), [(rough, 500), (rough, 320), (linear, 500)])
def test_residuals_that_are_like_their_neighbours_show_structure(drawn: Callable[[int], Rows], training: int) -> None:
    rows = drawn(training + 200)
    others, apart = rows.take(np.arange(training)), rows.take(np.arange(training, training + 200))
    sparse = few_functions(others)
    assert has_structure(sparse, others, apart) is (drawn is rough)
    rng = np.random.default_rng(0)
    assert not has_structure(sparse, others, replace(apart, t=sparse.latent(apart.X).mean + rng.standard_normal(200)))


def test_without_structure_no_process_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevance_bayes.core.selection.local.advance", None)
    found = trained(linear(600), LocalChoice(kernels=ONE_KERNEL))
    assert found.local is not None
    assert [one.reason for one in found.local.candidates] == [NO_STRUCTURE, NO_STRUCTURE]
    assert found.local.taken is None


def test_a_required_process_states_what_speaks_against_it_and_nothing_takes_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choice = LocalChoice(40, "residuals", required=True, kernels=ONE_KERNEL)
    found = trained(linear(), choice)
    assert isinstance(found.learned, LocalModel)
    assert found.local is not None
    (candidate,) = found.local.candidates
    assert candidate.reason is not None

    def fails(task: LocalTask, state: LocalState) -> LocalState:
        raise NotPositiveDefiniteError("expected positive definite covariances")

    monkeypatch.setattr("relevance_bayes.core.selection.local.advance", fails)
    with pytest.raises(NotPositiveDefiniteError):
        trained(linear(), choice)
    assert not isinstance(trained(linear(), replace(choice, required=False)).learned, LocalModel)


def test_a_model_of_the_logarithm_is_compared_too() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-2.0, 2.0, (600, 2))
    rows = Rows(X, np.exp(2.0 * np.sin(2.0 * X[:, 0]) + 0.5 * rng.standard_normal(600)))
    log = replace(SPEC, likelihood=LogGaussian())
    choice = LocalChoice(40, "targets", kernels=ONE_KERNEL, warped=False)
    *_, alone = train(rows, Selection(SPEC, local=choice))
    *_, beside = train(rows, Selection(SPEC, compared_models=(log,), local=choice))
    assert isinstance(alone, Trained)
    assert isinstance(beside, Trained)
    assert alone.local is not None
    assert beside.local is not None
    assert beside.local.taken is None
    assert beside.local.sparse is not None
    assert alone.local.sparse is not None
    assert beside.local.sparse > alone.local.sparse + 0.3
    assert beside.learned.likelihood == LogGaussian()  # type: ignore[union-attr]


def counts(rng: np.random.Generator, f: Array) -> Array:
    return np.asarray(rng.poisson(np.exp(0.2 + 1.2 * f)), np.float64)


def amounts(rng: np.random.Generator, f: Array) -> Array:
    return np.where(rng.random(len(f)) < 0.4, 0.0, np.exp(1.5 * f + 0.5 * rng.standard_normal(len(f))))


def whole_numbers(rng: np.random.Generator, f: Array) -> Array:
    """Whole numbers from 0 on with Gaussian noise."""
    return np.asarray(np.round(np.maximum(5.0 + 3.0 * f + 1.5 * rng.standard_normal(len(f)), 0.0)))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("drawn", "likelihood", "is_taken"),
    [
        (counts, Poisson(), False),
        (amounts, Hurdle(), False),
        (whole_numbers, Poisson(), True),
    ],
)
def test_counts_and_a_hurdle_are_compared_where_a_process_would_be_taken(
    drawn: Callable[[np.random.Generator, Array], Array], likelihood: TargetLikelihood, *, is_taken: bool
) -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(-2.0, 2.0, (400, 2))
    rows, few = Rows(X, drawn(rng, np.sin(3.0 * X[:, 0]))), replace(SPEC, prior=FEW_PRIOR)
    choice, context = LocalChoice(on="targets", kernels=ONE_KERNEL, warped=False), FitContext(FitLog(), 1, None)
    alone = ended(learned_locally(rows, few, (), choice, Folding(), context))
    assert alone.comparison.taken == "targets"
    compared = (replace(SPEC, likelihood=likelihood),)
    found = ended(learned_locally(rows, few, compared, choice, Folding(), FitContext(FitLog(), 1, None)))
    assert found.comparison.taken == ("targets" if is_taken else None)
    reason = None if is_taken else BOUNDED_BETTER.format(likelihood.type)
    assert [one.reason for one in found.comparison.candidates] == [reason]


@pytest.mark.thorough
def test_fewer_neighbours_are_taken_where_they_cost_little(selected: Trained) -> None:
    assert isinstance(selected.learned, LocalModel)
    assert selected.learned.process.neighbours in {64, 128}
    assert trained(rough(), LocalChoice(256, "targets", True, ONE_KERNEL, False)).score.value == pytest.approx(
        selected.score.value, abs=0.021
    )


@pytest.mark.thorough
@pytest.mark.parametrize("kept", [1, 3, 5])
def test_learning_goes_on_from_what_was_kept_to_the_same_bits(kept: int) -> None:
    choice = LocalChoice(40, kernels=ONE_KERNEL, warped=False)
    full = trained(rough(400), choice)
    fit_log = FitLog()
    few = Spec(SPEC.likelihood, BASIS, GaussianProcess(inducing_points="rows", max_functions=12), Greedy())
    done = 0
    for step in train(rough(400), Selection(few, local=choice), on=FitContext(fit_log)):
        done += isinstance(step, Step) and step.phase == "neighbours"
        if done == kept + 2:
            break
    again = trained(rough(400), choice, FitLog(fit_log.entries))
    np.testing.assert_array_equal(errors(again, rough(50, seed=9)), errors(full, rough(50, seed=9)))


def test_a_state_of_learning_is_the_same_from_its_numbers() -> None:
    rows = rough(200)
    task = LocalTask(posed(rows.X, rows.t), ONE_KERNEL)
    state = LocalState()
    seen = list[Sequence[float]]()
    while state.found is None:
        state = decoded(encoded(advance(task, state), task), task)
        numbers = encoded(state, task)
        np.testing.assert_allclose(numbers, encoded(decoded(numbers, task), task), rtol=1e-12)
        seen.append(numbers.tolist())
    assert [numbers[0] for numbers in seen] == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_log_densities_are_those_of_the_rows_in_their_order() -> None:
    rows = rough(200)
    task = LocalTask(posed(rows.X, rows.t), ONE_KERNEL, neighbours=20)
    *_, last = learn(task)
    assert last.found is not None
    found = LearnedProcess("targets", task, last.found, validated(task, last.found), FitTracer().trace)
    numbers = task.order[task.learned :]
    by_row = dict(zip(numbers.tolist(), found.validation.predicted.log_density.tolist(), strict=True))
    assert found.log_density.tolist() == [by_row[number] for number in sorted(by_row)]


def test_groups_stay_whole_and_the_last_in_time_are_kept_apart() -> None:
    rows = rough(500)
    groups = np.repeat(np.arange(50.0), 10)
    apart = Folding("groups", groups).held_out(n_apart(len(rows.t)), 0)
    assert apart is not None
    assert 80 <= len(apart) <= 140
    assert all(np.isin(groups == group, [True]).sum() == 10 for group in np.unique(groups[apart]))
    assert set(np.flatnonzero(np.isin(groups, groups[apart]))) == set(apart)
    late = Folding("order", np.arange(500.0)).held_out(n_apart(len(rows.t)), 0)
    np.testing.assert_array_equal(late, np.arange(400, 500))
    assert Folding().held_out(n_apart(len(rows.t)), 0) is None


def test_of_large_groups_no_more_than_the_size_is_kept_apart() -> None:
    rows = rough(500)
    groups = np.concatenate([np.zeros(300), np.arange(1.0, 201.0)])
    apart = Folding("groups", groups).held_out(n_apart(len(rows.t)), 0)
    assert apart is not None
    assert len(apart) == 100
    assert not (groups[apart] == 0.0).any()
    few = Folding("groups", np.repeat([0.0, 1.0], [300, 200])).held_out(n_apart(len(rows.t)), 0)
    np.testing.assert_array_equal(few, np.arange(300, 500))


@pytest.mark.parametrize("by", ["order", "groups"])
def test_where_the_rows_kept_apart_leave_too_few_the_sparse_model_is_trained(by: Literal["order", "groups"]) -> None:
    rows, keys = rough(200), np.zeros(200)
    choice = LocalChoice(20, "targets", kernels=ONE_KERNEL)
    found = trained(rows, choice, folding=Folding(by, keys))
    assert not isinstance(found.learned, LocalModel)
    assert found.local is not None
    assert (found.local.taken, found.local.rows) == (None, 0)
    with pytest.raises(DataError):
        trained(rows, replace(choice, required=True), folding=Folding(by, keys))


def test_rows_kept_apart_are_never_learned_from() -> None:
    rows = rough(300)
    task = LocalTask(posed(rows.X, rows.t), ONE_KERNEL, apart=np.arange(200, 240))
    assert task.learned == 260
    assert set(task.order[task.learned :]) == set(range(200, 240))
    assert sorted(task.order) == list(range(300))
