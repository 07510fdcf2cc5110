"""The sums that a tile keeps up to date, against their definitions and against the ordinary factors."""

from math import inf

import numpy as np

from relevance_bayes.core.basis import Candidates
from relevance_bayes.core.inference.evidence import evidence
from relevance_bayes.core.inference.factors import build
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.rows import ArrayRows
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.images.tiles import Tile, TileMove
from tests.library.tasks.images.small_images import FULL, SMALL, dense, inside, pixels

NOISE = 0.3


def image() -> Array:
    return np.asarray(np.random.default_rng(2).normal(size=(FULL.height, FULL.width)).cumsum(axis=0))


def framed(values: Array) -> Array:
    """Values of the image (12, 11) within the tile."""
    found, margin = np.zeros((SMALL.side, SMALL.side)), SMALL.margin
    found[margin : margin + FULL.height, margin : margin + FULL.width] = values
    return found


def moved() -> tuple[Tile, Array]:
    """Twelve functions enter, one of them leaves and two are re-estimated; and what is left of the image."""
    left = framed(image())
    tile, _ = Tile.empty(SMALL, 0, 0, FULL, NOISE**-2).updated(left)
    for _ in range(12):
        tile, rise = tile.made(tile.strongest, left)
        left = left - rise
    for move in (tile.weakest, TileMove(tile.active[3], 0.7, 0.0), tile.retuned):
        tile, rise = tile.made(move, left)
        left = left - rise
    return tile, left


def test_sparsity_and_quality_are_those_of_their_definition() -> None:
    tile, _ = moved()
    every = inside(SMALL, FULL)
    columns = dense(SMALL.functions.take(every), FULL, FULL)
    P = dense(tile.functions, FULL, FULL)
    C = NOISE**2 * np.eye(FULL.size) + P @ np.diag(1.0 / tile.posterior.alpha) @ P.T
    np.testing.assert_allclose(tile.S[every], np.sum(columns * np.linalg.solve(C, columns), axis=0), rtol=1e-7)
    np.testing.assert_allclose(tile.Q[every], columns.T @ np.linalg.solve(C, image().ravel()), atol=1e-7)


def test_what_is_left_is_the_image_without_the_posterior_mean() -> None:
    tile, left = moved()
    P = dense(tile.functions, FULL, FULL)
    Sigma_inverse = np.diag(tile.posterior.alpha) + P.T @ P / NOISE**2
    mean = np.linalg.solve(Sigma_inverse, P.T @ image().ravel() / NOISE**2)
    np.testing.assert_allclose(tile.posterior.mean, mean, rtol=1e-8)
    np.testing.assert_allclose(left, framed(image() - (P @ mean).reshape(image().shape)), atol=1e-9)


def test_a_look_is_that_of_the_ordinary_factors_on_the_explicit_columns() -> None:
    tile, _ = moved()
    every = inside(SMALL, FULL)
    X, t = pixels(FULL), image().ravel()
    problem = Problem(ArrayRows(X, t), Candidates((SMALL.functions.take(every),)), GaussianNoise(NOISE), Independent())
    active = tuple(np.searchsorted(every, tile.active).tolist())
    factors = build(problem, active, np.zeros(len(active)))
    here = evidence(factors, tile.posterior.alpha, NOISE**-2, np.zeros(len(active)))
    seen = factors.candidate_statistics(here.posterior, here.beta)
    np.testing.assert_allclose(tile.S[every], seen.S, rtol=2e-4)  # their wavelets go on beyond two spans
    np.testing.assert_allclose(tile.Q[every], seen.Q, atol=1e-4 * np.abs(t).max() / NOISE**2)
    np.testing.assert_allclose(tile.posterior.mean, here.posterior.mean, rtol=1e-4)


def test_the_predicted_gain_of_a_move_is_what_the_evidence_rises_by() -> None:
    tile, left = moved()

    def log_evidence(one: Tile) -> float:
        P = dense(one.functions, FULL, FULL)
        C = NOISE**2 * np.eye(FULL.size) + P @ np.diag(1.0 / one.posterior.alpha) @ P.T
        t = image().ravel()
        return -0.5 * float(np.linalg.slogdet(C)[1] + t @ np.linalg.solve(C, t))

    for move in (tile.strongest, tile.weakest, tile.retuned):
        there, _ = tile.made(move, left)
        np.testing.assert_allclose(log_evidence(there) - log_evidence(tile), move.gain, rtol=1e-6, atol=1e-8)


def test_a_function_that_leaves_takes_all_back() -> None:
    before, left = moved()
    entered, rise = before.made(before.strongest, left)
    after, _ = entered.made(TileMove(entered.active[-1], inf, 0.0), left - rise)
    alone = before.squares.max() / NOISE**2
    np.testing.assert_allclose(after.S, before.S, rtol=1e-8, atol=1e-8 * alone)
    np.testing.assert_allclose(after.Q, before.Q, rtol=1e-8, atol=1e-8 * alone)
    np.testing.assert_allclose(after.posterior.mean, before.posterior.mean, rtol=1e-9)


def test_candidates_outside_of_the_image_never_enter() -> None:
    tile, _ = moved()
    outside = np.setdiff1d(np.arange(SMALL.size), inside(SMALL, FULL))
    assert len(outside) == 37 * 12
    assert not tile.squares[outside].any()
    assert tile.size == SMALL.size - len(outside)
