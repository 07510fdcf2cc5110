"""The expectations of a likelihood for each row, over its latent."""

from dataclasses import dataclass

from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class Sites:
    """At latents N(f, v), each (N,): `value` ell = E log p(t | f), `gradient` d ell/df and `precision` -2 d ell/dv.

    `noise_slope` and `noise_curvature` are the sums over rows of the first and second derivative of ell in log beta.
    """

    value: Array
    gradient: Array
    precision: Array
    noise_slope: float = 0.0
    noise_curvature: float = 0.0
