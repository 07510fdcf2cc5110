"""What each function of a model adds to its predictions."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from app.sparse_bayes.basis import evaluate
from app.sparse_bayes.pool import AnyReady, ReadyPool
from app.sparse_bayes.prediction import Ready, chunks
from app.sparse_bayes.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Contributions:
    """The functions that add most to the latent's mean at N points, greatest first, each (N, k).

    `functions` their positions in the model, those of a pool's members one after the other; `added` phi_r(x) mu_r in
    the latent's units, of a pool times its member's share in the mean; `shares` of the sum of the sizes of all R of
    them, 0 where nothing is added at all. `total` (N,) is what all R add: the latent's mean.
    """

    functions: Indices
    added: Array
    shares: Array
    total: Array


def contributions(
    ready: AnyReady, X: Array, most: int, *, latents: Indices | None = None, noise_sd: Array | None = None
) -> Contributions:
    """Of the min(most, R) functions that add most at X (N, d); of equal ones the first.

    `latents` (N,) says which one is told of at each point, where a row has several; `noise_sd` as in `Ready.predict`.
    """
    members = ready.members if isinstance(ready, ReadyPool) else (ready,)
    R = sum(len(member.model.mean) for member in members)
    shape = (len(X), min(most, R))
    functions, added, shares = np.empty(shape, np.intp), np.empty(shape), np.empty(shape)
    total = np.empty(len(X))
    for first, stop in chunks(len(X), R):
        some = slice(first, stop)
        of, noise = None if latents is None else latents[some], None if noise_sd is None else noise_sd[some]
        terms = np.hstack([*_terms(ready, X[some], of, noise)])
        sizes = np.abs(terms)
        greatest = np.argsort(-sizes, axis=1, kind="stable")[:, :most]
        whole = sizes.sum(axis=1, keepdims=True)
        functions[first:stop] = greatest
        total[first:stop] = terms.sum(axis=1)
        added[first:stop] = np.take_along_axis(terms, greatest, axis=1)
        shares[first:stop] = np.take_along_axis(sizes / np.where(whole > 0.0, whole, 1.0), greatest, axis=1)
    return Contributions(functions, added, shares, total)


def _terms(ready: AnyReady, X: Array, latents: Indices | None, noise_sd: Array | None) -> Iterator[Array]:
    """What each function adds at X (n, d): (n, R), of each member of a pool."""
    if isinstance(ready, Ready):
        mean = ready.model.mean
        yield evaluate(ready.model.functions, X) * (mean if latents is None else mean[:, latents].T)
        return
    found, _ = ready.predictions(X, noise_sd)
    shares = ready.shares(np.array([one.variance for one in found]))
    for member, share in zip(ready.members, shares, strict=True):
        yield evaluate(member.model.functions, X) * member.model.mean * share[:, None]
