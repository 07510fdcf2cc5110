"""A sum of Gaussians as the API has it, and the one error for what is none."""

from dataclasses import dataclass

from app.client.answers import Json
from app.client.errors import ClientError, Problem
from app.sparse_bayes.types import Array

POSSIBLE = (
    "a fitted SVR, SVC of two classes or OneClassSVM with kernel='rbf', a GaussianProcessRegressor of one target whose "
    "kernel is a constant times an RBF, plus constants and white noise, or a KernelDensity with kernel='gaussian'"
)


@dataclass(frozen=True, eq=False)
class GaussianExpansion:
    """f(x) = constant + sum_j weights_j exp(-sum_k ((x_k - centres_jk) / r_k)^2).

    `centres` (J, d), `weights` (J,); `width` is r, one for all inputs or one for each of the d `inputs`, which are
    called x1, x2, ... where the rows learned from had no names.
    """

    width: float | tuple[float, ...]
    centres: Array
    weights: Array
    constant: float
    inputs: tuple[str, ...]

    def json(self) -> dict[str, Json]:
        """As the API writes kernels, and numbers as lists."""
        return {
            "kernel": {"type": "gaussian"},
            "width": list(self.width) if isinstance(self.width, tuple) else self.width,
            "centres": [[float(value) for value in centre] for centre in self.centres],
            "weights": [float(weight) for weight in self.weights],
            "constant": self.constant,
            "inputs": list(self.inputs),
        }


def refused(got: str) -> ClientError:
    """Saying what is possible."""
    return ClientError(Problem(title="No Gaussian expansion", detail=f"Expected {POSSIBLE}; {got}."))
