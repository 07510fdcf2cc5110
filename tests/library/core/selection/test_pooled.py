"""A pool is judged by rows that it has not learned from, and ends the same however often it is broken off."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy

from relevance_bayes.core.algorithms import Sequential
from relevance_bayes.core.algorithms import task as tasks
from relevance_bayes.core.algorithms.sequential import with_hyperparameters
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.errors import ConstantTargetError, NotPositiveDefiniteError
from relevance_bayes.core.folds import random_folds
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.kernels.hyperparameters import EvidenceWidth, InheritedWidth, InputMap
from relevance_bayes.core.likelihoods import GaussianNoise, LogGaussian
from relevance_bayes.core.log_density import MAX_SHORTFALL
from relevance_bayes.core.models.fitting import FitLog, LogEntry, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import Pool, members_of, n_functions, ready_of
from relevance_bayes.core.models.pooling import folds, members, reduction
from relevance_bayes.core.models.pooling.folds import ProcessFolds
from relevance_bayes.core.models.pooling.members import MAX_SIGNAL_TO_NOISE, FailedFit, MemberFit, Whole, whole
from relevance_bayes.core.models.pooling.reduction import Densities, MemberPredictions
from relevance_bayes.core.models.prediction import RealPrediction
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.rows import ArrayRows
from relevance_bayes.core.selection import FitContext, Folding, Rows, Selection, Step, Trained, evaluation, train
from relevance_bayes.core.selection.candidates import alternative_fit
from relevance_bayes.core.selection.evaluation import PoolEvaluation
from relevance_bayes.core.selection.scoring import BEHIND, THOROUGH
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
    return ended(train(rows(), Selection(SMOOTH, pool=(ROUGH, ONE_WIDTH))))


def predicted(found: Trained, X: Array) -> RealPrediction:
    prediction, _ = ready_of(found.learned).predict(X)
    assert isinstance(prediction, RealPrediction)
    return prediction


def scales(X: Array, t: Array, spec: Spec, first: Whole | None = None) -> Whole:
    problem = pose(X, t, spec)
    if first is not None:
        problem = replace(problem, begin=first.hyperparameters)
    return [*whole(problem, spec, FitLog())][-1]


@pytest.mark.thorough
def test_the_score_is_that_of_rows_that_nothing_was_learned_from() -> None:
    """The same by hand, of folds learned anew: each process learned and weighted by the others, each row bounded."""
    anew = ended(train(rows(), Selection(SMOOTH, pool=(ROUGH, ONE_WIDTH), bounds=THOROUGH)))
    specs = [member.spec for member in anew.members]
    kept = [place for place, spec in enumerate((SMOOTH, ROUGH, ONE_WIDTH)) if spec in specs]
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
        densities.append(Densities(np.column_stack(means), np.column_stack(variances)).taken(np.array(kept)))
    nll, held_out = [], np.concatenate([t[fold] for _, fold in splits])
    for place, (_, fold) in enumerate(splits):
        rest = [one for one in range(5) if one != place]
        joined = Densities(
            np.concatenate([densities[one].means for one in rest]),
            np.concatenate([densities[one].variances for one in rest]),
        )
        weights = joined.best_weights(np.concatenate([t[splits[one][1]] for one in rest]))
        one = scipy.stats.norm.logpdf(t[fold], held_out.mean(), held_out.std())
        best = np.maximum(densities[place].of_members(t[fold]).max(axis=1), one)
        nll.append(-np.maximum(densities[place].log_density(t[fold], weights), best - MAX_SHORTFALL))
    each = np.concatenate(nll)
    assert anew.validation["nll"] == pytest.approx(float(each.mean()), rel=1e-9)
    assert anew.validation["nll_se"] == pytest.approx(float(each.std(ddof=1) / np.sqrt(90)), rel=1e-9)
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
    for _ in train(rows(), Selection(SMOOTH, pool=(ROUGH, ONE_WIDTH)), on=FitContext(fit_log)):
        if (
            not marks
            or len(marks[-1]) != len(fit_log.entries)
            or any(a is not b for a, b in zip(marks[-1], fit_log.entries, strict=True))
        ):
            marks.append(fit_log.entries)
    for kept in marks[:: max(1, len(marks) // places)]:
        again = ended(train(rows(), Selection(SMOOTH, pool=(ROUGH, ONE_WIDTH)), on=FitContext(FitLog(kept))))
        np.testing.assert_array_equal(predicted(again, rows().X).mean, expected.mean)
        assert again.validation == trained().validation
        assert again.members == trained().members


def test_an_alternative_that_the_folds_clearly_prefer_takes_the_place_of_the_pool() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (120, 1))
    targets = np.exp(2.0 * X[:, 0] + 0.3 * rng.standard_normal(120))
    alternative = replace(SMOOTH, likelihood=LogGaussian())
    found = ended(train(Rows(X, targets), Selection(SMOOTH, pool=(ROUGH,), compared_models=(alternative,))))
    assert found.spec == alternative
    assert found.members == ()
    assert [one.spec for one in found.compared] == [SMOOTH, ROUGH]
    worse = [one.score for one in found.compared if one.score is not None]
    assert -found.validation["nll"] > max(worse)


def test_an_alternative_that_is_taken_inherits_the_input_map_that_its_folds_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That of the first process, whatever the weights are."""
    begun = list[Spec]()

    def learned(rows: Rows, alternative: Spec, begin: MemberFit, fit_log: FitLog, step: Step) -> Iterator[Step]:
        assert isinstance(begin, Whole)
        begun.append(begin.spec)
        return alternative_fit(rows, alternative, begin, fit_log, step)

    monkeypatch.setattr(evaluation, "alternative_fit", learned)
    monkeypatch.setattr(PoolEvaluation, "is_hopeless", lambda *_: False)
    monkeypatch.setattr(PoolEvaluation, "best_alternative", 0)
    monkeypatch.setattr(MemberPredictions, "heaviest", 1)
    found = ended(train(rows(), Selection(SMOOTH, pool=(ROUGH,), compared_models=(INDEPENDENT,))))
    assert begun == [SMOOTH]
    assert found.spec == INDEPENDENT


def test_an_alternative_that_is_not_clearly_better_is_reported_and_left() -> None:
    found = ended(train(rows(), Selection(SMOOTH, pool=(ROUGH,), compared_models=(INDEPENDENT,))))
    assert found.spec.prior.type == "gaussian_process"
    assert found.compared[-1].spec == INDEPENDENT
    assert found.compared[-1].reason is not None
    assert "too far behind" in found.compared[-1].reason
    assert found.compared[-1].computable


def test_a_member_that_cannot_be_learned_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(problem: Problem, spec: Spec, fit_log: FitLog) -> Iterator[Whole]:
        if spec == ROUGH:
            raise NotPositiveDefiniteError("expected a positive definite matrix")
        return whole(problem, spec, fit_log)

    monkeypatch.setattr(members, "whole", broken)
    found = ended(train(rows(), Selection(SMOOTH, pool=(ROUGH, ONE_WIDTH))))
    lost = found.compared[1]
    assert (lost.spec, lost.score) == (ROUGH, None)
    assert lost.reason
    assert ROUGH not in [member.spec for member in found.members]


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_very_few_rows_are_learned_from(size: int) -> None:
    X, t = sinc(size, 0)
    found = ended(train(Rows(X, t), Selection(SMOOTH, pool=(ROUGH,))))
    assert np.isfinite(predicted(found, X).mean).all()
    assert n_functions(found.learned) >= 1


def test_a_constant_target_is_refused() -> None:
    with pytest.raises(ConstantTargetError):
        ended(train(Rows(rows().X, np.ones(90)), Selection(SMOOTH, pool=(ROUGH,))))


def test_noise_of_each_row_that_is_known_counts_in_every_member() -> None:
    X, _, f = friedman(80, 0)
    sd = np.where(np.arange(80) % 2, 0.1, 3.0)
    noisy = f + sd * np.random.default_rng(0).standard_normal(80)
    specs = [replace(one, likelihood=GaussianNoise("rows")) for one in (SMOOTH, ROUGH)]
    found = ended(train(Rows(X, noisy, sd), Selection(specs[0], pool=(specs[1],))))
    by_row, _ = ready_of(found.learned).predict(X, sd)
    assert isinstance(by_row, RealPrediction)
    assert (by_row.noise > 0.99 * sd**2).all()
    assert np.median(by_row.noise / sd**2) == pytest.approx(1.0, abs=0.01)
    assert np.abs(by_row.mean - f)[sd < 1.0].mean() < np.abs(by_row.mean - f)[sd > 1.0].mean()


def test_groups_are_not_divided_by_folds() -> None:
    X, t, _ = friedman(60, 0)
    groups = np.repeat(np.arange(12.0), 5)
    folding = Folding("groups", groups)
    for others, fold in folding.splits(Rows(X, t), 5, 0):
        assert set(groups[others]).isdisjoint(groups[fold])
    found = ended(train(Rows(X, t), Selection(SMOOTH, pool=(ROUGH,)), folding=folding))
    assert found.validation["rows"] == 60.0


def test_the_number_of_folds_is_that_requested() -> None:
    steps = [step for step in train(rows(), Selection(SMOOTH, pool=(ONE_WIDTH,), folds=3)) if isinstance(step, Step)]
    assert {step.total for step in steps if step.phase == "folds"} == {3}
    assert steps[-1].phase == "done"


VARYING = replace(SMOOTH, likelihood=GaussianNoise("heteroscedastic"))


def varying(seed: int, n: int = 120) -> Rows:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, n)
    return Rows(x[:, None], np.sin(2.0 * x) + np.exp(0.8 * x - 1.0) * rng.standard_normal(n))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_noise_that_depends_on_the_inputs_is_selected_where_residuals_require_it(seed: int) -> None:
    found = ended(train(varying(seed), Selection(SMOOTH, pool=(ROUGH,), compared_models=(VARYING,))))
    alike = ended(train(varying(seed), Selection(SMOOTH, pool=(ROUGH,))))
    assert found.spec.likelihood == VARYING.likelihood
    assert found.model.log_noise is not None
    assert found.members == ()
    assert found.validation["nll"] < alike.validation["nll"] - 0.1
    assert [one.spec.likelihood for one in found.compared] == [GaussianNoise()] * 2


@pytest.mark.thorough
def test_of_many_rows_varying_noise_is_learned_once_and_folds_are_predicted_at_its_scales(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, selection = varying(0, 400), Selection(SMOOTH, pool=(ROUGH,), compared_models=(VARYING,))
    anew = ended(train(few, selection))
    for module, name, value in ((folds, "MAX_ROWS_STEPPED", 300), (folds, "ROWS_FOR_SCALES", 150)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(tasks, "ROWS_FOR_SCALES", 150)
    monkeypatch.setattr(evaluation, "alternative_prediction", None)
    fit_log = FitLog()
    found = ended(train(few, selection, on=FitContext(fit_log)))
    assert found.spec.likelihood == VARYING.likelihood
    assert found.validation["nll"] == pytest.approx(anew.validation["nll"], abs=0.1)
    again = ended(train(few, selection, on=FitContext(FitLog(fit_log.entries))))
    np.testing.assert_array_equal(predicted(again, few.X).variance, predicted(found, few.X).variance)
    fitted = predicted(found, few.X)
    assert np.corrcoef(np.log(fitted.noise), few.X[:, 0])[0, 1] > 0.9  # log sd grows with x


def test_the_first_model_of_varying_noise_has_the_kernel_of_the_heaviest_member(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MemberPredictions, "heaviest", 1)
    found = ended(train(varying(0), Selection(SMOOTH, pool=(ROUGH,), compared_models=(VARYING,))))
    assert found.spec == replace(ROUGH, likelihood=VARYING.likelihood)


@pytest.mark.thorough
def test_of_several_models_of_varying_noise_a_worse_one_changes_nothing() -> None:
    few = replace(VARYING, prior=GaussianProcess(max_functions=1))
    found = ended(train(varying(0), Selection(SMOOTH, pool=(ROUGH,), compared_models=(VARYING, few))))
    alike = ended(train(varying(0), Selection(SMOOTH, pool=(ROUGH,), compared_models=(VARYING,))))
    assert (found.spec, found.validation) == (alike.spec, alike.validation)
    assert [one.spec for one in found.compared] == [one.spec for one in alike.compared]


def test_of_several_models_of_varying_noise_the_better_one_is_measured_on_all_folds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PoolEvaluation, "first_or_clearly_better", 1)
    own = replace(ONE_WIDTH, likelihood=VARYING.likelihood)
    found = ended(train(varying(0), Selection(SMOOTH, pool=(ROUGH,), compared_models=(VARYING, own))))
    assert (found.spec, found.validation["rows"]) == (own, 120.0)


def test_residuals_announce_before_the_folds_whether_varying_noise_is_compared() -> None:
    X, t = sinc(80, 0)
    for of, numbers in ((varying(0), (0,)), (Rows(X, t), ())):
        steps = list(train(of, Selection(SMOOTH, pool=(ROUGH,), compared_models=(VARYING,))))
        phases = [step.phase for step in steps if isinstance(step, Step)]
        (place,) = (at for at, step in enumerate(steps) if isinstance(step, Step) and step.announced is not None)
        found = steps[place]
        assert isinstance(found, Step)
        assert found.announced == numbers
        assert "alternatives" not in phases[: place + 1]
        assert ("alternatives" in phases) == bool(numbers)


def test_without_alternatives_nothing_is_computed_to_announce_them() -> None:
    """The leave-one-out of rows without targets can't be computed."""
    of = varying(0)
    *_, first = whole(pose(of.X, of.t, ROUGH), ROUGH, FitLog())
    split = np.arange(60), np.arange(60, len(of.t))
    lacking = folds.PoolFolds.of(replace(of, t=of.t[:60]), [first], [split], learns_anew=True)
    with pytest.raises(IndexError):
        evaluation.announced(lacking, (VARYING,))
    assert evaluation.announced(lacking, ()) == ()


@pytest.mark.parametrize("seed", [0, 1])
def test_noise_of_one_size_is_not_compared_with_noise_that_varies(seed: int) -> None:
    X, t = sinc(80, seed)
    found = ended(train(Rows(X, t), Selection(SMOOTH, pool=(ROUGH,), compared_models=(VARYING,))))
    alike = ended(train(Rows(X, t), Selection(SMOOTH, pool=(ROUGH,))))
    (unasked,) = (one for one in found.compared if one.spec.likelihood == VARYING.likelihood)
    assert unasked.score is None
    assert unasked.reason is not None
    assert "residuals" in unasked.reason
    at = np.linspace(-12.0, 12.0, 9)[:, None]
    np.testing.assert_array_equal(predicted(found, at).mean, predicted(alike, at).mean)


def test_threads_change_no_bit_and_no_step() -> None:
    X, t, _ = friedman(130, 0)
    runs = [
        list(train(Rows(X, t), Selection(SMOOTH, pool=(ROUGH, ONE_WIDTH)), on=FitContext(threads=threads)))
        for threads in (1, 3)
    ]
    (*steps, one), (*other_steps, other) = runs
    known = [step for step in other_steps if step not in steps]
    assert not known
    assert isinstance(one, Trained)
    assert isinstance(other, Trained)
    assert one.score == other.score
    np.testing.assert_array_equal(predicted(one, X).mean, predicted(other, X).mean)
    np.testing.assert_array_equal(predicted(one, X).variance, predicted(other, X).variance)


def test_each_row_is_predicted_by_the_others() -> None:
    X, t, _ = friedman(40, 0)
    member = scales(X, t, SMOOTH)
    prediction = ProcessFolds(Rows(X, t), member, ()).each_left_out(np.arange(40))
    assert isinstance(prediction, RealPrediction)
    for place in (0, 17):
        others = np.delete(np.arange(40), place)
        problem = replace(member.problem, source=ArrayRows(X[others], member.problem.t[others]))
        alone = replace(member, problem=problem).predict(X[[place]])
        assert isinstance(alone, RealPrediction)
        np.testing.assert_allclose(prediction.mean[place], alone.mean[0], rtol=1e-8)
        np.testing.assert_allclose(prediction.variance[place], alone.variance[0], rtol=1e-8)


def test_an_alternative_that_is_clearly_behind_at_its_starts_ends_there() -> None:
    X, t, _ = friedman(300, 0)
    shifted = Rows(X, t - t.min() + 0.01)
    alternative = replace(SMOOTH, likelihood=LogGaussian())
    log = FitLog()
    found = ended(train(shifted, Selection(SMOOTH, compared_models=(alternative,), pool=(ROUGH,)), on=FitContext(log)))
    (compared,) = [one for one in found.compared if one.spec == alternative]
    assert compared.reason == BEHIND.format(0, 5)
    assert compared.computable


def test_of_many_rows_a_member_that_is_clearly_behind_is_not_measured_by_folds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process of one input among five, beside one of all: it has next to no weight, and the pool is the same."""
    monkeypatch.setattr(reduction, "MAX_ROWS_STEPPED", 200)
    monkeypatch.setattr(reduction, "ROWS_FOR_SCALES", 150)
    X, t, _ = friedman(400, 1)
    many = Rows(X, t)
    first = scales(X, t, SMOOTH)
    behind = with_hyperparameters(first.state, replace(first.hyperparameters, input_map=InputMap(np.full(10, 1e3))))
    members: list[MemberFit] = [first, replace(first, state=behind), FailedFit("not computable")]
    kept, left_out, failed = reduction.without_hopeless(many, members)
    assert kept is first
    assert isinstance(left_out, FailedFit)
    assert left_out.is_behind
    assert failed is members[2]
    assert reduction.without_hopeless(many, [members[1], first])[0] is members[1]  # alternatives begin at the first
    assert reduction.without_hopeless(many.take(np.arange(150)), members) == members


def test_a_member_that_was_left_out_is_named_with_the_reason() -> None:
    densities = Densities(np.array([[0.0, np.nan]] * 3), np.array([[1.0, np.nan]] * 3))
    pool = MemberPredictions(((np.arange(3), np.arange(3)),), np.arange(3), np.zeros(3), densities)
    evaluation = PoolEvaluation(pool, left_out=(None, "too far behind"))
    one, other = evaluation.compared((SMOOTH, ROUGH))
    assert one.score is not None
    assert (other.score, other.reason, other.computable) == (None, "too far behind", True)
