"""A member of a union that lacks a part can't be made, and the error states which."""

from dataclasses import dataclass
from typing import Literal, get_args

import pytest

from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.kernels.base import KernelBase
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.likelihoods.base import LikelihoodBase
from relevance_bayes.core.likelihoods.counts import CountLikelihood
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class WithoutSlope(Radial):
    """k(u, z) = exp(-s)."""

    type: Literal["without_slope"] = "without_slope"

    def of_squares(self, xp: Namespace[A], squares: A) -> A:
        return xp.exp(-squares)


@dataclass(frozen=True)
class WithoutDensity(CountLikelihood):
    """Counts of nothing."""

    type: Literal["without_density"] = "without_density"


def test_what_is_missing_is_named() -> None:
    with pytest.raises(TypeError, match=r"abstract method '?slope'?"):
        WithoutSlope()  # type: ignore[abstract]
    with pytest.raises(TypeError, match=r"log_density.*moments.*sites"):
        WithoutDensity()  # type: ignore[abstract]


@pytest.mark.parametrize("member", [*get_args(Kernel), *get_args(Likelihood)], ids=lambda member: member.__name__)
def test_every_member_derives_from_the_base_has_a_name_and_is_described(member: type) -> None:
    assert issubclass(member, KernelBase | LikelihoodBase)
    made = member()
    assert isinstance(made, KernelBase | LikelihoodBase)
    assert made.type == made.type.lower().strip()
    assert made.__doc__ is not None
    assert not made.__doc__.startswith(f"{member.__name__}("), "expected a description in the place of dataclass's own"
