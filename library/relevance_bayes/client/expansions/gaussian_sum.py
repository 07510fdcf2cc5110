"""Sums of Gaussians from responses of the service."""

import numpy as np

from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.gaussian_expansion import GaussianExpansion
from relevance_bayes.types.functions import Expansion


def gaussian(reported: Expansion) -> GaussianExpansion:
    """Return a sum of Gaussians of one width; raises ClientError for several widths."""
    widths = set(reported.widths)
    if len(widths) != 1:
        raise ClientError(Problem(title="Several widths", detail=f"Expected one width, got {len(widths)}."))
    return GaussianExpansion(
        widths.pop(), np.array(reported.centres), np.array(reported.weights), reported.constant, reported.inputs
    )
