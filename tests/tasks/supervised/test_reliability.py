"""Reliability against intervals computed row by row, refits by hand, and known distributions."""

import numpy as np
import pytest
import scipy.stats

from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.folds import random_folds
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise, Poisson
from relevance_bayes.core.likelihoods.base import ClassPrediction, LatentGaussian, NumberPrediction
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import ready_of, with_degrees_of_freedom
from relevance_bayes.core.models.prediction import Measured
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from relevance_bayes.records.diagnostics import ClassReliability, NumberReliability
from relevance_bayes.tables.encoding import EncodedTarget
from relevance_bayes.tasks.supervised.diagnostics import LEVELS, MAX_CLASSES, reliability_of

RNG = np.random.default_rng(11)
TARGET = EncodedTarget("y", "number", 3.0, 2.0, ())
THREE = EncodedTarget("y", "category", 0.0, 1.0, ("a", "b", "c"))


def of_numbers(prediction: NumberPrediction, t: Array) -> NumberReliability:
    found = reliability_of(TARGET, Measured.of(prediction, t), "validation")
    assert isinstance(found, NumberReliability)
    return found


def normal(mean: Array, sd: Array | float) -> RealPrediction:
    none = np.zeros(len(mean))
    return RealPrediction(mean, np.broadcast_to(np.square(sd), mean.shape), none, none)


def test_reliability_is_that_of_fits_by_hand_to_the_other_folds() -> None:
    x = RNG.uniform(-3.0, 3.0, (60, 1))
    t = np.sin(x[:, 0]) + 0.2 * RNG.standard_normal(60)
    spec = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(1.0)), Bias()))
    *_, trained = train(Rows(x, t), Selection(spec, folds=4))
    assert isinstance(trained, Trained)
    assert trained.left_out is not None
    inside, places, rows = dict.fromkeys(LEVELS, 0), list[float](), 0
    for others, fold in random_folds(x, t, 4, spec.seed):
        model = with_degrees_of_freedom(fit(x[others], t[others], spec))
        prediction, _ = ready_of(model).predict(x[fold])
        assert isinstance(prediction, RealPrediction)
        assert prediction.degrees_of_freedom is not None
        z = (t[fold] - prediction.mean) / np.sqrt(prediction.variance)
        standard = scipy.stats.t(prediction.degrees_of_freedom)
        places += standard.cdf(z).tolist()
        rows += len(fold)
        for level in LEVELS:
            inside[level] += int((np.abs(z) <= standard.ppf(0.5 + level / 2.0)).sum())
    found = reliability_of(TARGET, trained.left_out.measured, "validation")
    assert isinstance(found, NumberReliability)
    assert found.rows == rows == 60
    assert {one.level: one.share for one in found.coverage} == pytest.approx({one: inside[one] / 60 for one in LEVELS})
    assert found.pit == pytest.approx((np.histogram(places, np.linspace(0.0, 1.0, 21))[0] / 60).tolist())
    assert found.log_score == pytest.approx(-trained.validation["nll"] - np.log(2.0))


@pytest.mark.parametrize(("factor", "is_calibrated"), [(1.0, True), (0.6, False), (1.6, False)])
def test_pit_and_coverage_detect_intervals_that_are_too_narrow_or_too_wide(
    factor: float, *, is_calibrated: bool
) -> None:
    random = np.random.default_rng(5)
    mean, sd = random.standard_normal(4_000), np.exp(random.standard_normal(4_000))
    found = of_numbers(normal(mean, factor * sd), mean + sd * random.standard_normal(4_000))
    p = scipy.stats.chisquare(np.array(found.pit) * 4_000).pvalue
    distances = [abs(one.share - one.level) / one.standard_error for one in found.coverage]
    assert bool(p > 1e-3) == is_calibrated
    assert (max(distances) < 3.5) == is_calibrated
    assert sum(found.pit) == pytest.approx(1.0)


def test_the_coverage_of_counts_is_that_of_the_intervals_between_their_quantiles() -> None:
    random = np.random.default_rng(2)
    prediction = Poisson().predictive(
        LatentGaussian(random.normal(0.5, 1.0, 300), np.full(300, 0.1), np.zeros(300)), None
    )
    assert isinstance(prediction, NumberPrediction)
    t = random.poisson(np.exp(prediction.quantile(0.5) * 0.0 + random.normal(0.5, 1.0, 300))).astype(np.float64)
    found = of_numbers(prediction, t)
    for one in found.coverage:
        lower, upper = prediction.interval(one.level)
        assert one.share == float(((lower <= t) & (t <= upper)).mean())
    assert sum(found.pit) == pytest.approx(1.0)


def test_calibration_curves_are_means_by_bin() -> None:
    random = np.random.default_rng(3)
    p = random.dirichlet([1.0, 2.0, 1.5], 500)
    t = np.array([random.choice(3, p=row) for row in p], np.float64)
    none = np.zeros(500)
    found = reliability_of(THREE, Measured.of(ClassPrediction(p, none, none), t), "holdout")
    assert isinstance(found, ClassReliability)
    assert (found.source, found.rows, [curve.label for curve in found.curves]) == ("holdout", 500, ["a", "b", "c"])
    assert found.log_score == pytest.approx(float(np.log(p[np.arange(500), t.astype(np.intp)]).mean()))
    assert found.brier == pytest.approx(0.5 * float(((p - np.eye(3)[t.astype(np.intp)]) ** 2).sum(axis=1).mean()))
    for place, curve in enumerate(found.curves):
        assert sum(one.rows for one in curve.bins) == 500
        for one in curve.bins:
            some = (p[:, place] >= one.lower) & (p[:, place] < one.upper)
            assert (one.rows, one.predicted, one.observed) == pytest.approx(
                (some.sum(), p[some, place].mean(), (t[some] == place).mean())
            )


def test_of_very_many_classes_the_most_frequent_have_a_curve() -> None:
    random = np.random.default_rng(4)
    target = EncodedTarget("y", "category", 0.0, 1.0, tuple(f"c{place:02}" for place in range(50)))
    t = np.concatenate([np.arange(50), np.repeat(np.arange(10, 42), 3)]).astype(np.float64)
    p = random.dirichlet(np.ones(50), len(t))
    none = np.zeros(len(t))
    found = reliability_of(target, Measured.of(ClassPrediction(p, none, none), t), "holdout")
    assert isinstance(found, ClassReliability)
    assert [curve.label for curve in found.curves] == [f"c{place:02}" for place in range(10, 10 + MAX_CLASSES)]


def test_rows_without_a_finite_prediction_have_no_reliability() -> None:
    nothing = normal(np.full(3, np.nan), 1.0)
    assert reliability_of(TARGET, Measured.of(nothing, np.zeros(3)), "holdout") is None
    mixed = of_numbers(normal(np.array([0.0, np.nan, 0.0]), 1.0), np.zeros(3))
    assert mixed.rows == 2
