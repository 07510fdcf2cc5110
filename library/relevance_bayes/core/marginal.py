"""The evidence that a model reports: the log marginal likelihood alone, and apart from it what else a fit maximised."""

from dataclasses import dataclass
from typing import Literal

EvidenceKind = Literal["exact", "laplace", "lower_bound"]


@dataclass(frozen=True)
class LogEvidence:
    """log p(t | hyperparameters) of the targets as they came, in nats: each figure stands alone, none is in another.

    `value` is exact for Gaussian noise under independent weights or the whole of a process, Laplace's approximation for
    log-concave likelihoods under independent weights, else a lower bound: that of a process through few functions
    [TITSIAS2009; HENSMAN2015], of Student's t, of coupled classes. `log_hyperprior` is the log density of the learned
    hyperparameters under their priors, normalised where these are proper, 0 without any, None in versions that are
    older than this; `price` is what the functions in the model pay for having been chosen, log C(M, R) and a nat each
    at least, 0 without a price.
    """

    value: float
    kind: EvidenceKind
    log_hyperprior: float | None = 0.0
    price: float = 0.0
