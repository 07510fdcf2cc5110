"""What each function of a model adds to its predictions."""

from dataclasses import dataclass

import numpy as np

from app.sparse_bayes.basis import evaluate
from app.sparse_bayes.model import Model
from app.sparse_bayes.prediction import chunks
from app.sparse_bayes.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Contributions:
    """The functions that add most to the latent's mean at N points, greatest first, each (N, k).

    `functions` their positions in the model, `added` phi_r(x) mu_r in the latent's units, `shares` of the sum of the
    sizes of all R of them; 0 where nothing is added at all. `total` (N,) is what all R add: the latent's mean.
    """

    functions: Indices
    added: Array
    shares: Array
    total: Array


def contributions(model: Model, X: Array, most: int, *, latents: Indices | None = None) -> Contributions:
    """Of the min(most, R) functions that add most at X (N, d); of equal ones the first.

    `latents` (N,) says which one is told of at each point, where a row has several.
    """
    shape = (len(X), min(most, len(model.mean)))
    functions, added, shares = np.empty(shape, np.intp), np.empty(shape), np.empty(shape)
    total = np.empty(len(X))
    for first, stop in chunks(len(X), len(model.mean)):
        weights = model.mean if latents is None else model.mean[:, latents[first:stop]].T
        terms = evaluate(model.functions, X[first:stop]) * weights
        sizes = np.abs(terms)
        greatest = np.argsort(-sizes, axis=1, kind="stable")[:, :most]
        whole = sizes.sum(axis=1, keepdims=True)
        functions[first:stop] = greatest
        total[first:stop] = terms.sum(axis=1)
        added[first:stop] = np.take_along_axis(terms, greatest, axis=1)
        shares[first:stop] = np.take_along_axis(sizes / np.where(whole > 0.0, whole, 1.0), greatest, axis=1)
    return Contributions(functions, added, shares, total)
