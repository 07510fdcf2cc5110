"""A pool is judged by rows that it has not learned from, and ends the same however often it is broken off."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Sequential
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.errors import ConstantTargetError, NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog, LogEntry
from relevance_bayes.core.fitting import pose
from relevance_bayes.core.folds import random_folds
from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.likelihoods import GaussianNoise, LogGaussian
from relevance_bayes.core.pool import Pool, members_of, n_functions, ready_of
from relevance_bayes.core.pooling.densities import Densities
from relevance_bayes.core.pooling.learning import Whole, whole
from relevance_bayes.core.prediction import RealPrediction
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.scales import EvidenceWidth, InheritedWidth
from relevance_bayes.core.selection import Folding, Rows, Step, Trained, pool_members, train
from relevance_bayes.core.selection.pool_evaluation import PoolEvaluation
from relevance_bayes.core.selection.pool_members import MAX_SIGNAL_TO_NOISE
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array
from tests.library.core.drawn import friedman, process_spec, sinc

SMOOTH = replace(process_spec(GaussianNoise(), inputs=True, vectors="rows"), seed=3)
ROUGH = replace(process_spec(GaussianNoise(), inputs=True, vectors="rows", kernel=Matern32()), seed=3)
ONE_WIDTH = replace(process_spec(GaussianNoise(), inputs=True, vectors="rows", width=EvidenceWidth()), seed=3)
INDEPENDENT = Spec(
    GaussianNoise(),
    (KernelBasis(Gaussian(), InheritedWidth()), Bias(), Inputs()),
    Independent(price=True),
    Sequential(),
    seed=3,
)


@cache
def rows() -> Rows:
    X, t, _ = friedman(90, 0)
    return Rows(X, t)


def ended(steps: Iterator[Step | Trained]) -> Trained:
    *_, last = steps
    assert isinstance(last, Trained)
    return last


@cache
def trained() -> Trained:
    return ended(train(rows(), SMOOTH, pool=(ROUGH, ONE_WIDTH)))


def predicted(found: Trained, X: Array) -> RealPrediction:
    prediction, _ = ready_of(found.learned).predict(X)
    assert isinstance(prediction, RealPrediction)
    return prediction


def scales(X: Array, t: Array, spec: Spec, first: Whole | None = None) -> Whole:
    problem = pose(X, t, spec)
    if first is not None:
        problem = replace(problem, begin=first.hyperparameters)
    return [*whole(problem, spec, FitLog())][-1]


def test_the_score_is_that_of_rows_that_nothing_was_learned_from() -> None:
    """The same by hand: every process learned from the other folds, and weighted by them."""
    X, t = rows().X, rows().t
    splits = list(random_folds(X, t, 5, 3))
    densities = []
    for others, fold in splits:
        first = scales(X[others], t[others], SMOOTH)
        noisy = first.hyperparameters.beta * first.problem.square < MAX_SIGNAL_TO_NOISE
        members = [
            first,
            scales(X[others], t[others], ROUGH, first if noisy else None),
            scales(X[others], t[others], ONE_WIDTH),
        ]
        found = [member.predict(X[fold]) for member in members]
        means, variances = zip(
            *((one.mean, one.variance) for one in found if isinstance(one, RealPrediction)), strict=True
        )
        densities.append(Densities(np.column_stack(means), np.column_stack(variances)))
    nll = []
    for place, (_, fold) in enumerate(splits):
        rest = [one for one in range(5) if one != place]
        joined = Densities(
            np.concatenate([densities[one].means for one in rest]),
            np.concatenate([densities[one].variances for one in rest]),
        )
        weights = joined.best_weights(np.concatenate([t[splits[one][1]] for one in rest]))
        nll.append(-densities[place].log_density(t[fold], weights))
    each = np.concatenate(nll)
    assert trained().validation["nll"] == pytest.approx(float(each.mean()), rel=1e-9)
    assert trained().validation["nll_se"] == pytest.approx(float(each.std(ddof=1) / np.sqrt(90)), rel=1e-9)
    assert trained().validation["rows"] == 90.0


def test_the_score_agrees_with_new_rows() -> None:
    X, t, _ = friedman(2_000, 1)
    nll = -predicted(trained(), X).log_density(t)
    reported = trained().validation
    assert abs(reported["nll"] - float(nll.mean())) < 3.0 * reported["nll_se"]


def test_members_have_the_weights_and_functions_that_are_reported() -> None:
    found = trained()
    assert sum(member.weight for member in found.members) == pytest.approx(1.0)
    assert [member.functions for member in found.members] == [len(one.mean) for one in members_of(found.learned)]
    assert len(found.compared) == 3
    assert all(one.score is not None for one in found.compared)
    assert found.score_loss is not None
    assert 0.0 <= found.score_loss < 0.05
    if isinstance(found.learned, Pool):
        assert found.learned.weights.tolist() == [member.weight for member in found.members]


@pytest.mark.parametrize("places", [3, pytest.param(8, marks=pytest.mark.thorough)])
def test_a_training_that_is_broken_off_anywhere_ends_the_same(places: int) -> None:
    expected = predicted(trained(), rows().X)
    marks: list[tuple[LogEntry, ...]] = []
    fit_log = FitLog()
    for _ in train(rows(), SMOOTH, pool=(ROUGH, ONE_WIDTH), fit_log=fit_log):
        if (
            not marks
            or len(marks[-1]) != len(fit_log.entries)
            or any(a is not b for a, b in zip(marks[-1], fit_log.entries, strict=True))
        ):
            marks.append(fit_log.entries)
    for kept in marks[:: max(1, len(marks) // places)]:
        again = ended(train(rows(), SMOOTH, pool=(ROUGH, ONE_WIDTH), fit_log=FitLog(kept)))
        np.testing.assert_array_equal(predicted(again, rows().X).mean, expected.mean)
        assert again.validation == trained().validation
        assert again.members == trained().members


def test_an_alternative_that_the_folds_clearly_prefer_takes_the_place_of_the_pool() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (120, 1))
    targets = np.exp(2.0 * X[:, 0] + 0.3 * rng.standard_normal(120))
    alternative = replace(SMOOTH, likelihood=LogGaussian())
    found = ended(train(Rows(X, targets), SMOOTH, pool=(ROUGH,), compared_models=(alternative,)))
    assert found.spec == alternative
    assert found.members == ()
    assert [one.spec for one in found.compared] == [SMOOTH, ROUGH]
    worse = [one.score for one in found.compared if one.score is not None]
    assert -found.validation["nll"] > max(worse)


def test_an_alternative_that_is_not_clearly_better_is_reported_and_left() -> None:
    found = ended(train(rows(), SMOOTH, pool=(ROUGH,), compared_models=(INDEPENDENT,)))
    assert found.spec.prior.type == "gaussian_process"
    assert found.compared[-1].spec == INDEPENDENT
    assert found.compared[-1].score is not None


def test_a_member_that_cannot_be_learned_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(problem: Problem, spec: Spec, fit_log: FitLog) -> Iterator[Whole]:
        if spec == ROUGH:
            raise NotPositiveDefiniteError("expected a positive definite matrix")
        return whole(problem, spec, fit_log)

    monkeypatch.setattr(pool_members, "whole", broken)
    found = ended(train(rows(), SMOOTH, pool=(ROUGH, ONE_WIDTH)))
    lost = found.compared[1]
    assert (lost.spec, lost.score) == (ROUGH, None)
    assert lost.reason
    assert ROUGH not in [member.spec for member in found.members]


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_very_few_rows_are_learned_from(size: int) -> None:
    X, t = sinc(size, 0)
    found = ended(train(Rows(X, t), SMOOTH, pool=(ROUGH,)))
    assert np.isfinite(predicted(found, X).mean).all()
    assert n_functions(found.learned) >= 1


def test_a_constant_target_is_refused() -> None:
    with pytest.raises(ConstantTargetError):
        ended(train(Rows(rows().X, np.ones(90)), SMOOTH, pool=(ROUGH,)))


def test_noise_of_each_row_that_is_known_counts_in_every_member() -> None:
    X, _, f = friedman(80, 0)
    sd = np.where(np.arange(80) % 2, 0.1, 3.0)
    noisy = f + sd * np.random.default_rng(0).standard_normal(80)
    specs = [replace(one, likelihood=GaussianNoise("rows")) for one in (SMOOTH, ROUGH)]
    found = ended(train(Rows(X, noisy, sd), specs[0], pool=(specs[1],)))
    by_row, _ = ready_of(found.learned).predict(X, sd)
    assert isinstance(by_row, RealPrediction)
    np.testing.assert_allclose(by_row.noise, sd**2, rtol=0.05)
    assert np.abs(by_row.mean - f)[sd < 1.0].mean() < np.abs(by_row.mean - f)[sd > 1.0].mean()


def test_groups_are_not_divided_by_folds() -> None:
    X, t, _ = friedman(60, 0)
    groups = np.repeat(np.arange(12.0), 5)
    folding = Folding("groups", groups)
    for others, fold in folding.splits(Rows(X, t), 5, 0):
        assert set(groups[others]).isdisjoint(groups[fold])
    found = ended(train(Rows(X, t), SMOOTH, pool=(ROUGH,), folding=folding))
    assert found.validation["rows"] == 60.0


def test_the_number_of_folds_is_that_requested() -> None:
    steps = [step for step in train(rows(), SMOOTH, pool=(ONE_WIDTH,), folds=3) if isinstance(step, Step)]
    assert {step.total for step in steps if step.phase == "folds"} == {3}
    assert steps[-1].phase == "done"


VARYING = replace(SMOOTH, likelihood=GaussianNoise("heteroscedastic"))


def varying(seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, 120)
    return Rows(x[:, None], np.sin(2.0 * x) + np.exp(0.8 * x - 1.0) * rng.standard_normal(120))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_noise_that_depends_on_the_inputs_is_selected_where_residuals_require_it(seed: int) -> None:
    found = ended(train(varying(seed), SMOOTH, pool=(ROUGH,), compared_models=(VARYING,)))
    alike = ended(train(varying(seed), SMOOTH, pool=(ROUGH,)))
    assert found.spec.likelihood == VARYING.likelihood
    assert found.model.log_noise is not None
    assert found.members == ()
    assert found.validation["nll"] < alike.validation["nll"] - 0.1
    assert [one.spec.likelihood for one in found.compared] == [GaussianNoise()] * 2


def test_the_first_model_of_varying_noise_has_the_kernel_of_the_heaviest_member(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PoolEvaluation, "heaviest", 1)
    found = ended(train(varying(0), SMOOTH, pool=(ROUGH,), compared_models=(VARYING,)))
    assert found.spec == replace(ROUGH, likelihood=VARYING.likelihood)


def test_of_several_models_of_varying_noise_a_worse_one_changes_nothing() -> None:
    few = replace(VARYING, prior=GaussianProcess(max_functions=1))
    found = ended(train(varying(0), SMOOTH, pool=(ROUGH,), compared_models=(VARYING, few)))
    alike = ended(train(varying(0), SMOOTH, pool=(ROUGH,), compared_models=(VARYING,)))
    assert (found.spec, found.validation) == (alike.spec, alike.validation)
    assert [one.spec for one in found.compared] == [one.spec for one in alike.compared]


def test_of_several_models_of_varying_noise_the_better_one_is_measured_on_all_folds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PoolEvaluation, "first_or_clearly_better", 1)
    own = replace(ONE_WIDTH, likelihood=VARYING.likelihood)
    found = ended(train(varying(0), SMOOTH, pool=(ROUGH,), compared_models=(VARYING, own)))
    assert (found.spec, found.validation["rows"]) == (own, 120.0)


@pytest.mark.parametrize("seed", [0, 1])
def test_noise_of_one_size_is_not_compared_with_noise_that_varies(seed: int) -> None:
    X, t = sinc(80, seed)
    found = ended(train(Rows(X, t), SMOOTH, pool=(ROUGH,), compared_models=(VARYING,)))
    alike = ended(train(Rows(X, t), SMOOTH, pool=(ROUGH,)))
    (unasked,) = (one for one in found.compared if one.spec.likelihood == VARYING.likelihood)
    assert unasked.score is None
    assert unasked.reason is not None
    assert "residuals" in unasked.reason
    at = np.linspace(-12.0, 12.0, 9)[:, None]
    np.testing.assert_array_equal(predicted(found, at).mean, predicted(alike, at).mean)
