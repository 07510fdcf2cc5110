"""A sum of Gaussians in the API's form, and the error for other functions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING  # noqa: TID251 - programs that use only JSON save the import of numpy, .1 s of CPU

from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.responses import Json
from relevance_bayes.records.functions import Expansion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
else:
    Array = object

WEIGHTS = "weight of the term"
"""The column of the weights in a table of terms; no input has this name."""

POSSIBLE = (
    "a fitted SVR, SVC of two classes or OneClassSVM with kernel='rbf', a GaussianProcessRegressor of one target whose "
    "kernel is a constant times an RBF, plus constants and white noise, or a KernelDensity with kernel='gaussian'"
)


@dataclass(frozen=True, eq=False)
class GaussianExpansion:
    """f(x) = constant + sum_j weights_j exp(-sum_k ((x_k - centres_jk) / r_k)^2).

    `centres` (J, d), `weights` (J,); `width` is r, one for all inputs or one for each of the d `inputs`, which are
    named x1, x2, ... where the training rows had no names.
    """

    width: float | tuple[float, ...]
    centres: Array
    weights: Array
    constant: float
    inputs: tuple[str, ...]

    @classmethod
    def of_response(cls, response: Expansion) -> "GaussianExpansion":
        """Return the expansion of a response of the service; raises ClientError for several widths."""
        import numpy as np

        widths = set(response.widths)
        if len(widths) != 1:
            raise ClientError(Problem(title="Several widths", detail=f"Expected one width, got {len(widths)}."))
        centres, weights = np.array(response.centres), np.array(response.weights)
        return cls(widths.pop(), centres, weights, response.constant, response.inputs)

    @property
    def columns(self) -> dict[str, list[Json]]:
        """Return a table with a row for each term, its weight in the column `WEIGHTS`."""
        places = {name: list[Json](self.centres[:, place].tolist()) for place, name in enumerate(self.inputs)}
        return {**places, WEIGHTS: list[Json](self.weights.tolist())}

    @property
    def requested(self) -> dict[str, Json]:
        """Return the members of a request for that table."""
        return {
            "task": "approximation",
            "inputs": list(self.inputs),
            "coefficients": WEIGHTS,
            "width": list(self.width) if isinstance(self.width, tuple) else self.width,
            "constant": self.constant,
        }


def refused(got: str) -> ClientError:
    """Return the error, with what is supported."""
    return ClientError(Problem(title="No Gaussian expansion", detail=f"Expected {POSSIBLE}; {got}."))
