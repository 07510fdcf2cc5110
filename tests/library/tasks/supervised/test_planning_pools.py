"""Which processes are learned together, and at what loss these are reduced to few functions."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Greedy, Sequential
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels import CityBlock, Gaussian, Matern32, Matern52
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, EvidenceWidth, FixedWidth
from relevance_bayes.core.likelihoods import LogGaussian, StudentT
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.records.values import Prefer
from relevance_bayes.tables.columns import NumberArray
from relevance_bayes.tasks.supervised.request import (
    AutomaticPrior,
    GaussianLikelihood,
    KernelChoice,
    SupervisedPlan,
    SupervisedRequest,
)
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of, flags

ONE, EACH = EvidenceWidth(), EvidencePerInputWidth()
A, B = KernelBasis(Gaussian(), EACH), KernelBasis(Matern32(), EACH)
C, W = KernelBasis(Gaussian(), ONE), KernelBasis(Gaussian(), EACH, "evidence")
S = KernelBasis(CityBlock(), EACH)
REQUEST = SupervisedRequest(DATASET_ID, "y")


def planned(request: SupervisedRequest, *, rows: int = 40, inputs: int = 2) -> SupervisedPlan:
    x = np.linspace(0.0, 1.0, rows)
    columns = {f"x{place}": NumberArray(x**place) for place in range(1, inputs + 1)}
    return plan(request, dataset_of({**columns, "y": NumberArray(np.sin(x) + 0.3)}))


def kernels(found: SupervisedPlan) -> list[KernelBasis]:
    """Those of the processes, which all have a constant and the inputs beside them."""
    assert all(one.basis[1:] == (Bias(), Inputs()) for one in (found.spec, *found.pool))
    return [one.basis[0] for one in (found.spec, *found.pool) if isinstance(one.basis[0], KernelBasis)]


@pytest.mark.parametrize("rows", [40, 1_001, 30_000])
def test_the_default_is_four_processes_of_numbers_however_many_rows(rows: int) -> None:
    found = planned(REQUEST, rows=rows)
    assert found.effort == "normal"
    assert kernels(found) == [A, B, C, W]


def wide(request: SupervisedRequest, rows: int) -> SupervisedPlan:
    """The plan for 32 inputs."""
    drawn = np.random.default_rng(0).standard_normal((rows, 33))
    columns = {f"x{place}": NumberArray(np.ascontiguousarray(values)) for place, values in enumerate(drawn[:, 1:].T)}
    return plan(request, dataset_of({**columns, "y": NumberArray(np.ascontiguousarray(drawn[:, 0]))}))


def test_few_rows_for_each_of_many_inputs_determine_no_warps_unless_they_are_requested() -> None:
    assert kernels(wide(REQUEST, 255)) == [A, B, C]
    assert kernels(wide(REQUEST, 256)) == [A, B, C, W]
    assert kernels(wide(replace(REQUEST, basis=KernelChoice()), 255)) == [A, C, W]


def test_of_one_input_one_width_is_a_width_for_each() -> None:
    assert kernels(planned(REQUEST, inputs=1)) == [A, B, W]


def test_a_quick_training_is_of_one() -> None:
    found = planned(replace(REQUEST, effort="quick"))
    assert (kernels(found), found.pool) == ([W], ())


def test_a_thorough_training_is_of_steps_too() -> None:
    thorough = replace(REQUEST, effort="thorough")
    assert kernels(planned(thorough)) == [A, B, S, C, W]
    assert {one.algorithm for one in planned(thorough).pool} == {Greedy(max_iterations=120)}
    assert {one.algorithm for one in planned(REQUEST).pool} == {Greedy()}
    named = replace(REQUEST, basis=KernelChoice(Matern52()))
    assert kernels(planned(replace(named, effort="thorough"))) == kernels(planned(named))


def test_a_kernel_that_is_named_leaves_those_with_it_and_no_warp_those_without() -> None:
    matern = KernelChoice(Matern52())
    named = [KernelBasis(Matern52(), EACH), KernelBasis(Matern52(), ONE), KernelBasis(Matern52(), EACH, "evidence")]
    assert kernels(planned(replace(REQUEST, basis=matern))) == named
    assert kernels(planned(replace(REQUEST, basis=replace(matern, warp="none")))) == named[:2]


@pytest.mark.parametrize(
    "request_",
    [
        replace(REQUEST, prior=GaussianProcess()),
        replace(REQUEST, prior=Independent()),
        replace(REQUEST, algorithm=Sequential()),
        replace(REQUEST, basis=KernelChoice(width=FixedWidth(1.0))),
        replace(REQUEST, basis=KernelChoice(additive="evidence")),
        replace(REQUEST, likelihood=StudentT()),
    ],
    ids=["a process", "independent", "algorithm", "width", "terms", "tails"],
)
def test_where_what_distinguishes_them_is_named_one_is_learned(request_: SupervisedRequest) -> None:
    assert planned(request_).pool == ()


def test_choices_that_all_of_them_share_leave_all() -> None:
    for shared in (
        replace(REQUEST, prior=AutomaticPrior()),
        replace(REQUEST, algorithm=Greedy()),
        replace(REQUEST, likelihood=GaussianLikelihood(0.1)),
    ):
        assert len(planned(shared).pool) == 3


def test_classes_and_logarithms_have_one_process() -> None:
    assert planned(replace(REQUEST, likelihood=LogGaussian(), prior=GaussianProcess())).pool == ()
    x = np.linspace(0.0, 1.0, 8)
    assert plan(REQUEST, dataset_of({"x": NumberArray(x), "y": flags(*(x > 0.5))})).pool == ()


@pytest.mark.parametrize(
    ("prefer", "named", "found"),
    [("accuracy", None, 0.01), ("small", None, 0.05), ("accuracy", 0.2, 0.2), ("small", 0.001, 0.001)],
)
def test_a_loss_that_is_named_wins_over_what_is_preferred(prefer: Prefer, named: float | None, found: float) -> None:
    assert planned(replace(REQUEST, prefer=prefer, max_score_loss=named)).max_score_loss == found
