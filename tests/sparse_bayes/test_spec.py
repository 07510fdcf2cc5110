from typing import get_args

import pytest

from app.sparse_bayes.algorithms import Algorithm
from app.sparse_bayes.basis import Bias, KernelBasis
from app.sparse_bayes.errors import IllegalCombinationError
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.scales import EvidenceWidth, FixedWidth
from app.sparse_bayes.spec import Basis, Spec, check


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


@pytest.mark.parametrize("algorithm", [member() for member in get_args(Algorithm)], ids=lambda member: member.type)
def test_every_algorithm_learns_the_independent_prior(algorithm: Algorithm) -> None:
    check(Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(1.0)), KernelBasis(), Bias()), algorithm=algorithm))
