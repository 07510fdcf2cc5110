"""Sums of functions as the service returns them."""

import numpy as np

from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.gaussian_expansion import GaussianExpansion
from relevance_bayes.types.functions import Expansion


def gaussian(reported: Expansion) -> GaussianExpansion:
    """A sum of Gaussians that all have one width; raises ClientError where it is none."""
    widths = set(reported.widths)
    if len(widths) != 1:
        raise ClientError(Problem(title="Several widths", detail=f"Expected one width, got {len(widths)}."))
    return GaussianExpansion(
        widths.pop(), np.array(reported.centres), np.array(reported.weights), reported.constant, reported.inputs
    )
