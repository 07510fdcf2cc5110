"""The contribution of each function of a model to its predictions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.hurdle import ReadyHurdle
from relevance_bayes.core.local_model import ReadyLocal
from relevance_bayes.core.per_class import ReadyPerClass
from relevance_bayes.core.pool import AnyReady, ReadyPool, ready_members
from relevance_bayes.core.prediction import Ready, chunks
from relevance_bayes.core.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Contributions:
    """The functions of the greatest contributions to the latent's mean at N points, greatest first, each (N, k).

    `functions` are their positions in the model, those of a pool's members one after the other; `added` is phi_r(x)
    mu_r in the latent's units, in a pool times the member's share in the mean, and 0 for other classes' models, and
    that of zeros; `shares` is its size over the sum of the sizes of all R, 0 where all are 0. `total` (N,) is the
    latent's mean: the sum of all R, plus that of a nearest-neighbour process.
    """

    functions: Indices
    added: Array
    shares: Array
    total: Array

    def followed_by(self, others: Iterable[Self]) -> Self:
        """Those of these points, and then of the others."""
        parts = [self, *others]
        return type(self)(
            np.concatenate([one.functions for one in parts]),
            np.concatenate([one.added for one in parts]),
            np.concatenate([one.shares for one in parts]),
            np.concatenate([one.total for one in parts]),
        )


def contributions(
    ready: AnyReady,
    X: Array,
    max_functions: int,
    *,
    latents: Indices | None = None,
    noise_sd: Array | None = None,
    weights: Array | None = None,
) -> Contributions:
    """The min(max_functions, R) functions that add most at X (N, d); of equal ones the first.

    `latents` (N,) is the one explained at each point, where a row has several; `noise_sd` as in `Ready.predict`. With
    `weights` (N, C) each of N points is C of the rows of X (N C, d), as those of `latents` and `noise_sd`, and
    contributions are means over them, which add to the mean of their mixture.
    """
    members = ready_members(ready)
    R = sum(len(member.model.mean) for member in members)
    N, C = (len(X), 1) if weights is None else weights.shape
    shape = (N, min(max_functions, R))
    functions, added, shares = np.empty(shape, np.intp), np.empty(shape), np.empty(shape)
    total = np.empty(N)
    for first, stop in chunks(N, R * C):
        some = slice(first * C, stop * C)
        of, noise = None if latents is None else latents[some], None if noise_sd is None else noise_sd[some]
        terms = np.hstack([np.empty((C * (stop - first), 0)), *_terms(ready, X[some], of, noise)])
        latent = terms.sum(axis=1)
        if isinstance(ready, ReadyLocal):
            latent += ready.model.process.latent(X[some]).mean
        if weights is not None:
            w = weights[first:stop]
            terms = (w[:, :, None] * terms.reshape(len(w), C, R)).sum(axis=1)
            latent = (w * latent.reshape(w.shape)).sum(axis=1)
        total[first:stop] = latent
        sizes = np.abs(terms)
        order = np.argsort(-sizes, axis=1, kind="stable")[:, :max_functions]
        whole = sizes.sum(axis=1, keepdims=True)
        functions[first:stop] = order
        added[first:stop] = np.take_along_axis(terms, order, axis=1)
        shares[first:stop] = np.take_along_axis(sizes / np.where(whole > 0.0, whole, 1.0), order, axis=1)
    return Contributions(functions, added, shares, total)


def _terms(ready: AnyReady, X: Array, latents: Indices | None, noise_sd: Array | None) -> Iterator[Array]:
    """The contribution of each function at X (n, d): (n, R), of each member; nothing of those of other classes."""
    match ready:
        case ReadyLocal(trend=None):
            return
        case ReadyLocal(trend=Ready(model=model)) | Ready(model=model):
            yield model.columns(X) * (model.mean if latents is None else model.mean[:, latents].T)
        case ReadyPool(members=members):
            found, _ = ready.predictions(X, noise_sd)
            shares = ready.shares(np.array([one.variance for one in found]))
            for member, share in zip(members, shares, strict=True):
                yield member.model.columns(X) * member.model.mean * share[:, None]
        case ReadyHurdle(zero=zero, positive=positive):  # of the logarithm of positive targets
            yield np.zeros((len(X), len(zero.model.mean)))
            yield positive.model.columns(X) * positive.model.mean
        case ReadyPerClass(members=members):
            if latents is None:
                raise SparseBayesError("expected the class that is explained at each point")
            for number, member in enumerate(members):
                added_by_member = member.model.columns(X) * member.model.mean
                yield np.where((latents == number)[:, None], added_by_member, 0.0)
