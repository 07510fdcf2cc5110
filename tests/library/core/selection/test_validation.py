from collections.abc import Generator, Iterator
from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Sequential
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.errors import DataError, IllegalCombinationError, NotPositiveDefiniteError
from relevance_bayes.core.folds import Split, random_folds
from relevance_bayes.core.kernels.hyperparameters import CrossValidationWidth, InheritedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, LogGaussian
from relevance_bayes.core.models.fitting import FitLog, fit
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import ready_of, with_degrees_of_freedom
from relevance_bayes.core.models.prediction import Measured, NumberPrediction, predict, scores
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.selection import Folding, Rows, Selection, Step, Trained, train
from relevance_bayes.core.selection.scoring import Scoring, validated
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec, ripley, rows_for, sinc, spec_for
from tests.library.core.generators import returned

PLAIN = spec_for(GaussianNoise())
SEARCHED = Spec(GaussianNoise(), (KernelBasis(width=CrossValidationWidth(2)), Bias()))
PROCESS = process_spec(GaussianNoise(), inputs=True, min_gain=2.0)
ALTERNATIVE = Spec(
    GaussianNoise(), (KernelBasis(width=InheritedWidth()), Bias(), Inputs()), Independent(price=True), Sequential()
)


def last(steps: Iterator[Step | Trained]) -> Trained:
    *_, end = steps
    assert isinstance(end, Trained)
    return end


def splits_of(rows: Rows, folds: int, seed: int = 0) -> list[Split]:
    return list(random_folds(rows.X, rows.t, folds, seed))


# --- Two roads ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "alternatives"),
    [(PLAIN, ()), (SEARCHED, ()), (PROCESS, (ALTERNATIVE,))],
    ids=["plain", "width searched", "rivals"],
)
def test_pooled_figures_of_numbers_are_those_of_whole_trainings_by_hand(
    spec: Spec, alternatives: tuple[Spec, ...]
) -> None:
    rows, folds = Rows(*sinc(45, 0)), 3
    found = last(train(rows, Selection(spec, compared_models=alternatives, folds=folds))).validation
    mean, density, inside = np.empty(45), np.empty(45), np.zeros(45, np.bool_)
    for others, fold in splits_of(rows, folds):
        model = last(train(rows.take(others), Selection(spec, compared_models=alternatives))).model
        predicted = predict(model, rows.X[fold])
        assert isinstance(predicted, NumberPrediction)
        t = rows.t[fold]
        mean[fold], density[fold] = predicted.mean, predicted.log_density(t)
        inside[fold] = (predicted.quantile(0.025) <= t) & (t <= predicted.quantile(0.975))
    squared = float(np.mean((rows.t - mean) ** 2))
    assert found == pytest.approx(
        {
            "rmse": squared**0.5,
            "mae": float(np.abs(rows.t - mean).mean()),
            "r2": 1.0 - squared / float(rows.t.var()),
            "nll": -float(density.mean()),
            "coverage_95": float(inside.mean()),
            "nll_se": float(density.std(ddof=1)) / 45.0**0.5,
            "rows": 45.0,
        },
        rel=1e-9,
    )


def test_pooled_figures_of_classes_are_those_of_each_fold_weighed_by_its_rows() -> None:
    rows, spec = Rows(*ripley(50, 1)), spec_for(Bernoulli())
    found = last(train(rows, Selection(spec, folds=4))).validation
    expected = dict.fromkeys(("error", "log_loss", "brier"), 0.0)
    for others, fold in splits_of(rows, 4):
        model = fit(rows.X[others], rows.t[others], spec)
        for name, score in scores(predict(model, rows.X[fold]), rows.t[fold]).items():
            expected[name] += score * len(fold) / 50
    assert found.pop("log_loss_se") > 0.0
    assert found == pytest.approx({**expected, "rows": 50.0}, rel=1e-9)


def test_rows_of_several_models_are_joined_as_if_one_had_predicted_them() -> None:
    X, t = sinc(30, 2)
    predicted = predict(fit(X, t, PLAIN), X)
    parts = [predict(fit(X, t, PLAIN), X[part]) for part in (slice(0, 7), slice(7, 30))]
    joined = Measured.joined(
        [Measured.of(one, t[part]) for one, part in zip(parts, (slice(0, 7), slice(7, 30)), strict=True)]
    )
    assert joined.scores() == pytest.approx(scores(predicted, t), rel=1e-12)


def test_figures_are_in_the_targets_units_whatever_the_likelihood() -> None:
    rows, spec = Rows(*rows_for(LogGaussian(), 60, 3)), spec_for(LogGaussian())
    here = last(train(rows, Selection(spec, folds=3))).validation
    splits = splits_of(rows, 3)
    assert here["rows"] == 60.0
    fits = [with_degrees_of_freedom(fit(rows.X[o], rows.t[o], spec)) for o, _ in splits]
    parts = [
        scores(ready_of(one).predict(rows.X[f])[0], rows.t[f])["nll"] * len(f)
        for one, (_, f) in zip(fits, splits, strict=True)
    ]
    assert here["nll"] == pytest.approx(sum(parts) / 60.0, rel=1e-9)


# --- Which rows -----------------------------------------------------------------------------------------------------


def apart(rows: Rows, folding: Folding, folds: int) -> tuple[list[tuple[set[float], set[float]]], dict[str, float]]:
    """Which keys were learned from and which not, fold by fold, and the figures."""
    assert folding.keys is not None
    everything = set(folding.keys.tolist())
    learned: list[set[float]] = []

    def learning(some: Rows, among: Folding) -> Generator[Step, None, Trained]:
        assert among.by == folding.by
        assert among.keys is not None
        assert len(among.keys) == len(some.t)
        learned.append(set(among.keys.tolist()))
        yield Step("fit", 0, None, "iterations")
        return Trained(fit(some.X, some.t, PLAIN), PLAIN)

    found = returned(validated(rows, learning, Scoring(folds).splits(rows, folding, 0), folding, FitLog()))
    return [(keys, everything - keys) for keys in learned], dict(found.figures)


def test_a_group_is_never_divided_and_each_is_measured_once() -> None:
    groups: Array = np.repeat(np.arange(8.0), [3, 9, 4, 4, 7, 5, 6, 2])
    pairs, figures = apart(Rows(*sinc(40, 0)), Folding("groups", groups), 4)
    assert figures["rows"] == 40.0
    measured = [key for _, away in pairs for key in away]
    assert sorted(measured) == list(range(8))


def test_the_past_predicts_the_future_and_the_first_stretch_is_not_measured() -> None:
    pairs, figures = apart(Rows(*sinc(40, 0)), Folding("order", np.arange(40.0)), 4)
    assert figures["rows"] == 32.0
    assert [max(keys) for keys, _ in pairs] == [7.0, 15.0, 23.0, 31.0]
    assert all(max(keys) < min(away) for keys, away in pairs)


def test_more_folds_than_groups_measure_each_group_once() -> None:
    pairs, figures = apart(Rows(*sinc(30, 0)), Folding("groups", np.repeat([1.0, 2.0, 3.0], 10)), 5)
    assert len(pairs) == 3
    assert figures["rows"] == 30.0


def test_held_out_rows_are_no_part_of_it() -> None:
    rows, away = Rows(*sinc(30, 0)), Rows(*sinc(20, 1))
    assert (
        last(train(rows, Selection(PLAIN, folds=3), held_out=away)).validation
        == last(train(rows, Selection(PLAIN, folds=3))).validation
    )


# --- What can't be learned from -------------------------------------------------------------------------------------


def test_a_fold_whose_other_rows_are_of_one_class_is_passed_over() -> None:
    X, t = ripley(30, 0)
    groups = np.where(t > 0.0, 5.0, np.arange(30) % 3)  # all positive rows are one group
    found = last(
        train(Rows(X, t), Selection(spec_for(Bernoulli()), folds=4), folding=Folding("groups", groups))
    ).validation
    assert found["rows"] == 15.0


def test_where_no_fold_can_be_learned_from_no_figure_is_reported() -> None:
    X, t = ripley(30, 0)
    found = last(train(Rows(X, t), Selection(spec_for(Bernoulli()), folds=2), folding=Folding("groups", t)))
    assert found.validation == {"rows": 0.0}


@pytest.mark.parametrize("error", [DataError("too few"), NotPositiveDefiniteError("in floating point")])
def test_a_fold_that_fails_takes_nothing_from_the_others(error: Exception) -> None:
    starts = 0

    def learning(some: Rows, _: Folding) -> Generator[Step, None, Trained]:
        nonlocal starts
        starts += 1
        yield Step("fit", 0, None, "iterations")
        if starts == 2:
            raise error
        return Trained(fit(some.X, some.t, PLAIN), PLAIN)

    rows = Rows(*sinc(30, 0))
    assert returned(validated(rows, learning, splits_of(rows, 3), Folding(), FitLog())).figures["rows"] == 20.0


def test_a_fault_of_the_choices_is_no_fault_of_a_fold() -> None:
    rows = Rows(*sinc(30, 0))

    def learning(_: Rows, __: Folding) -> Generator[Step, None, Trained]:
        yield Step("fit", 0, None, "iterations")
        raise IllegalCombinationError("prior", "these can't be used together")

    with pytest.raises(IllegalCombinationError):
        returned(validated(rows, learning, splits_of(rows, 3), Folding(), FitLog()))


# --- The whole ------------------------------------------------------------------------------------------------------


def test_the_model_is_the_same_with_and_without() -> None:
    rows = Rows(*sinc(40, 0))
    without, with_folds = (
        last(train(rows, Selection(PROCESS, compared_models=(ALTERNATIVE,)))),
        last(train(rows, Selection(PROCESS, compared_models=(ALTERNATIVE,), folds=3))),
    )
    np.testing.assert_array_equal(with_folds.model.mean, without.model.mean)
    assert with_folds.ranked_models == without.ranked_models
    assert with_folds.spec == without.spec
    assert (without.validation, with_folds.validation["rows"]) == ({}, 40.0)


def test_phases_come_in_order_and_fits_are_counted_to_their_total() -> None:
    *steps, end = train(Rows(*sinc(40, 0)), Selection(PROCESS, compared_models=(ALTERNATIVE,), folds=4))
    assert isinstance(end, Trained)
    reported = [step for step in steps if isinstance(step, Step)]
    assert list(dict.fromkeys(step.phase for step in reported)) == ["fit", "alternative fit", "validation", "done"]
    fits = [step for step in reported if step.phase == "validation"]
    counted = dict.fromkeys((step.completed, step.total, step.unit) for step in fits)
    assert list(counted) == [(k, 4, "fits") for k in range(5)]


def test_another_seed_makes_other_folds() -> None:
    rows = Rows(*sinc(40, 0))
    one, other = (last(train(rows, Selection(replace(PLAIN, seed=seed), folds=4))).validation for seed in (0, 1))
    assert one["rmse"] != other["rmse"]
    assert one["rmse"] == pytest.approx(other["rmse"], rel=0.5)
