"""A version as a sum of Gaussians in the user's units, for other programs and for approximations."""

from dataclasses import dataclass

from app.errors import ConflictError
from relevance_bayes.core.types import Array

ADVICE = 'train with "basis": [{"type": "kernel", "warp": "none"}, {"type": "bias"}] on inputs that are numbers'


@dataclass(frozen=True, eq=False)
class VersionExpansion:
    """f(x) = constant + sum_j weights_j exp(-sum_k ((x_k - centres_jk) / widths_jk)^2), over the named `inputs`.

    `centres` and `widths` (J, d), `weights` (J,).
    """

    inputs: tuple[str, ...]
    centres: Array
    widths: Array
    weights: Array
    constant: float


def no_expansion(why: str) -> ConflictError:
    """Return the error of a version that is no sum of Gaussians."""
    return ConflictError(f"The version is no sum of Gaussians of its inputs: {why}; {ADVICE}.")
