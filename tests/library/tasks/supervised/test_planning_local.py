"""Where a training compares nearest-neighbour processes with the sparse model, and where these are refused."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels import CityBlock, Matern32
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, FixedWidth
from relevance_bayes.core.likelihoods import StudentT
from relevance_bayes.core.models.local.neighbours import KERNELS, LocalChoice
from relevance_bayes.core.models.model import is_heteroscedastic
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray
from relevance_bayes.tasks.supervised.request import (
    AutomaticLocal,
    AutomaticPrior,
    GaussianLikelihood,
    KernelChoice,
    LocalPlan,
    NearestNeighbours,
    NoLocal,
    SupervisedPlan,
    SupervisedRequest,
)
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of

REQUEST = SupervisedRequest(DATASET_ID, "y")
REQUIRED = replace(REQUEST, local=NearestNeighbours())


def planned(request: SupervisedRequest, *, rows: int = 200, inputs: int = 2) -> SupervisedPlan:
    x = np.linspace(0.0, 1.0, rows)
    columns = {f"x{place}": NumberArray(x**place) for place in range(1, inputs + 1)}
    return plan(request, dataset_of({**columns, "y": NumberArray(np.sin(x) + 0.3)}))


def test_from_5_000_rows_on_they_are_compared_by_default() -> None:
    assert planned(REQUEST, rows=4_999).local is None
    expected = LocalPlan(LocalChoice(None, None, False, KERNELS, True, 0.01), 5_000, 8 * 5_000 * 3)
    assert planned(REQUEST, rows=5_000).local == expected
    assert planned(replace(REQUEST, local=AutomaticLocal()), rows=5_000).local == expected
    assert planned(replace(REQUEST, prior=AutomaticPrior()), rows=5_000).local == expected


def test_from_5_000_rows_on_noise_that_varies_is_compared_with_optimised_inducing_points_too() -> None:
    few, many = (
        [one for one in planned(REQUEST, rows=rows).compared_models if is_heteroscedastic(one.likelihood)]
        for rows in (4_999, 5_000)
    )
    wide = (KernelBasis(width=EvidencePerInputWidth()), Bias(), Inputs())
    first = replace(many[0], prior=GaussianProcess(inducing_points="rows", min_gain=2.0), basis=wide)
    warped = (KernelBasis(width=EvidencePerInputWidth(), warp="evidence"), Bias(), Inputs())
    assert few == [first]
    assert many == [first, replace(first, prior=GaussianProcess(min_gain=2.0), basis=warped)]


def test_the_gain_that_they_need_is_what_a_pool_may_lose() -> None:
    found = planned(replace(REQUEST, prefer="small"), rows=5_000).local
    assert found is not None
    assert found.choice.min_gain == 0.05


@pytest.mark.parametrize(
    "request_",
    [
        replace(REQUEST, local=NoLocal()),
        replace(REQUEST, effort="quick"),
        replace(REQUEST, prior=GaussianProcess()),
        replace(REQUEST, prior=Independent()),
        replace(REQUEST, likelihood=StudentT()),
        replace(REQUEST, likelihood=GaussianLikelihood("heteroscedastic")),
        replace(REQUEST, basis=KernelChoice(CityBlock())),
        replace(REQUEST, basis=KernelChoice(width=FixedWidth(1.0))),
    ],
)
def test_they_are_not_where_other_choices_are_named(request_: SupervisedRequest) -> None:
    assert planned(request_, rows=6_000).local is None


def test_they_are_not_where_the_rows_are_more_than_16_mib() -> None:
    rows, labels = 200_000, tuple(f"a{place:02}" for place in range(50))
    y = NumberArray(np.sin(np.linspace(0.0, 1.0, rows)) + 0.3)
    table: Block = {"x": CategoryArray(np.arange(rows, dtype=np.int32) % 50, labels), "z": y, "y": y}
    assert plan(replace(REQUEST, inputs=("z",)), dataset_of(table)).local is not None
    assert plan(replace(REQUEST, inputs=("x",)), dataset_of(table)).local is None


def test_a_process_that_is_requested_has_its_number_of_neighbours_and_its_kernel() -> None:
    found = planned(replace(REQUEST, local=NearestNeighbours(64, "residuals"))).local
    assert found is not None
    assert found.choice == LocalChoice(64, "residuals", True, KERNELS, True, 0.01)
    named = planned(replace(REQUIRED, basis=KernelChoice(Matern32(), warp="none"), effort="quick")).local
    assert named is not None
    assert (named.choice.kernels, named.choice.warped, named.choice.on) == ((Matern32(),), False, None)


@pytest.mark.parametrize(
    ("request_", "detail"),
    [
        (replace(REQUIRED, likelihood=StudentT()), "Gaussian noise of one sd"),
        (replace(REQUIRED, prior=Independent()), "Gaussian process prior"),
        (replace(REQUIRED, prior=GaussianProcess(rho=1.0)), "Gaussian process prior"),
        (replace(REQUIRED, basis=KernelChoice(CityBlock())), "one of the kernels matern_5_2"),
        (replace(REQUIRED, basis=KernelChoice(width=FixedWidth(1.0))), "learned widths"),
        (replace(REQUIRED, task="classification", target="flag"), "requires numbers"),
    ],
)
def test_a_process_that_can_not_be_is_refused_with_the_reason(request_: SupervisedRequest, detail: str) -> None:
    x = np.linspace(0.0, 1.0, 200)
    dataset = dataset_of({"x": NumberArray(x), "y": NumberArray(np.sin(x)), "flag": NumberArray(np.round(x))})
    with pytest.raises(InvalidRequestError) as refused:
        plan(request_, dataset)
    assert [fault.pointer for fault in refused.value.faults if detail in fault.detail] == ["/local"]


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(InvalidRequestError, match="at least 100 rows, got 99"):
        planned(REQUIRED, rows=99)
