from dataclasses import dataclass, replace
from math import log

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Greedy, Sequential
from relevance_bayes.core.algorithms.greedy import ProcessIterate
from relevance_bayes.core.algorithms.state import Iterate
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.errors import ConstantTargetError, DataError, NotPositiveDefiniteError, TooManyCandidatesError
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, InheritedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, LogGaussian, OneAgainstRest
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.prediction import NumberPrediction, latent, predict, scores
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.selection import Compared, FitContext, RankedModel, Rows, Selection, Step, Trained, train
from relevance_bayes.core.selection.candidates import MIN_MARGIN
from tests.library.core.drawn import process_spec, ring, ripley, sinc, spec_for

PROCESS = process_spec(GaussianNoise(), warp="evidence", inputs=True, min_gain=2.0)
ALTERNATIVE = Spec(
    GaussianNoise(), (KernelBasis(width=InheritedWidth()), Bias(), Inputs()), Independent(price=True), Sequential()
)


def trained(rows: Rows, spec: Spec, *alternatives: Spec) -> Trained:
    *_, last = train(rows, Selection(spec, compared_models=alternatives))
    assert isinstance(last, Trained)
    return last


def columns(relevant: int, of: int, rows: int = 100) -> Rows:
    """Numbers that depend on some of many columns, and straight."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, of))
    t = X[:, :relevant].sum(axis=1) + 0.5 * rng.standard_normal(rows)
    return Rows(X, (t - t.mean()) / t.std())


def test_a_curve_is_better_represented_by_a_process() -> None:
    found = trained(Rows(*sinc(100, 0)), PROCESS, ALTERNATIVE)
    assert found.spec == PROCESS
    best, beaten = found.ranked_models
    assert best.score > beaten.score + 5.0
    assert (best.spec, beaten.spec) == (PROCESS, ALTERNATIVE)


def test_few_of_many_columns_are_better_represented_by_independent_weights() -> None:
    found = trained(columns(3, 40), PROCESS, ALTERNATIVE)
    assert found.spec == ALTERNATIVE
    assert found.model.signal_variance is None
    assert len(found.model.mean) <= 8
    assert [ranked.spec for ranked in found.ranked_models] == [ALTERNATIVE, PROCESS]


def test_widths_can_be_inherited_from_a_fit_that_kept_no_kernel() -> None:
    rows = columns(0, 2, rows=30)
    empty = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(1.5)), Bias()), Independent(price=True))
    heir = replace(empty, basis=(KernelBasis(width=InheritedWidth()), Bias(), Inputs()))
    assert len(trained(rows, empty).model.mean) == 0
    assert {ranked.spec for ranked in trained(rows, empty, heir).ranked_models} == {empty, heir}


def test_each_step_of_a_fit_has_its_evidence_in_the_units_of_the_target() -> None:
    rows = Rows(*sinc(40, 0))
    spec = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(1.5)), Bias()), Independent())
    *steps, last = train(replace(rows, t=3.0 * rows.t), Selection(spec))
    assert isinstance(last, Trained)
    evidences = [step.log_marginal_likelihood for step in steps if isinstance(step, Step) and step.completed]
    assert len(evidences) > 5
    assert None not in evidences
    assert evidences[-1] == pytest.approx(last.model.evidence.value, rel=1e-12)


def test_a_score_has_no_units() -> None:
    rows = Rows(*sinc(60, 1))
    here, there = (trained(Rows(rows.X, scale * rows.t), PROCESS, ALTERNATIVE).ranked_models for scale in (1.0, 1e6))
    for one, other in zip(here, there, strict=True):
        assert other.score == pytest.approx(one.score - 60 * log(1e6), abs=1e-3)


def test_without_alternatives_nothing_is_compared() -> None:
    assert trained(Rows(*sinc(40, 0)), PROCESS).ranked_models == ()


def positive(rows: int = 120) -> Rows:
    rng = np.random.default_rng(3)
    X = rng.uniform(-2.0, 2.0, (rows, 1))
    return Rows(X, np.exp(1.5 * X[:, 0] + 0.3 * rng.standard_normal(rows)))


def test_targets_whose_scatter_grows_with_them_are_modelled_by_their_logarithm() -> None:
    found = trained(positive(), PROCESS, replace(PROCESS, likelihood=LogGaussian()))
    assert found.spec.likelihood == LogGaussian()


def test_noise_in_another_likelihoods_units_is_not_reported_meanwhile() -> None:
    *steps, _ = train(positive(), Selection(PROCESS, compared_models=(replace(PROCESS, likelihood=LogGaussian()),)))
    phases = {step.phase for step in steps if isinstance(step, Step) and step.noise_sd is not None}
    assert phases == {"fit"}


def test_another_likelihood_has_to_be_clearly_better() -> None:
    X, t = sinc(60, 2)
    found = trained(Rows(X, t + 20.0), PROCESS, replace(PROCESS, likelihood=LogGaussian()))
    best, beaten = found.ranked_models
    assert found.spec.likelihood == GaussianNoise()
    assert isinstance(best, RankedModel)
    assert abs(best.score - beaten.score) < 6.0  # near 20 a logarithm is straight


LOGARITHM = replace(PROCESS, likelihood=LogGaussian())


def near_one() -> Rows:
    """A curve that comes down to 0.6 with constant scatter: its logarithm is worse, and more of it is curved."""
    X, t = sinc(200, 2)
    return Rows(X, t + 1.0)


def test_an_alternative_that_falls_behind_where_its_scales_are_found_is_given_up() -> None:
    best, beaten = trained(near_one(), PROCESS, LOGARITHM).ranked_models
    assert (best.spec, beaten.spec, beaten.functions) == (PROCESS, LOGARITHM, None)
    full, _ = trained(near_one(), LOGARITHM, replace(ALTERNATIVE, likelihood=LogGaussian())).ranked_models
    assert full.spec == LOGARITHM
    margin = MIN_MARGIN * len(near_one().t)
    assert best.score - beaten.score == pytest.approx(best.score - full.score, abs=0.25 * margin)


def test_an_alternative_that_is_given_up_chooses_no_function() -> None:
    steps = [
        step for step in train(near_one(), Selection(PROCESS, compared_models=(LOGARITHM,))) if isinstance(step, Step)
    ]
    assert "alternative fit" in {step.phase for step in steps}
    assert max(step.functions or 0 for step in steps if step.phase == "alternative fit") <= 2  # the constant, the input


def test_an_alternative_that_cannot_learn_these_targets_is_refused() -> None:
    with pytest.raises(DataError, match="above 0"):
        trained(Rows(*sinc(40, 0)), PROCESS, replace(PROCESS, likelihood=LogGaussian()))
    with pytest.raises(ConstantTargetError):
        trained(Rows(sinc(40, 0)[0], np.ones(40)), PROCESS)


# --- Leave-one-out --------------------------------------------------------------------------------------------------


def test_leave_one_out_is_every_row_predicted_by_all_others() -> None:
    """At fixed functions and hyperparameters, each row left out in turn."""
    X, t = sinc(25, 4)
    found = trained(Rows(X, t), Spec(GaussianNoise(0.1), (KernelBasis(width=FixedWidth(3.0)), Bias())))
    model = found.model
    P = np.hstack([functions(X, np.arange(functions.size)) for functions in model.functions])
    densities, hits = [], []
    for n in range(25):
        others = np.delete(np.arange(25), n)
        precision = np.diag(model.alpha) + 100.0 * P[others].T @ P[others]
        mean = P[n] @ np.linalg.solve(precision, 100.0 * P[others].T @ t[others])
        variance = 0.01 + P[n] @ np.linalg.solve(precision, P[n])
        densities.append(-0.5 * (np.log(2.0 * np.pi * variance) + (t[n] - mean) ** 2 / variance))
        hits.append(abs(t[n] - mean) <= 1.959964 * variance**0.5)
    predicted = predict(model, X)
    assert isinstance(predicted, NumberPrediction)
    if np.all(predicted.residual == 0.0):
        assert found.leave_one_out["nll"] == pytest.approx(-float(np.mean(densities)), rel=1e-6)
    assert found.leave_one_out["coverage_95"] == pytest.approx(float(np.mean(hits)), abs=0.05)


def test_of_several_latents_leave_one_out_is_every_row_predicted_by_all_others() -> None:
    X, t = ring(24, 4)
    found = trained(Rows(X, t), Spec(OneAgainstRest(3, 1.0), (KernelBasis(width=FixedWidth(1.5)), Inputs())))
    model = found.model
    assert model.noise_sd is not None
    P = np.hstack([functions(X, np.arange(functions.size)) for functions in model.functions])
    beta, T, residual_variance = model.noise_sd**-2, np.eye(3)[t.astype(int)], latent(model, X).residual
    losses = []
    for n in range(24):
        others = np.delete(np.arange(24), n)
        precision = np.diag(model.alpha) + beta * P[others].T @ P[others]
        mean = P[n] @ np.linalg.solve(precision, beta * P[others].T @ T[others])
        variance = P[n] @ np.linalg.solve(precision, P[n]) + residual_variance[n]
        one = LatentGaussian(mean[None], np.array([variance]), np.zeros(1))
        losses.append(-model.likelihood.predictive(one, model.noise_sd).log_density(t[n : n + 1])[0])
    assert found.leave_one_out["log_loss"] == pytest.approx(float(np.mean(losses)), rel=1e-9)
    assert set(found.leave_one_out) == {"error", "log_loss"}


def test_under_a_process_leave_one_out_is_near_what_folds_measure() -> None:
    X, t = sinc(150, 5)
    found = trained(Rows(X, t), PROCESS)
    folds = np.arange(150) % 10
    nll = []
    for k in range(10):
        model = fit(X[folds != k], t[folds != k], PROCESS)
        nll.append(scores(predict(model, X[folds == k]), t[folds == k])["nll"])
    assert found.leave_one_out["nll"] == pytest.approx(float(np.mean(nll)), abs=0.1)
    assert 0.85 <= found.leave_one_out["coverage_95"] <= 1.0


def test_where_sites_depend_on_the_latent_there_is_none() -> None:
    X, t = ripley(40, 0)
    assert trained(Rows(X, t), spec_for(Bernoulli())).leave_one_out == {}


def test_more_candidates_than_are_allowed_are_refused_where_a_step_goes_over_all() -> None:
    X, t = sinc(40, 0)
    spec = Spec(GaussianNoise(), (KernelBasis(Gaussian(), FixedWidth(2.0)), Bias()))
    list(train(Rows(X, t), Selection(spec), on=FitContext(max_cells=40 * 41)))
    with pytest.raises(TooManyCandidatesError, match="at most 1,639, got 40 times 41"):
        list(train(Rows(X, t), Selection(spec), on=FitContext(max_cells=40 * 41 - 1)))
    process = replace(spec, prior=GaussianProcess(), algorithm=Greedy())
    list(train(Rows(X, t), Selection(process), on=FitContext(max_cells=1)))


@dataclass(frozen=True)
class NotComputable(Greedy):
    """An algorithm whose matrices are never positive definite."""

    def step(self, problem: Problem, now: Iterate) -> ProcessIterate:
        raise NotPositiveDefiniteError("expected a positive definite matrix of order 59")


def test_an_alternative_that_is_not_computable_is_left_out_and_named() -> None:
    rows = Rows(*sinc(40, 0))
    failing = replace(PROCESS, algorithm=NotComputable())
    found = trained(rows, PROCESS, failing, ALTERNATIVE)
    assert [one.spec for one in found.ranked_models] == [PROCESS, ALTERNATIVE]
    assert found.compared == (
        Compared(failing, None, "expected a positive definite matrix of order 59", computable=False),
    )


def test_where_the_first_is_not_computable_the_next_finds_a_width_of_its_own() -> None:
    failing = replace(PROCESS, algorithm=NotComputable())
    found = trained(Rows(*sinc(40, 0)), failing, ALTERNATIVE)
    (kernel, *_) = found.spec.basis
    assert isinstance(kernel, KernelBasis)
    assert isinstance(kernel.width, FixedWidth)
    assert [one.spec for one in found.compared] == [failing]


def test_a_training_fails_where_nothing_is_computable() -> None:
    failing = replace(PROCESS, algorithm=NotComputable())
    with pytest.raises(NotPositiveDefiniteError, match="order 59; expected a positive definite matrix of order 59"):
        trained(Rows(*sinc(20, 0)), failing, failing)
