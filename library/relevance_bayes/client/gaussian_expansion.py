"""A sum of Gaussians as the API has it, and the one error for what is none."""

from dataclasses import dataclass

from relevance_bayes.client.arrays import Array
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.responses import Json

WEIGHTS = "weight of the term"
"""The column of a table of terms; no input is called so."""

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

    @property
    def columns(self) -> dict[str, list[Json]]:
        """As a table with a row for each term, its weight in the column `WEIGHTS`."""
        places = {name: list[Json](self.centres[:, place].tolist()) for place, name in enumerate(self.inputs)}
        return {**places, WEIGHTS: list[Json](self.weights.tolist())}

    @property
    def requested(self) -> dict[str, Json]:
        """The members of a request for that table."""
        return {
            "task": "approximation",
            "inputs": list(self.inputs),
            "coefficients": WEIGHTS,
            "width": list(self.width) if isinstance(self.width, tuple) else self.width,
            "constant": self.constant,
        }


def refused(got: str) -> ClientError:
    """Saying what is possible."""
    return ClientError(Problem(title="No Gaussian expansion", detail=f"Expected {POSSIBLE}; {got}."))
