"""A training that is broken off anywhere and begun anew with its trail ends as if it had not been."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Algorithm, Greedy, ReEstimation, Sequential, re_estimation
from relevance_bayes.core.algorithms.state import FitTrace
from relevance_bayes.core.basis import Basis, Bias, Inputs, KernelBasis
from relevance_bayes.core.dictionaries import Steps
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.kernels import Gaussian, Matern52
from relevance_bayes.core.kernels.hyperparameters import (
    CrossValidationWidth,
    EvidencePerInputWidth,
    EvidenceWidth,
    FixedWidth,
    InheritedWidth,
    Width,
)
from relevance_bayes.core.likelihoods import Bernoulli, Categorical, GaussianNoise, Likelihood, StudentT
from relevance_bayes.core.models import fitting
from relevance_bayes.core.models.fitting import FitLog, LogEntry
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.priors import GaussianProcess, Independent, Prior
from relevance_bayes.core.selection import FitContext, Rows, Selection, Step, Trained, train
from tests.library.core.drawn import friedman, rows_for

INNER, FREE, EACH = Sequential(), Independent(), EvidencePerInputWidth()


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """EM creeps for thousands of steps; what holds for the first 150 holds for them all."""
    monkeypatch.setattr(re_estimation, "MAX_ITERATIONS", 150)


def classical(
    likelihood: Likelihood,
    width: Width | InheritedWidth,
    algorithm: Algorithm = INNER,
    *,
    prior: Prior = FREE,
    more: tuple[Basis, ...] = (),
) -> Spec:
    return Spec(likelihood, (KernelBasis(Gaussian(), width), Bias(), *more), prior, algorithm)


def process(likelihood: Likelihood, *, moving: bool = False) -> Spec:
    prior = GaussianProcess(inducing_points="optimised" if moving else "rows")
    return Spec(likelihood, (KernelBasis(Matern52(), EACH), Bias(), Inputs()), prior, Greedy())


@dataclass(frozen=True)
class Training:
    """The specs that are trained, and the number of rows of each."""

    spec: Spec
    compared_models: tuple[Spec, ...] = ()
    folds: int = 0
    rows: int = 60


PRICED = Independent(price=True)
TRAININGS: dict[str, Training] = {
    "inner": Training(classical(GaussianNoise(), FixedWidth(1.0))),
    "inner, classes": Training(classical(Bernoulli(), FixedWidth(1.0))),
    "inner, three classes": Training(classical(Categorical(3), FixedWidth(2.0)), rows=45),
    "single": Training(classical(GaussianNoise(), FixedWidth(1.0), Sequential("single"))),
    "single, classes": Training(classical(Bernoulli(), FixedWidth(1.0), Sequential("single"))),
    "mackay": Training(classical(GaussianNoise(), FixedWidth(1.0), ReEstimation("mackay"))),
    "em": Training(classical(StudentT(), FixedWidth(1.0), ReEstimation("em")), rows=20),
    "price, kinds alone": Training(classical(GaussianNoise(), FixedWidth(0.5), prior=PRICED, more=(Steps(),))),
    "widths by folds": Training(classical(GaussianNoise(), CrossValidationWidth(2)), rows=20),
    "widths by evidence, then folds": Training(classical(GaussianNoise(), EvidenceWidth()), folds=2, rows=16),
    "a width for each input": Training(classical(GaussianNoise(), EvidencePerInputWidth()), rows=40),
    "process": Training(process(GaussianNoise())),
    "process, moving vectors": Training(process(GaussianNoise(), moving=True)),
    "process, classes": Training(process(Bernoulli())),
    "process, a rival with its map, folds": Training(
        process(GaussianNoise()), compared_models=(classical(GaussianNoise(), InheritedWidth()),), folds=2, rows=40
    ),
    "process, a rival given up": Training(process(GaussianNoise()), compared_models=(process(StudentT()),)),
}


def rows_of(training: Training) -> Rows:
    if training.spec.model_likelihood == GaussianNoise() and not any(
        isinstance(one, Steps) for one in training.spec.basis
    ):
        X, t, _ = friedman(training.rows, seed=3)
        return Rows(X[:, :3], t)
    return Rows(*rows_for(training.spec.model_likelihood, training.rows, 1))


def steps(training: Training, fit_log: FitLog) -> Iterator[Step | Trained]:
    return train(
        rows_of(training),
        Selection(training.spec, compared_models=training.compared_models, folds=training.folds),
        held_out=None,
        on=FitContext(fit_log),
    )


def end(training: Training, fit_log: FitLog) -> Trained:
    *_, last = steps(training, fit_log)
    assert isinstance(last, Trained)
    return last


def marks_on_the_way(training: Training) -> tuple[list[tuple[LogEntry, ...]], Trained]:
    fit_log, seen = FitLog(), []
    found: list[Step | Trained] = []
    for step in steps(training, fit_log):
        seen.append(fit_log.entries)
        found.append(step)
    assert isinstance(found[-1], Trained)
    return seen, found[-1]


def alike(one: Model, other: Model) -> bool:
    """To the last bit."""
    return (
        np.array_equal(one.mean, other.mean)
        and np.array_equal(one.covariance, other.covariance)
        and np.array_equal(one.alpha, other.alpha)
        and one.noise_sd == other.noise_sd
        and one.evidence.value == other.evidence.value
        and same_trace(one.trace, other.trace)
    )


def same_trace(one: FitTrace | None, other: FitTrace | None) -> bool:
    assert one is not None
    assert other is not None
    assert (one.steps, one.stride, one.phases) == (other.steps, other.stride, other.phases)
    return np.array_equal(one.numbers, other.numbers, equal_nan=True)


@pytest.mark.thorough
@pytest.mark.parametrize("training", TRAININGS.values(), ids=TRAININGS)
def test_wherever_a_training_is_broken_off_it_ends_with_the_same_model(training: Training) -> None:
    seen, unbroken = marks_on_the_way(training)
    draw = np.random.default_rng(7)
    for place in {len(seen) - 1, *draw.integers(0, len(seen), 3).tolist()}:
        resumed = end(training, FitLog(seen[place]))
        assert alike(resumed.model, unbroken.model)
        assert resumed.spec == unbroken.spec
        assert resumed.ranked_models == unbroken.ranked_models
        assert resumed.validation == unbroken.validation
        assert (resumed.left_out is None) == (unbroken.left_out is None)
        if resumed.left_out is not None and unbroken.left_out is not None:
            assert np.array_equal(resumed.left_out.rows, unbroken.left_out.rows)
            assert np.array_equal(resumed.left_out.measured.outputs, unbroken.left_out.measured.outputs)


def test_what_was_fitted_is_not_fitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    training = TRAININGS["widths by folds"]
    seen, _ = marks_on_the_way(training)
    n_steps = 0
    step = Sequential.step

    def counted(self, problem, now):  # type: ignore[no-untyped-def]
        nonlocal n_steps
        n_steps += 1
        return step(self, problem, now)

    monkeypatch.setattr(Sequential, "step", counted)
    end(training, FitLog())
    full, n_steps = n_steps, 0
    end(training, FitLog(seen[-1]))
    assert (n_steps, full > 100) == (0, True)
    end(training, FitLog(seen[len(seen) // 2]))
    assert 0 < n_steps < 0.7 * full


def test_a_width_that_was_found_represents_all_fits_of_its_search() -> None:
    training = TRAININGS["widths by folds"]
    seen, unbroken = marks_on_the_way(training)
    width, last = seen[-1]
    assert isinstance(width, np.ndarray)
    assert unbroken.spec.basis[0] == KernelBasis(Gaussian(), FixedWidth(float(width[0])))
    assert isinstance(last, fitting.State)
    assert last.termination is not None


def test_a_fold_that_nothing_can_be_learned_from_keeps_its_place() -> None:
    X, t, _ = friedman(12, seed=0)
    rows = Rows(X[:, :1], np.where(np.arange(12) < 10, 0.0, t))
    training = Training(classical(GaussianNoise(), FixedWidth(1.0)), folds=6)
    fit_log = FitLog()
    try:
        *_, last = train(rows, Selection(training.spec, folds=6), on=FitContext(fit_log))
    except DataError:
        pytest.fail("expected some folds to be learned from")
    *_, again = train(rows, Selection(training.spec, folds=6), on=FitContext(FitLog(fit_log.entries)))
    assert isinstance(last, Trained)
    assert isinstance(again, Trained)
    assert again.validation == last.validation


def test_parts_of_a_log_are_recorded_in_any_order_at_their_own_places() -> None:
    log = FitLog()
    first, second = log.parts(2)
    second.record(second.begin(), np.array([2.0]))
    before, table = log.entries
    assert before is None
    np.testing.assert_array_equal(np.asarray(table), [2.0])
    log.record(log.begin(), np.array([3.0]))
    again = FitLog(log.entries)
    unknown, known = again.parts(2)
    assert unknown.recorded() is None
    np.testing.assert_array_equal(known.recorded(), [2.0])
    np.testing.assert_array_equal(again.recorded(), [3.0])
    first.record(first.begin(), np.array([1.0]))
    assert [float(np.asarray(one)[0]) for one in log.entries] == [1.0, 2.0, 3.0]
