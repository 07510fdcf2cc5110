"""Codes of images with known results, and their progress."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Sequential
from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.core.basis import Candidates
from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import iterates
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.rows import ArrayRows
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.images.code import ImageCode, decode, psnr
from relevance_bayes.tasks.images.columns import Window
from relevance_bayes.tasks.images.encoding import encode, steps
from relevance_bayes.tasks.images.mosaic import Mosaic
from relevance_bayes.tasks.images.tiles import Tile
from tests.library.tasks.images.small_images import FIVE, FIVE_WEIGHTS, FULL, SMALL, dense, inside, pixels, sparse_image


def textured(height: int, width: int) -> Array:
    """Stripes that bend, and an edge."""
    y, x = np.mgrid[:height, :width]
    return np.asarray(120.0 + 40.0 * np.sin(0.002 * (x + y) ** 2) + 50.0 * (x > 0.6 * width + 0.2 * y))


def root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def assert_found(code: ImageCode, *, weights: float) -> None:
    order = np.lexsort(code.wavelets.centres.T[::-1])
    found = code.wavelets.take(order)
    np.testing.assert_array_equal(found.centres, FIVE.centres)
    np.testing.assert_array_equal(found.spans, FIVE.spans)
    np.testing.assert_allclose(found.frequencies, FIVE.frequencies, atol=1e-15)
    np.testing.assert_array_equal(found.phases, FIVE.phases)
    np.testing.assert_allclose(code.weights[order], FIVE_WEIGHTS, atol=weights)


def test_a_sum_of_five_wavelets_is_these_five() -> None:
    code = encode(sparse_image(48, 48, FIVE, FIVE_WEIGHTS), functions=6)
    assert_found(code, weights=1e-3)
    assert code.constant == pytest.approx(100.0, abs=1e-3)
    assert code.error < 1e-3


def test_they_are_found_under_noise_that_is_learned() -> None:
    image = sparse_image(48, 48, FIVE, FIVE_WEIGHTS)
    code = encode(image + 2.0 * np.random.default_rng(4).normal(size=image.shape))
    assert_found(code, weights=3.0)
    assert code.noise_sd == pytest.approx(2.0, rel=0.05)
    assert root_mean_square(decode(code) - image) < 0.3


@pytest.mark.parametrize("seed", [0, 1])
def test_of_noise_alone_next_to_nothing_is_kept(seed: int) -> None:
    code = encode(np.random.default_rng(seed).normal(size=(64, 48)))
    assert code.functions <= 2
    assert code.noise_sd == pytest.approx(1.0, abs=0.05)
    assert code.termination is Termination.CONVERGED


def test_what_it_chooses_the_ordinary_engine_chooses_on_the_explicit_columns() -> None:
    rng, sd = np.random.default_rng(4), 3.0
    every = inside(SMALL, FULL)
    functions = SMALL.functions.take(every)
    true = rng.choice(len(every), 4, replace=False)
    t = dense(functions.take(true), FULL, FULL) @ np.array([60.0, -50.0, 40.0, 45.0])
    image = (t + sd * rng.normal(size=len(t))).reshape(FULL.height, FULL.width)

    code = encode(image, noise_sd=sd, levels=(SMALL,))
    spec = Spec(GaussianNoise(sd), (), Independent(price=True), Sequential("single"))
    centred = (image - image.mean()).ravel()
    problem = Problem(ArrayRows(pixels(FULL), centred), Candidates((functions,)), spec.model_likelihood, spec.prior)
    *_, last = iterates(problem, spec)
    model = functions.take(np.array(last.state.active))

    ours, theirs = np.lexsort(code.wavelets.centres.T), np.lexsort(model.centres.T)
    assert len(ours) == len(theirs) >= 4
    np.testing.assert_array_equal(code.wavelets.take(ours).centres, model.take(theirs).centres)
    np.testing.assert_array_equal(code.wavelets.take(ours).frequencies, model.take(theirs).frequencies)
    # The constant is the image's mean there, and found together with all weights here.
    there = image.mean() + problem.columns(last.state.active) @ last.state.weights
    assert root_mean_square(decode(code).ravel() - there) < 0.1 * sd


def test_the_error_reported_is_that_of_what_is_decoded() -> None:
    image = textured(40, 52)
    code = encode(image, functions=60)
    assert code.functions == 60
    assert root_mean_square(decode(code) - image) == pytest.approx(code.error, rel=1e-9)
    assert code.path[-1] == (60, code.error)


def test_an_error_that_is_requested_is_reached_by_no_more_than_it_takes() -> None:
    image = textured(40, 52)
    code = encode(image, error=8.0)
    assert code.error <= 8.0
    assert dict(code.path)[code.functions - 2] > 8.0 * 0.98
    assert encode(image, error=8.0, functions=9).functions == 9


def test_the_path_falls_as_functions_enter() -> None:
    code = encode(textured(40, 52), functions=60)
    numbers, errors = zip(*code.path, strict=True)
    assert numbers == tuple(range(1, 61))
    assert np.all(np.diff(errors) < 0.0)


def test_one_function_is_the_constant() -> None:
    image = textured(9, 40)
    code = encode(image, functions=1)
    assert code.path == ((1, code.error),)
    np.testing.assert_allclose(decode(code), image.mean())
    assert code.error == pytest.approx(image.std())


@pytest.mark.thorough
def test_no_seam_shows_where_tiles_meet() -> None:
    image = textured(64, 64)
    missed = decode(encode(image, functions=250)) - image
    jumps = np.abs(np.diff(missed, axis=1)).mean(axis=0)
    seams = jumps[15::16]
    assert seams.mean() < 1.5 * np.delete(jumps, np.arange(15, 63, 16)).mean()


def test_a_window_and_single_places_are_parts_of_the_whole() -> None:
    code = encode(textured(40, 52), functions=60)
    complete = decode(code)
    np.testing.assert_allclose(decode(code, Window(7, 30, 11, 22)), complete[7:18, 30:], atol=1e-10)
    np.testing.assert_allclose(code.at(pixels(Window(0, 0, 40, 52))), complete.ravel(), atol=1e-9)
    between = code.at(np.array([[10.5, 20.5]]))
    assert complete[10:12, 20:22].min() - 5.0 < between[0] < complete[10:12, 20:22].max() + 5.0
    for window in (Window(0, 0, 41, 5), Window(-1, 0, 5, 5), Window(3, 3, 0, 5)):
        with pytest.raises(DataError, match="within 40 x 52"):
            decode(code, window)


def test_the_same_image_has_the_same_code_to_the_bit() -> None:
    first, second = (encode(textured(32, 32), functions=30) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.path == second.path


@pytest.mark.thorough
def test_steps_report_how_far_it_is_and_the_last_has_the_code() -> None:
    reported = list(steps(textured(40, 52), functions=160))
    assert [one.functions for one in reported] == [51, 101, 151, 160]
    assert [one.code is None for one in reported] == [True, True, True, False]
    assert all(later.error < earlier.error for earlier, later in pairwise(reported))


def test_the_joint_means_are_those_of_all_functions_of_all_tiles_and_the_constant() -> None:
    image = textured(40, 52)
    code = encode(image, functions=60, noise_sd=1.0)
    complete = Window(0, 0, 40, 52)
    P = np.column_stack([dense(code.wavelets, complete, complete), np.ones(complete.size)])
    nearest, *_ = np.linalg.lstsq(P, image.ravel(), rcond=None)
    minimum = root_mean_square(P @ nearest - image.ravel())
    assert minimum <= code.error < 1.001 * minimum


def test_the_joint_means_solve_the_normal_equations_under_the_prior() -> None:
    image, beta = textured(24, 24), 1e-3
    mosaic = Mosaic(image, (SMALL,), beta)
    for _ in range(12):
        assert mosaic.move()
    mosaic.join()
    complete = Window(0, 0, 24, 24)
    P = np.column_stack([dense(mosaic.wavelets, complete, complete), np.ones(complete.size)])
    precision = P.T @ P + np.diag(np.append(mosaic.alpha / beta, 0.0))
    means = np.linalg.solve(precision, P.T @ image.ravel())
    np.testing.assert_allclose(np.append(mosaic.weights, mosaic.constant), means, rtol=1e-6, atol=1e-6)


def test_another_noise_keeps_functions_and_makes_their_sums_anew() -> None:
    image = textured(24, 24)
    mosaic = Mosaic(image, (SMALL,), 0.25)
    for _ in range(30):
        assert mosaic.move()
    other = mosaic.with_noise(image, 0.5)
    assert other.functions == mosaic.functions == 31
    np.testing.assert_array_equal(other.wavelets.centres, mosaic.wavelets.centres)
    tile: Tile = other.tiles[0]
    P = dense(tile.functions, Window(0, 0, 24, 24), Window(0, 0, 24, 24))
    C = np.eye(24 * 24) / 0.5 + P @ np.diag(1.0 / tile.posterior.alpha) @ P.T
    every = np.arange(0, SMALL.size, 97)
    columns = dense(SMALL.functions.take(every), Window(0, 0, 24, 24), Window(0, 0, 24, 24))
    np.testing.assert_allclose(tile.S[every], np.sum(columns * np.linalg.solve(C, columns), axis=0), rtol=1e-8)


def test_the_dictionary_is_never_a_matrix() -> None:
    image = textured(96, 96)
    tracemalloc.start()
    code = encode(image, functions=40)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert code.candidates > 400_000
    assert peak < 200e6 < 0.01 * 8 * code.candidates * image.size


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (np.zeros((9, 9)) + 7.0, "more than one colour"),
        (np.eye(7), "at least 8 x 8"),
        (np.zeros(64), "at least 8 x 8"),
        (np.where(np.eye(9) > 0.0, np.nan, 1.0), "finite"),
    ],
)
def test_what_is_no_image_is_refused(image: Array, words: str) -> None:
    with pytest.raises(DataError, match=words):
        encode(image)


def test_an_image_of_one_colour_has_an_error_of_its_own() -> None:
    with pytest.raises(ConstantTargetError, match="all pixels are 3"):
        encode(np.full((8, 8), 3.0), functions=5)


def test_numbers_that_cannot_be_are_refused() -> None:
    image = np.eye(8)
    for given in (0, 65):
        with pytest.raises(DataError, match="one a pixel"):
            encode(image, functions=given)
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(DataError, match="error above 0"):
            encode(image, error=wrong)
        with pytest.raises(DataError, match="noise sd above 0"):
            encode(image, noise_sd=wrong)


def test_decibels_are_reported_of_the_peak() -> None:
    assert psnr(25.5) == pytest.approx(20.0)
    assert psnr(0.01, peak=1.0) == pytest.approx(40.0)
    assert psnr(0.0) == np.inf
