"""Choosing among whole fits, and the progress that is reported meanwhile."""

from collections.abc import Callable, Generator
from itertools import pairwise
from math import log

import numpy as np
import pytest

from relevance_bayes.core.algorithms import ReEstimation
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.errors import ConstantTargetError, DataError, IllegalCombinationError, OneClassError
from relevance_bayes.core.kernels.hyperparameters import (
    CrossValidationWidth,
    EvidenceWidth,
    FixedWidth,
    Width,
    width_range,
)
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood, LogGaussian, OneAgainstRest
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.prediction import latent, predict, scores
from relevance_bayes.core.models.width_search import MAX_LOSS_OF_WIDER, MIN_DENSITY, WidthScore, _search, _squares
from relevance_bayes.core.selection import Folding, Rows, Selection, Step, Trained, train
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec, ripley, rows_for, sinc
from tests.library.core.generators import returned

WIDTHS: dict[str, Width] = {
    "fixed": FixedWidth(2.0),
    "cross validation": CrossValidationWidth(3),
    "evidence": EvidenceWidth(),
}
each_width = pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
each_likelihood = pytest.mark.parametrize(
    "likelihood", [GaussianNoise(), Bernoulli(), OneAgainstRest(3)], ids=["real", "classes", "several classes"]
)


def spec_of(likelihood: Likelihood, width: Width) -> Spec:
    return Spec(likelihood, (KernelBasis(width=width), Bias()))


def train_with_progress(
    X: Array, t: Array, spec: Spec, *, folding: Folding | None = None, held_out: Rows | None = None
) -> tuple[list[Step], Trained]:
    """All steps, and the one end."""
    everything = list(train(Rows(X, t), Selection(spec), folding=folding, held_out=held_out))
    steps = [step for step in everything if isinstance(step, Step)]
    last = everything[-1]
    assert isinstance(last, Trained)
    assert len(steps) == len(everything) - 1
    return steps, last


def width_of(trained: Trained) -> float:
    (kernel,) = [basis for basis in trained.spec.basis if isinstance(basis, KernelBasis)]
    assert isinstance(kernel.width, FixedWidth)
    (width,) = kernel.width.each
    return width


@pytest.mark.thorough
@each_width
@each_likelihood
def test_progress_has_a_first_and_a_last_step_and_never_goes_back(likelihood: Likelihood, width: Width) -> None:
    steps, trained = train_with_progress(*rows_for(likelihood, 30, 0), spec_of(likelihood, width))
    assert steps[0].completed == 0
    assert steps[-1].phase == "done"
    assert steps[-1].completed == steps[-1].total
    assert steps[-1].functions == len(trained.model.mean)
    assert steps[-1].log_marginal_likelihood == trained.model.evidence.value
    assert steps[-1].noise_sd == trained.model.noise_sd
    for step in steps:
        assert step.total is None or step.completed <= step.total
    for before, after in pairwise(steps):
        assert before.phase != after.phase or after.completed >= before.completed
        assert after.phase != "width search" or before.phase == "width search"
    for before, after in pairwise(step for step in steps if step.phase == "fit"):
        if before.log_marginal_likelihood is not None and after.log_marginal_likelihood is not None:
            assert after.log_marginal_likelihood >= before.log_marginal_likelihood - 1e-7


@each_likelihood
def test_what_is_not_known_yet_of_a_process_is_not_reported(likelihood: Likelihood) -> None:
    steps, _ = train_with_progress(*rows_for(likelihood, 30, 0), process_spec(likelihood))
    known = [step.log_marginal_likelihood for step in steps if step.log_marginal_likelihood is not None]
    assert len(known) >= len(steps) - 2
    assert np.isfinite(known).all()


def test_a_fixed_width_needs_no_search() -> None:
    X, t = sinc(30, 0)
    steps, trained = train_with_progress(X, t, spec_of(GaussianNoise(), FixedWidth(2.0)))
    assert {step.phase for step in steps} == {"fit", "done"}
    assert width_of(trained) == 2.0
    alone = fit(X, t, trained.spec)
    np.testing.assert_allclose(trained.model.mean, alone.mean)


@pytest.mark.thorough
@each_likelihood
@pytest.mark.parametrize("width", [CrossValidationWidth(3), EvidenceWidth()], ids=["cross validation", "evidence"])
def test_the_width_found_lies_in_the_range_and_is_the_one_run(likelihood: Likelihood, width: Width) -> None:
    X, t = rows_for(likelihood, 40, 1)
    steps, trained = train_with_progress(X, t, spec_of(likelihood, width))
    minimum, largest = width_range(X)
    assert minimum * (1.0 - 1e-12) <= width_of(trained) <= largest * (1.0 + 1e-12)
    assert steps[0].phase == "width search"
    np.testing.assert_allclose(trained.model.mean, fit(X, t, trained.spec).mean, rtol=1e-9)
    fits = 3 if isinstance(width, CrossValidationWidth) else 1
    searched = [step for step in steps if step.phase == "width search"]
    assert searched[-1].completed == len(searched) - 1
    assert searched[-1].completed % fits == 0


def test_evidence_chooses_the_width_of_largest_evidence() -> None:
    X, t = sinc(30, 2)
    _, trained = train_with_progress(X, t, spec_of(GaussianNoise(), EvidenceWidth()))
    minimum, largest = width_range(X)
    tried = np.geomspace(minimum, largest, 5)
    others = [fit(X, t, spec_of(GaussianNoise(), FixedWidth(float(width)))).evidence.value for width in tried]
    assert trained.model.evidence.value >= max(others) - 1e-6


def test_cross_validation_finds_a_width_that_predicts() -> None:
    X, t = sinc(100, 0)
    new, truth = sinc(200, 1, noise=0.0)
    _, trained = train_with_progress(X, t, spec_of(GaussianNoise(), CrossValidationWidth()), held_out=Rows(new, truth))
    assert trained.scores["rmse"] < 0.06
    assert trained.scores == scores(predict(trained.model, new), truth)


def test_without_rows_held_out_there_are_no_scores() -> None:
    assert train_with_progress(*sinc(20, 0), spec_of(GaussianNoise(), FixedWidth(2.0)))[1].scores == {}


@pytest.mark.thorough
@pytest.mark.parametrize("by", ["groups", "order"])
def test_groups_and_order_fold_the_search(by: str) -> None:
    X, t = sinc(40, 0)
    keys = np.arange(40.0) // 4 if by == "groups" else np.random.default_rng(0).permutation(40).astype(np.float64)
    folding = Folding("groups", keys) if by == "groups" else Folding("order", keys)
    _, trained = train_with_progress(X, t, spec_of(GaussianNoise(), CrossValidationWidth(4)), folding=folding)
    assert width_of(trained) > 0.0


@pytest.mark.thorough
def test_two_trainings_are_one() -> None:
    X, t = ripley(40, 0)
    one, other = (train_with_progress(X, t, spec_of(Bernoulli(), CrossValidationWidth(3)))[1] for _ in range(2))
    assert width_of(one) == width_of(other)
    np.testing.assert_array_equal(one.model.mean, other.model.mean)


@pytest.mark.thorough
def test_pure_noise_keeps_few_functions() -> None:
    kept, noises = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, t = np.sort(rng.uniform(-10.0, 10.0, 100))[:, None], rng.standard_normal(100)
        _, trained = train_with_progress(X, t, spec_of(GaussianNoise(), CrossValidationWidth()))
        kept.append(len(trained.model.mean))
        noises.append(trained.model.noise_sd or 0.0)
    assert float(np.median(kept)) <= 3.0
    assert float(np.median(noises)) == pytest.approx(1.0, rel=0.1)


def test_classes_that_can_be_separated_are_learned() -> None:
    rng = np.random.default_rng(0)
    t = np.arange(40.0) % 2
    X = rng.standard_normal((40, 2)) + 10.0 * t[:, None]
    _, trained = train_with_progress(X, t, spec_of(Bernoulli(), CrossValidationWidth()), held_out=Rows(X, t))
    assert trained.scores["error"] == 0.0
    assert np.isfinite(trained.model.mean).all()


@pytest.mark.thorough
def test_re_estimation_is_trained_alike() -> None:
    spec = Spec(GaussianNoise(), (KernelBasis(width=CrossValidationWidth(2)), Bias()), algorithm=ReEstimation())
    steps, _ = train_with_progress(*sinc(16, 0), spec)
    assert steps[-1].phase == "done"


def test_inputs_that_are_all_one_point_need_no_search() -> None:
    t = np.random.default_rng(0).standard_normal(12)
    _, trained = train_with_progress(np.ones((12, 2)), t, spec_of(GaussianNoise(), CrossValidationWidth(3)))
    assert width_of(trained) == 1.0


@pytest.mark.parametrize(
    ("t", "likelihood", "error"),
    [
        (np.ones(6), GaussianNoise(), ConstantTargetError),
        (np.ones(6), Bernoulli(), OneClassError),
        (np.array([0.0, 1.0, np.nan, 1.0, 0.0, 1.0]), Bernoulli(), DataError),
        (np.arange(5.0), GaussianNoise(), DataError),
    ],
    ids=["constant", "one class", "NaN", "other length"],
)
@each_width
def test_rows_that_can_not_be_learned_from_are_refused(
    t: Array, likelihood: Likelihood, error: type[DataError], width: Width
) -> None:
    with pytest.raises(error):
        train_with_progress(np.arange(6.0)[:, None], t, spec_of(likelihood, width))


def test_an_illegal_combination_is_refused() -> None:
    with pytest.raises(IllegalCombinationError):
        train_with_progress(*sinc(10, 0), Spec(GaussianNoise(), (KernelBasis(), KernelBasis())))


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_few_rows_can_be_trained_on_with_the_width_given(rows: int) -> None:
    train_with_progress(
        np.arange(float(rows))[:, None], np.arange(float(rows)), spec_of(GaussianNoise(), FixedWidth(1.0))
    )


def by_scores(
    losses: Callable[[float], Array], densities: Callable[[float], Array] | None = None
) -> Callable[[float], Generator[None, None, WidthScore]]:
    def score(width: float) -> Generator[None, None, WidthScore]:
        yield
        lost = losses(min(width, 1e9))
        return WidthScore(-lost if densities is None else densities(width), -lost)

    return score


def test_the_widest_of_those_as_good_as_the_best_is_taken() -> None:
    noise = np.random.default_rng(0).standard_normal(400)
    noise -= noise.mean()

    def found(lost_by_the_wide: float) -> float:
        def losses(width: float) -> Array:
            return np.full(400, abs(log(width)) * lost_by_the_wide) + (noise if width > 1.0 else 0.0)

        last = returned(_search((0.1, 10.0), 1, 0, by_scores(losses)))
        return last

    error = float(noise.std(ddof=1)) / 20.0
    assert found(0.9 * MAX_LOSS_OF_WIDER * error / np.log(10.0)) == pytest.approx(10.0)
    assert found(4.0 * error / np.log(10.0)) < 4.0


def test_the_search_goes_on_where_kernels_that_are_all_too_wide_differ_by_chance() -> None:
    def losses(width: float) -> Array:
        return np.full(20, 0.69 if width > 9.0 else 0.75 if width > 2.0 else 0.3 + abs(log(width)))

    last = returned(_search((0.1, 10.0), 1, 0, by_scores(losses)))
    assert 0.7 < last < 1.4


def test_narrow_widths_are_not_looked_at_where_wider_ones_are_clearly_better() -> None:
    looked_at: list[float] = []

    def losses(width: float) -> Array:
        looked_at.append(width)
        return np.full(20, abs(log(width / 5.0)))

    last = returned(_search((0.1, 10.0), 1, 0, by_scores(losses)))
    assert 3.0 < last < 8.0
    assert min(looked_at) > 1.0


def test_the_search_goes_on_where_nothing_was_better_than_no_kernel_at_all() -> None:
    noise = np.random.default_rng(0).standard_normal(400)
    noise -= noise.mean()

    def losses(width: float) -> Array:
        loss = 1.0 if width > 1.0 else abs(log(width / 0.3))
        return np.full(400, loss + 0.01 * (abs(width - 5.0) > 1.5)) + (noise if width == 1e9 else 0.0)

    last = returned(_search((0.1, 10.0), 1, 0, by_scores(losses)))
    assert 0.2 < last < 0.5


def test_the_search_ends_where_kernels_are_clearly_worse_than_none() -> None:
    looked_at: list[float] = []

    def losses(width: float) -> Array:
        looked_at.append(width)
        return np.full(20, 1.0 if width > 5.0 else 1.0 - log(width / 5.0))

    returned(_search((0.1, 10.0), 1, 0, by_scores(losses)))
    assert min(looked_at) > 0.9


@pytest.mark.thorough
def test_a_wave_of_many_periods_without_noise_is_not_taken_for_noise() -> None:
    x, between = np.sin(np.arange(250.0)), np.linspace(-0.9, 0.9, 50)
    t, truth = (np.sin(40.0 * some) for some in (x, between))
    spec = spec_of(GaussianNoise(), CrossValidationWidth(3))
    _, trained = train_with_progress(x[:, None], t, spec, held_out=Rows(between[:, None], truth))
    assert trained.scores["rmse"] < 1e-3


@pytest.mark.parametrize(("behind", "selected"), [(0.9 * MIN_DENSITY, 0.1), (1.1 * MIN_DENSITY, 10.0)])
def test_what_is_nearest_but_much_too_sure_is_not_the_best(behind: float, selected: float) -> None:
    def losses(width: float) -> Array:
        return np.full(20, 1.0 + (log(width) if width < 5.0 else 1.0))

    def densities(width: float) -> Array:
        return np.full(20, 0.0 if width > 5.0 else -behind)

    last = returned(_search((0.1, 10.0), 1, 0, by_scores(losses, densities)))
    assert last == pytest.approx(selected)


@pytest.mark.parametrize("likelihood", [GaussianNoise(), GaussianNoise("rows"), LogGaussian()], ids=str)
def test_squares_are_those_of_the_latent_in_units_of_known_noise(likelihood: Likelihood) -> None:
    X, t = sinc(20, 0)
    t = np.exp(t) if isinstance(likelihood, LogGaussian) else t
    noise_sd = np.linspace(0.1, 0.5, 20) if likelihood.noise_by_row else None
    model = fit(X, t, spec_of(likelihood, FixedWidth(2.0)), noise_sd=noise_sd)
    left = (np.log(t) if isinstance(likelihood, LogGaussian) else t) - latent(model, X).mean
    expected = left**2 if noise_sd is None else (left / noise_sd) ** 2
    np.testing.assert_allclose(_squares(model, Rows(X, t, noise_sd)), expected, rtol=1e-9)
