"""Which prior is taken where it is left open, and what is fitted beside it."""

from dataclasses import replace

import numpy as np
import pytest

from app.datasets.records import Dataset
from relevance_bayes.core.algorithms import Algorithm, Greedy, ReEstimation, Sequential
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels import (
    Gaussian,
    Kernel,
    Laplacian,
    LinearSpline,
    Matern52,
    Polynomial,
    RationalQuadratic,
)
from relevance_bayes.core.kernels.hyperparameters import (
    CrossValidationWidth,
    EvidencePerInputWidth,
    EvidenceWidth,
    FixedWidth,
    InheritedWidth,
)
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood, LogGaussian, Poisson, StudentT
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import GaussianProcess, Independent, Prior
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tasks.supervised.cost import fitted_spec
from relevance_bayes.tasks.supervised.request import (
    AutomaticPrior,
    BasisChoice,
    GaussianLikelihood,
    KernelChoice,
    SupervisedRequest,
    named_likelihood,
)
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of, flags, numbers

TABLE: Block = {"x": numbers(0.5, 1.5, 2.0, 3.5), "on": flags(True, False, True, True), "y": numbers(1, 2.5, 3, 5)}
DATASET = dataset_of(TABLE)
SPANNING = dataset_of({**TABLE, "y": numbers(1, 3, 3, 50)})

PROCESS = GaussianProcess(min_gain=2.0)
INDEPENDENT = Spec(
    GaussianNoise(),
    (KernelBasis(width=InheritedWidth()), Bias(), Inputs()),
    Independent(price=True),
    Sequential(),
)


def requesting(target: str = "y") -> SupervisedRequest:
    """One process, whose widths are stated, and its rivals: several have tests of their own."""
    return SupervisedRequest(DATASET_ID, target, basis=KernelChoice(width=EvidencePerInputWidth()))


def test_the_default_is_a_process_and_beside_it_weights_that_inherit_its_widths_and_pay_for_their_choices() -> None:
    found = plan(requesting(), DATASET)
    assert (found.spec.prior, found.spec.algorithm, found.compared_models) == (PROCESS, Greedy(), (INDEPENDENT,))


def numbers_spanning(minimum: float, maximum: float, rows: int) -> Dataset:
    """Columns `x` and `y`; y goes from `minimum` to `maximum`."""
    x = np.linspace(0.0, 1.0, rows)
    return dataset_of({"x": NumberArray(x), "y": NumberArray(minimum + (maximum - minimum) * x)})


@pytest.mark.parametrize("kernel", [Gaussian(), Matern52(), Laplacian(), RationalQuadratic()], ids=str)
def test_the_functions_of_any_one_covariance_are_a_process_unless_stated_otherwise(kernel: Kernel) -> None:
    found = plan(replace(requesting(), basis=KernelChoice(kernel, EvidencePerInputWidth())), DATASET)
    assert (found.spec.prior, found.spec.algorithm) == (PROCESS, Greedy())
    assert found.spec.basis[0] == KernelBasis(kernel, EvidencePerInputWidth(), "evidence")
    assert [alternative.prior for alternative in found.compared_models] == [Independent(price=True)]
    assert found.compared_models[0].basis[0] == KernelBasis(kernel, InheritedWidth())


def test_dictionaries_that_are_listed_are_those_of_the_alternative_too() -> None:
    found = plan(replace(requesting(), basis=(Bias(), KernelChoice(Matern52(), FixedWidth(2.0)))), DATASET)
    assert found.spec.prior == PROCESS
    assert found.spec.basis == (Bias(), KernelBasis(Matern52(), FixedWidth(2.0)))
    assert [alternative.basis for alternative in found.compared_models] == [
        (Bias(), KernelBasis(Matern52(), InheritedWidth()))
    ]


@pytest.mark.parametrize(
    "basis",
    [
        (KernelChoice(LinearSpline()), Bias()),
        KernelChoice(Polynomial()),
        (KernelChoice(width=FixedWidth(0.5)), KernelChoice(Matern52(), FixedWidth(2.0))),
        (KernelChoice(width=FixedWidth(0.5)), KernelChoice(LinearSpline(), FixedWidth(2.0))),
        (Bias(), Inputs()),
        Inputs(),
    ],
    ids=["a spline", "a polynomial", "two covariances", "a covariance and a spline", "no kernel", "inputs"],
)
def test_functions_that_are_not_those_of_one_covariance_have_independent_weights(
    basis: BasisChoice | tuple[BasisChoice, ...],
) -> None:
    found = plan(replace(requesting(), basis=basis), DATASET)
    assert (found.spec.prior, found.spec.algorithm, found.compared_models) == (Independent(), Sequential(), ())


@pytest.mark.parametrize("algorithm", [Sequential(), ReEstimation()], ids=lambda one: one.type)
def test_an_algorithm_for_independent_weights_requires_them(algorithm: Algorithm) -> None:
    found = plan(replace(requesting(), basis=None, algorithm=algorithm), DATASET)
    assert (found.spec.prior, found.spec.algorithm, found.compared_models) == (Independent(), algorithm, ())
    assert found.spec.basis == (KernelBasis(width=CrossValidationWidth(folds=5)), Bias())


def test_the_algorithm_of_a_process_requires_one() -> None:
    found = plan(replace(requesting(), algorithm=Greedy()), DATASET)
    assert (found.spec.prior, found.spec.algorithm) == (PROCESS, Greedy())


def test_an_algorithm_that_is_requested_is_not_exchanged_for_that_of_an_alternative() -> None:
    found = plan(replace(requesting(), algorithm=Greedy()), SPANNING)
    assert [alternative.algorithm for alternative in found.compared_models] == [Greedy()]
    assert [alternative.likelihood for alternative in found.compared_models] == [LogGaussian()]


@pytest.mark.parametrize(
    ("requested", "selected"),
    [
        (Independent(), Independent()),
        (Independent(price=True), Independent(price=True)),
        (GaussianProcess(), PROCESS),
        (GaussianProcess("rows", 3.0, 40), GaussianProcess("rows", 3.0, 40)),
    ],
)
def test_a_prior_that_is_requested_has_no_alternatives(requested: Prior, selected: Prior) -> None:
    found = plan(replace(requesting(), prior=requested), numbers_spanning(1.0, 100.0, 40))
    assert (found.spec.prior, found.compared_models) == (selected, ())


@pytest.mark.parametrize(
    "requested",
    [
        requesting(),
        requesting("on"),
        replace(requesting(), basis=KernelChoice(LinearSpline())),
        replace(requesting(), algorithm=Sequential()),
        replace(requesting(), likelihood=Poisson()),
        replace(requesting(), likelihood=GaussianLikelihood(0.1)),
    ],
)
def test_automatic_is_the_default(requested: SupervisedRequest) -> None:
    assert plan(replace(requested, prior=AutomaticPrior()), SPANNING) == plan(requested, SPANNING)


def test_classes_are_a_process_and_nothing_else_is_fitted() -> None:
    found = plan(replace(requesting("on"), basis=None, effort="quick"), DATASET)
    assert found.spec == Spec(
        Bernoulli(),
        (KernelBasis(width=EvidenceWidth()), Bias()),
        GaussianProcess("rows", min_gain=0.1),
        Greedy(15),
    )
    assert found.compared_models == ()


@pytest.mark.parametrize(
    ("likelihood", "rows", "expected"),
    [
        (Bernoulli(), 100, 250),
        (Bernoulli(), 10_000, 400),
        (GaussianNoise(), 3_000, 750),
        (GaussianNoise(), 9_000, 1_000),
    ],
)
def test_a_quick_training_has_scales_of_a_quarter_of_the_rows_within_bounds(
    likelihood: Likelihood, rows: int, expected: int
) -> None:
    quick = Spec(likelihood, (KernelBasis(),), GaussianProcess(), Greedy(15))
    assert fitted_spec(quick, "quick", rows) == replace(quick, algorithm=Greedy(15, expected))
    assert fitted_spec(quick, "normal", rows) == quick
    requested = replace(quick, algorithm=Greedy(7))
    assert fitted_spec(requested, "quick", rows) == requested


@pytest.mark.parametrize("likelihood", [Poisson(), StudentT(), LogGaussian()], ids=lambda one: one.type)
def test_another_likelihood_that_is_requested_has_no_alternatives(likelihood: Likelihood) -> None:
    found = plan(replace(requesting(), likelihood=named_likelihood(likelihood)), SPANNING)
    assert found.spec.prior == GaussianProcess(min_gain=likelihood.min_gain)
    assert (found.spec.likelihood, found.compared_models) == (likelihood, ())


@pytest.mark.parametrize(("rows", "beside"), [(5_000, 1), (5_001, 0)])
def test_independent_weights_are_fitted_beside_a_process_up_to_so_many_rows(rows: int, beside: int) -> None:
    found = plan(requesting(), numbers_spanning(-1.0, 1.0, rows))
    assert found.spec.prior == PROCESS
    assert len(found.compared_models) == beside


@pytest.mark.parametrize(
    ("minimum", "maximum", "rows", "tried"),
    [
        (1.0, 10.1, 40, True),
        (1.0, 10.0, 40, False),
        (0.0, 10.0, 40, False),
        (-1.0, 100.0, 40, False),
        (1e-200, 1e-190, 40, True),
        (1e-100, 1e100, 40, False),
        (1.0, 11.0, 20_000, True),
        (1.0, 11.0, 20_001, False),
    ],
)
def test_the_logarithm_is_tried_where_targets_are_positive_and_span_more_than_ten(
    minimum: float, maximum: float, rows: int, tried: bool
) -> None:
    found = plan(requesting(), numbers_spanning(minimum, maximum, rows))
    assert found.spec.likelihood == GaussianNoise()
    logarithms = [alternative for alternative in found.compared_models if alternative.likelihood == LogGaussian()]
    assert logarithms == ([replace(found.spec, likelihood=LogGaussian())] if tried else [])


def bounded(*values: float, rows: int = 40) -> list[str]:
    """The likelihoods of counts, shares and zeros that are compared by default with Gaussian noise."""
    y = np.resize(np.array(values), rows)
    dataset = dataset_of({"x": NumberArray(np.linspace(0.0, 1.0, rows)), "y": NumberArray(y)})
    found = plan(replace(requesting(), basis=None), dataset)
    assert found.spec.likelihood == GaussianNoise()
    assert plan(replace(requesting(), basis=None, effort="quick"), dataset).compared_models == ()
    pinned = plan(replace(requesting(), basis=None, likelihood=GaussianLikelihood()), dataset).compared_models
    assert {one.likelihood.type for one in pinned} <= {"gaussian"}
    likelihoods = [one.likelihood for one in found.compared_models]
    return [one.type for one in likelihoods if one.targets in {"count", "share", "amount"}]


COUNTS = ["poisson", "negative_binomial"]


@pytest.mark.parametrize(
    ("values", "rows", "compared"),
    [
        ((0.0, 1.0, 5.0), 40, COUNTS),
        ((0.0, 1.0, 5000.0), 40, COUNTS),
        ((2.0, 5.0, 12.0), 40, COUNTS),
        ((8.0, 9.0, 12.0), 40, []),
        ((2.0, 500.0, 1200.0), 40, []),
        ((0.0, 1.5, 5.0), 40, []),
        ((-1.0, 1.0, 5.0), 40, []),
        ((0.0, 1.0, 5.0), 100_000, [*COUNTS, "hurdle"]),
        ((0.0, 1.0, 5.0), 100_001, []),
        ((0.01, 0.2, 0.5), 40, ["logit_gaussian"]),
        ((0.5, 0.8, 0.99), 20_000, ["logit_gaussian"]),
        ((0.5, 0.8, 0.99), 20_001, []),
        ((0.4, 0.5, 0.6), 40, []),
        ((0.0, 0.2, 0.5), 40, []),
        ((0.1, 0.2, 1.0), 40, []),
        ((0.0, 0.0, 0.7, 1.5), 60, ["hurdle"]),
        ((0.0, 0.0, 0.7, 1.5), 40, []),  # few rows
        ((0.0, 0.0, 1.5, 1.5), 60, []),  # one number above 0
        ((0.0, *[0.7 + 0.01 * place for place in range(39)]), 400, []),  # few zeros
        ((*[0.0] * 39, 0.7, 1.5), 410, []),  # few numbers above 0
        ((0.0, 0.0, 3.0, 5.0), 60, [*COUNTS, "hurdle"]),
    ],
)
def test_counts_shares_and_zeros_are_compared_where_values_are_near_their_bounds(
    values: tuple[float, ...], rows: int, compared: list[str]
) -> None:
    assert bounded(*values, rows=rows) == compared


@pytest.mark.parametrize("likelihood", [GaussianNoise(), GaussianNoise(0.5)])
def test_noise_that_is_requested_is_not_exchanged_for_that_of_a_logarithm(likelihood: GaussianNoise) -> None:
    found = plan(replace(requesting(), likelihood=named_likelihood(likelihood)), SPANNING)
    assert [(alternative.prior, alternative.likelihood) for alternative in found.compared_models] == [
        (Independent(price=True), likelihood)
    ]


def test_the_logarithm_comes_before_independent_weights_and_both_have_the_seed() -> None:
    found = plan(replace(requesting(), seed=7), SPANNING)
    assert [
        (alternative.prior.type, alternative.likelihood.type, alternative.seed) for alternative in found.compared_models
    ] == [
        ("gaussian_process", "log_gaussian", 7),
        ("independent", "gaussian", 7),
    ]
