"""A model of zeros and a model of positive targets as one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from relevance_bayes.core.basis import Bias, Inputs, KernelBasis, KernelFunctions
from relevance_bayes.core.errors import ConstantTargetError, DataError, IllegalCombinationError
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, Hurdle, LogGaussian
from relevance_bayes.core.likelihoods.hurdle import HurdlePrediction
from relevance_bayes.core.models.effects import contributions, joint
from relevance_bayes.core.models.fitting import FitLog, LogEntry, fit
from relevance_bayes.core.models.hurdle import HurdleModel, ReadyHurdle, member_specs
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import degrees_of_freedom_of, likelihood_of, members_of, ready_of
from relevance_bayes.core.models.prediction import predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection import FitContext, Rows, Selection, Step, Trained, train
from tests.library.core.drawn import process_spec

FIXED = Spec(Hurdle(), (KernelBasis(Gaussian(), FixedWidth(1.5)), Bias()))
PROCESS = replace(
    process_spec(LogGaussian(), inputs=True, warp="evidence", min_gain=Hurdle.min_gain), likelihood=Hurdle()
)

ON_ROWS = replace(process_spec(LogGaussian(), vectors="rows"), likelihood=Hurdle())


def rows(n: int = 60, seed: int = 0) -> Rows:
    """Zero in about a third of the rows, the fewer the greater x."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, n)
    is_zero = rng.random(n) < expit(-0.5 - 1.5 * x)
    return Rows(x[:, None], np.where(is_zero, 0.0, np.exp(0.5 + x + 0.4 * rng.standard_normal(n))))


def ended(spec: Spec, data: Rows, folds: int = 0) -> Trained:
    *_, found = train(data, Selection(spec, folds=folds))
    assert isinstance(found, Trained)
    return found


def hurdle_of(found: Trained) -> HurdleModel:
    assert isinstance(found.learned, HurdleModel)
    return found.learned


def test_both_models_are_those_of_two_fits() -> None:
    data = rows()
    found = hurdle_of(ended(FIXED, data))
    above = data.t > 0.0
    zero = fit(data.X, (data.t == 0.0).astype(np.float64), replace(FIXED, likelihood=Bernoulli()))
    positive = fit(data.X[above], data.t[above], replace(FIXED, likelihood=LogGaussian()))
    np.testing.assert_array_equal(found.zero.mean, zero.mean)
    np.testing.assert_array_equal(found.positive.mean, positive.mean)
    assert (found.zero.rows, found.positive.rows) == (60, int(above.sum()))
    prediction, _ = ReadyHurdle.of(found).predict(data.X)
    p = predict(zero, data.X).probability  # type: ignore[union-attr]
    mean = ready_of(found.positive).predict(data.X)[0].mean  # type: ignore[union-attr]
    np.testing.assert_allclose(prediction.mean, (1.0 - p) * mean)


@pytest.mark.parametrize("spec", [FIXED, ON_ROWS], ids=["independent", "process"])
def test_functions_of_positive_targets_have_the_numbers_of_their_rows_among_all(spec: Spec) -> None:
    data = rows()
    found = hurdle_of(ended(spec, data))
    for model in members_of(found):
        (kernels,) = (one for one in model.functions if isinstance(one, KernelFunctions))
        assert kernels.size
        np.testing.assert_allclose(kernels.centres, data.X[kernels.rows])
    (kernels,) = (one for one in found.positive.functions if isinstance(one, KernelFunctions))
    assert (data.t[kernels.rows] > 0.0).all()
    assert found.positive.trace is not None
    entered = [int(one.entered) for one in found.positive.trace.each() if np.isfinite(one.entered)]
    assert (data.t[entered] > 0.0).all()


def test_its_folds_are_measured_by_the_whole() -> None:
    data, held_out = rows(), rows(30, 1)
    *_, found = train(data, Selection(FIXED, folds=3), held_out=held_out)
    assert isinstance(found, Trained)
    assert found.validation["rows"] == 60.0
    prediction, support = ready_of(found.learned).predict(held_out.X)
    assert isinstance(prediction, HurdlePrediction)
    assert support is not None
    assert found.scores["nll"] == pytest.approx(-float(prediction.log_density(held_out.t).mean()))
    assert found.leave_one_out == {}
    assert likelihood_of(found.learned) == Hurdle()
    assert degrees_of_freedom_of(found.learned) == hurdle_of(found).positive.degrees_of_freedom is not None


def test_wherever_it_is_broken_off_it_ends_with_the_same_models() -> None:
    data, fit_log, logged = rows(40), FitLog(), list[tuple[LogEntry, ...]]()
    steps = list[Step | Trained]()
    for step in train(data, Selection(PROCESS, folds=2), on=FitContext(fit_log)):
        logged.append(fit_log.entries)
        steps.append(step)
    unbroken = steps[-1]
    assert isinstance(unbroken, Trained)
    draw = np.random.default_rng(7)
    for place in {len(logged) - 1, *draw.integers(0, len(logged), 3).tolist()}:
        *_, resumed = train(data, Selection(PROCESS, folds=2), on=FitContext(FitLog(logged[place])))
        assert isinstance(resumed, Trained)
        assert resumed.validation == unbroken.validation
        for one, other in zip(members_of(resumed.learned), members_of(unbroken.learned), strict=True):
            np.testing.assert_array_equal(one.mean, other.mean)
            np.testing.assert_array_equal(one.covariance, other.covariance)


def test_zeros_have_neither_linear_columns_nor_warps_under_a_process() -> None:
    zero, positive = member_specs(PROCESS)
    assert (zero.likelihood, positive) == (Bernoulli(), replace(PROCESS, likelihood=LogGaussian()))
    assert zero.basis == (KernelBasis(Gaussian(), EvidencePerInputWidth(1.0)), Bias())
    assert Inputs() in positive.basis
    assert zero.prior == GaussianProcess("rows", Bernoulli.min_gain)


def test_without_a_zero_its_probability_is_that_of_jeffreys_prior() -> None:
    data = rows()
    none = Rows(data.X, np.where(data.t > 0.0, data.t, 0.5))
    prediction, _ = ReadyHurdle.of(hurdle_of(ended(FIXED, none))).predict(data.X)
    np.testing.assert_allclose(prediction.zero, 0.5 / 61.0, rtol=1e-6)


def test_contributions_are_those_of_the_logarithm_of_positive_targets() -> None:
    data = rows()
    ready = ReadyHurdle.of(hurdle_of(ended(FIXED, data)))
    found = contributions(ready, data.X, 100)
    alone = contributions(ready.positive, data.X, 100)
    np.testing.assert_allclose(found.total, alone.total)
    assert found.functions.max() >= len(ready.zero.model.mean)
    with pytest.raises(DataError, match="expected Gaussian noise, got hurdle"):
        joint(ready, data.X)


@pytest.mark.parametrize("t", [[-1.0, 0.0, 1.0, 2.0], [0.0, 0.0, 2.0, 2.0]])
def test_other_targets_are_refused(t: list[float]) -> None:
    with pytest.raises((DataError, ConstantTargetError)):
        ended(FIXED, Rows(np.arange(4.0)[:, None], np.array(t)))


def test_it_is_no_likelihood_of_one_model() -> None:
    with pytest.raises(IllegalCombinationError, match="that of several fits"):
        fit(rows().X, rows().t, FIXED)
