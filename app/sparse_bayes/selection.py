"""Choosing among whole fits: the width, then the final fit, then its figures on rows held out; one generator of progress."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.sparse_bayes.model import Model
from app.sparse_bayes.spec import Spec
from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Folding:
    """How rows are kept apart in cross-validation. `keys` (N,): group codes for "groups", positions in time for "order", None for "random"."""

    by: Literal["random", "groups", "order"] = "random"
    keys: Array | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    """X (N, d) and t (N,); classes are 0.0 and 1.0. Finite."""

    X: Array
    t: Array


@dataclass(frozen=True)
class Step:
    """How far a training is, in the units of t: `completed` of `total` (None: not known) `unit`s of `phase`."""

    phase: str
    completed: int
    total: int | None
    unit: str
    log_marginal_likelihood: float | None = None
    functions: int | None = None
    noise_sd: float | None = None


@dataclass(frozen=True, eq=False)
class Trained:
    """The end: the model, the spec as run (every width fixed), and `scores` on the held-out rows (empty without).

    Scores, in the units of t. Regression: rmse, mae, r2, nll, coverage_95. Classes: error, log_loss, brier.
    """

    model: Model
    spec: Spec
    scores: dict[str, float]


def train(rows: Rows, spec: Spec, *, folding: Folding, held_out: Rows | None = None) -> Iterator[Step | Trained]:
    """Yield steps, at least one first and one last, then exactly one Trained."""
    raise NotImplementedError
