"""Which functions a prediction comes from, where one latent a row is to be chosen."""

from dataclasses import replace

import numpy as np

from app.sparse_bayes.contributions import Contributions, contributions
from app.sparse_bayes.model import Model
from app.sparse_bayes.types import Array, Indices


def contributions_to(model: Model, inputs: Array, most: int, *, chosen: Indices) -> Contributions:
    """Of the functions that add most to the latent `chosen` (N,) at each of N points; the model has several."""
    shape = (len(inputs), min(most, len(model.mean)))
    functions, added, shares = np.zeros(shape, np.intp), np.zeros(shape), np.zeros(shape)
    for latent in np.unique(chosen).tolist():
        rows = np.flatnonzero(chosen == latent)
        found = contributions(replace(model, mean=model.mean[:, latent]), inputs[rows], most)
        functions[rows], added[rows], shares[rows] = found.functions, found.added, found.shares
    return Contributions(functions, added, shares)
