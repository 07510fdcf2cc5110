"""from typing import get_args"""

from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from relevance_bayes.core.algorithms import Algorithm, Greedy, ReEstimation, Sequential
from relevance_bayes.core.basis import Bias, Group, Inputs, KernelBasis
from relevance_bayes.core.dictionaries import BSplines, Fourier, Gabor, Steps
from relevance_bayes.core.errors import IllegalCombinationError
from relevance_bayes.core.kernels import LinearSpline
from relevance_bayes.core.kernels.hyperparameters import (
    EvidencePerInputWidth,
    EvidenceWidth,
    FixedWidth,
    InheritedWidth,
    Width,
)
from relevance_bayes.core.likelihoods import Bernoulli, Categorical, GaussianNoise, Likelihood, OneAgainstRest
from relevance_bayes.core.models.model import LEGAL, Basis, Spec, check, learning, searched
from relevance_bayes.core.priors import GaussianProcess, Independent, Prior


@pytest.mark.parametrize(
    ("basis", "detail"),
    [
        ((), "at least one"),
        ((Bias(), KernelBasis(), Bias()), "at most one bias"),
        ((KernelBasis(), KernelBasis(width=EvidenceWidth())), "at most one width"),
        ((KernelBasis(), KernelBasis(width=EvidencePerInputWidth())), "at most one width"),
        ((KernelBasis(), KernelBasis(width=InheritedWidth())), "no width to be searched for beside one"),
    ],
    ids=["none", "two biases", "two searches", "a search and one for each", "a search beside what is inherited"],
)
def test_dictionaries_that_do_not_go_together_are_refused(basis: tuple[Basis, ...], detail: str) -> None:
    with pytest.raises(IllegalCombinationError, match=detail) as refused:
        check(Spec(GaussianNoise(), basis))
    assert refused.value.field == "basis"


@pytest.mark.parametrize("prior", [member() for member in get_args(Prior)], ids=lambda member: member.type)
@pytest.mark.parametrize("algorithm", [member() for member in get_args(Algorithm)], ids=lambda member: member.type)
def test_only_what_the_table_names_goes_together(prior: Prior, algorithm: Algorithm) -> None:
    spec = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(1.0)), Bias()), prior, algorithm)
    if algorithm.type in LEGAL[prior.type]:
        check(spec)
        return
    with pytest.raises(
        IllegalCombinationError, match=f'"{algorithm.type}" can\'t learn the prior "{prior.type}"'
    ) as refused:
        check(spec)
    assert refused.value.field == "algorithm"


@pytest.mark.parametrize("prior", [member() for member in get_args(Prior)], ids=lambda member: member.type)
@pytest.mark.parametrize("width", get_args(Width), ids=lambda member: member.__name__)
def test_each_width_is_found_by_the_algorithm_or_among_fits_or_refused(prior: Prior, width: type[Width]) -> None:
    given: Width = FixedWidth(1.0) if issubclass(width, FixedWidth) else width()
    algorithm = Sequential() if prior.type == "independent" else Greedy()
    spec = Spec(GaussianNoise(), (KernelBasis(width=given), Bias(), Inputs()), prior, algorithm)
    check(spec)
    (kernel, *_) = spec.basis
    assert isinstance(kernel, KernelBasis)
    ways = [given.type == "fixed", searched(spec) == [0], learning(spec, kernel).widths != "none"]
    assert ways.count(True) == 1


@pytest.mark.parametrize(
    ("basis", "detail"),
    [
        ((Bias(),), "one kernel"),
        ((KernelBasis(width=FixedWidth(1.0)), KernelBasis(width=FixedWidth(2.0))), "one kernel"),
        ((KernelBasis(LinearSpline(), FixedWidth(1.0)),), '"linear_spline" is no covariance'),
        ((KernelBasis(width=FixedWidth(1.0), warp="evidence"),), "widths by evidence"),
    ],
    ids=["no kernel", "two kernels", "no covariance", "a warp beside a fixed width"],
)
def test_a_process_needs_one_covariance(basis: tuple[Basis, ...], detail: str) -> None:
    with pytest.raises(IllegalCombinationError, match=detail):
        check(Spec(GaussianNoise(), basis, GaussianProcess(), Greedy()))


REFUSED: dict[str, tuple[Prior, Algorithm, Likelihood, str]] = {
    "price with all in": (Independent(price=True), ReEstimation(), GaussianNoise(), "the price of choice"),
    "a and b where functions leave": (Independent(a=1.0, b=1.0), Sequential(), GaussianNoise(), "Gamma hyperpriors"),
    "d where functions leave": (Independent(d=1.0), Sequential("single"), GaussianNoise(), "Gamma hyperpriors"),
    "a without b": (Independent(a=1.0), ReEstimation(), GaussianNoise(), "b above 0"),
    "c with noise given": (Independent(c=1.0), ReEstimation(), GaussianNoise(0.1), "no noise precision is learned"),
    "d without noise": (Independent(d=1.0), ReEstimation(), Bernoulli(), "no noise precision is learned"),
}


@pytest.mark.parametrize(("prior", "algorithm", "likelihood", "detail"), REFUSED.values(), ids=REFUSED)
def test_hyperpriors_that_nothing_can_learn_under_are_refused(
    prior: Prior, algorithm: Algorithm, likelihood: Likelihood, detail: str
) -> None:
    with pytest.raises(IllegalCombinationError, match=detail) as refused:
        check(Spec(likelihood, prior=prior, algorithm=algorithm))
    assert refused.value.field == "prior"


LEARNED_UNDER: dict[str, tuple[Prior, Algorithm, Likelihood]] = {
    "price": (Independent(price=True), Sequential(), Bernoulli()),
    "price, one move at a time": (Independent(price=True), Sequential("single"), GaussianNoise()),
    "all four": (Independent(a=1.0, b=2.0, c=3.0, d=4.0), ReEstimation(), GaussianNoise()),
    "on the weights alone": (Independent(a=1.0, b=2.0), ReEstimation("em"), Bernoulli()),
    "noise given": (Independent(b=2.0), ReEstimation(), GaussianNoise(0.1)),
}


@pytest.mark.parametrize(("prior", "algorithm", "likelihood"), LEARNED_UNDER.values(), ids=LEARNED_UNDER)
def test_hyperpriors_go_with_what_learns_under_them(prior: Prior, algorithm: Algorithm, likelihood: Likelihood) -> None:
    check(Spec(likelihood, prior=prior, algorithm=algorithm))


@pytest.mark.parametrize("field", ["a", "b", "c", "d"])
@pytest.mark.parametrize("number", [-1.0, float("nan"), float("inf")])
def test_a_hyperprior_is_of_finite_numbers_not_below_zero(field: str, number: float) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Prior).validate_python({"type": "independent", field: number})


def test_a_priced_prior_is_read_as_it_is_written() -> None:
    read = TypeAdapter(Prior).validate_python({"type": "independent", "price": True, "b": 1e-6})
    assert read == Independent(price=True, b=1e-6)


@pytest.mark.parametrize("likelihood", [Categorical(3), OneAgainstRest(3)], ids=lambda member: member.type)
@pytest.mark.parametrize(
    ("prior", "algorithm"),
    [
        (Independent(), Sequential()),
        (Independent(), Sequential("single")),
        (Independent(), ReEstimation()),
        (Independent(price=True), Sequential()),
        (Independent(a=1.0, b=1.0), ReEstimation("em")),
        (GaussianProcess(), Greedy()),
    ],
)
def test_classes_with_a_latent_each_go_with_every_prior(
    likelihood: Likelihood, prior: Prior, algorithm: Algorithm
) -> None:
    check(Spec(likelihood, (KernelBasis(width=FixedWidth(1.0)), Bias()), prior, algorithm))


@pytest.mark.parametrize("beside", [Steps(), Group((0,), Inputs()), Fourier()], ids=repr)
def test_a_process_has_no_other_functions_beside_it(beside: Basis) -> None:
    basis = (KernelBasis(width=EvidencePerInputWidth()), Bias(), beside)
    with pytest.raises(IllegalCombinationError, match="no other functions") as refused:
        check(Spec(GaussianNoise(), basis, GaussianProcess(), Greedy()))
    assert refused.value.field == "basis"


@pytest.mark.parametrize(
    ("group", "detail"),
    [
        (Group((), Steps()), "one at least"),
        (Group((1, 1), Inputs()), "different inputs"),
        (Group((0,), KernelBasis()), "a width that is fixed"),
        (Group((0,), KernelBasis(width=EvidenceWidth())), "a width that is fixed"),
        (Group((0,), KernelBasis(width=FixedWidth(2.0), additive="evidence")), "no terms of single inputs"),
    ],
)
def test_a_group_has_inputs_of_its_own_and_a_width_that_is_known(group: Group, detail: str) -> None:
    with pytest.raises(IllegalCombinationError, match=detail) as refused:
        check(Spec(GaussianNoise(), (group, Bias())))
    assert refused.value.field == "basis"


def test_dictionaries_are_side_by_side_under_independent_weights() -> None:
    kernel = Group((1, 2), KernelBasis(width=FixedWidth(2.0)))
    check(Spec(GaussianNoise(), (kernel, Group((0,), Steps()), Fourier(3), BSplines(), Gabor(), Bias(), Inputs())))


@pytest.mark.parametrize(
    ("prior", "algorithm", "width"),
    [
        (GaussianProcess(), Greedy(), EvidenceWidth()),
        (GaussianProcess(), Greedy(), FixedWidth(1.0)),
        (Independent(), Sequential(), EvidencePerInputWidth()),
    ],
    ids=["one width", "a fixed width", "independent weights"],
)
def test_inputs_get_terms_of_their_own_only_where_a_width_for_each_is_learned_with_them(
    prior: Prior, algorithm: Algorithm, width: Width
) -> None:
    with pytest.raises(IllegalCombinationError, match="a width for each input by evidence") as refused:
        check(Spec(GaussianNoise(), (KernelBasis(width=width, additive="evidence"),), prior, algorithm))
    assert refused.value.field == "basis"
    requested = KernelBasis(width=EvidencePerInputWidth(), additive="evidence")
    legal = Spec(GaussianNoise(), (requested,), GaussianProcess(), Greedy())
    check(legal)
    assert learning(legal, requested).additive
