from typing import get_args

import pytest

from app.sparse_bayes.algorithms import Algorithm, Greedy, Sequential
from app.sparse_bayes.basis import Bias, Inputs, KernelBasis
from app.sparse_bayes.errors import IllegalCombinationError
from app.sparse_bayes.kernels import LinearSpline
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.priors import GaussianProcess, Prior
from app.sparse_bayes.scales import EvidenceWidth, FixedWidth, Width
from app.sparse_bayes.spec import LEGAL, Basis, Spec, check, learning, searched


@pytest.mark.parametrize(
    ("basis", "detail"),
    [
        ((), "at least one"),
        ((Bias(), KernelBasis(), Bias()), "at most one bias"),
        ((KernelBasis(), KernelBasis(width=EvidenceWidth())), "at most one width"),
    ],
    ids=["none", "two biases", "two searches"],
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
    if prior.type == "independent" and given.type == "evidence_per_input":
        with pytest.raises(
            IllegalCombinationError, match='"evidence_per_input" can\'t find a width under "independent"'
        ):
            check(spec)
        return
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
