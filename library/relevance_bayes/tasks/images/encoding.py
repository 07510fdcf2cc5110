"""The encoding of an image: functions of the greatest gain enter until the goal is reached or none is worth its
price."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, log, sqrt

import numpy as np

from relevance_bayes.core.algorithms.state import BACKWARD, FORWARD, FREE, Price, Termination
from relevance_bayes.core.errors import ConstantTargetError, DataError, SparseBayesError
from relevance_bayes.core.likelihoods.gaussian import MIN_NOISE
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.images.code import ImageCode
from relevance_bayes.tasks.images.columns import LEVELS, Level
from relevance_bayes.tasks.images.mosaic import EncodingCheckpoint, Mosaic

MIN_PIXELS = 8
"""The least height and width."""

SHARE_OF_ERROR = 0.25
"""The assumed noise sd as a share of the requested error, well below the residuals that are to be explained."""

SHARE_OF_SD = 0.005
"""The assumed noise sd where the number of functions is given, as a share of the image's sd."""

NORMAL_MAD = 0.6745
"""The median of |z|, z normal."""

MAX_ROUNDS = 6
"""The most re-estimations of the noise, each after a forward and a backward phase ..."""

NOISE_TOLERANCE = 0.02
"""... until its logarithm changes by less than this."""

MOVES_PER_STEP = 50
MOVES_PER_CHECKPOINT = 500
"""The least number of moves between checkpoints, about ten seconds."""

MAX_MOVES_PER_PIXEL = 2


class Phase(StrEnum):
    """The phase of an encoding: towards a goal without a price, or forward at half the price, or backward at the whole
    one."""

    CODING = "coding"
    FORWARD = "forward"
    BACKWARD = "backward"


PHASES = (Phase.FORWARD, Phase.BACKWARD)


@dataclass(frozen=True, eq=False)
class EncodingStep:
    """The progress of an encoding: the number of functions, the constant counted, and their error.

    Only the last has a `code`. `checkpoint` is the state from which it can be resumed, where there is one.
    """

    functions: int
    error: float
    phase: Phase
    noise_sd: float
    code: ImageCode | None = None
    checkpoint: Array | None = None


def encode(
    image: Array,
    *,
    functions: int | None = None,
    error: float | None = None,
    noise_sd: float | None = None,
    levels: tuple[Level, ...] = LEVELS,
) -> ImageCode:
    """The code of an image (H, W), at least 8 x 8: the end of `steps`, see there."""
    (last,) = deque(steps(image, functions=functions, error=error, noise_sd=noise_sd, levels=levels), maxlen=1)
    if last.code is None:
        raise SparseBayesError("expected the last step to have a code")
    return last.code


def steps(
    image: Array,
    *,
    functions: int | None = None,
    error: float | None = None,
    noise_sd: float | None = None,
    levels: tuple[Level, ...] = LEVELS,
    start: Array | None = None,
) -> Iterator[EncodingStep]:
    """Encode with up to so many `functions`, the constant counted, or until the root mean square error is at most
    `error`.

    Where neither is given the image has noise, of a sd that is given or learned, and functions have a price. `start` is
    a checkpoint of an earlier encoding of the same, which ends with the same bits. Raises DataError for an image that
    is not (H, W), too small, not finite or constant, and for goals that can't be reached.
    """
    _check(image, functions, error, noise_sd)
    resumed = None if start is None else EncodingCheckpoint.of(start)
    if functions is None and error is None:
        return _denoised(image, noise_sd, levels, resumed)
    if noise_sd is None:
        noise_sd = max(SHARE_OF_SD * float(image.std()) if error is None else SHARE_OF_ERROR * error, _min_noise(image))
    goal = Goal(functions or image.size, 0.0 if error is None else error)
    return _encoded(image, goal, noise_sd, levels, resumed)


def _check(image: Array, functions: int | None, error: float | None, noise_sd: float | None) -> None:
    if image.ndim != 2 or min(image.shape) < MIN_PIXELS:
        raise DataError(f"expected an image (H, W) of at least 8 x 8 pixels, got shape {image.shape}")
    if not np.isfinite(image).all():
        raise DataError("expected finite numbers in the image, got NaN or infinity")
    if np.ptp(image) == 0.0:
        raise ConstantTargetError(f"expected an image of more than one colour, all pixels are {image[0, 0]:g}")
    if functions is not None and not 1 <= functions <= image.size:
        raise DataError(f"expected from 1 function to one a pixel, got {functions}")
    for name, value in (("error", error), ("noise sd", noise_sd)):
        if value is not None and not (isfinite(value) and value > 0.0):
            raise DataError(f"expected a finite {name} above 0, got {value:g}")


@dataclass(frozen=True)
class Goal:
    """The goal of an encoding: at most `max_functions` functions, or an error of at most `error`."""

    max_functions: int
    error: float


def _encoded(
    image: Array, goal: Goal, noise_sd: float, levels: tuple[Level, ...], start: EncodingCheckpoint | None
) -> Iterator[EncodingStep]:
    """An encoding towards a goal, without a price."""
    mosaic, path, moves = _resumed(image, levels, noise_sd**-2, start)
    mosaic.begin(FREE)
    why = Termination.MAX_ITERATIONS
    while moves + 1 < MAX_MOVES_PER_PIXEL * image.size:
        if mosaic.functions >= goal.max_functions or mosaic.error <= goal.error or not mosaic.move():
            why = Termination.CONVERGED
            break
        moves += 1
        path[mosaic.functions] = mosaic.error
        yield from _steps_due(image, mosaic, Phase.CODING, 0, moves, path)
    yield _ended(image, mosaic, path, Phase.CODING, why)


def _denoised(
    image: Array, noise_sd: float | None, levels: tuple[Level, ...], start: EncodingCheckpoint | None
) -> Iterator[EncodingStep]:
    """An encoding of a noisy image: forward at half the price, backward at the whole one; repeated until a learned
    noise sd has converged.

    Its sd is sqrt(|t - P mean|^2/(N - sum gamma)) then [TIPPING2001, eq. 18].
    """
    mosaic, path, moves = _resumed(image, levels, (noise_sd or _first_noise(image)) ** -2, start)
    max_moves, why = MAX_MOVES_PER_PIXEL * image.size, Termination.MAX_ITERATIONS
    for stage in range(0 if start is None else start.stage, len(PHASES) * (1 if noise_sd else MAX_ROUNDS)):
        phase = PHASES[stage % len(PHASES)]
        mosaic.begin(_price(mosaic.candidates, phase))
        while moves < max_moves and mosaic.move():
            moves += 1
            path[mosaic.functions] = mosaic.error
            yield from _steps_due(image, mosaic, phase, stage, moves, path)
        if phase is not PHASES[-1]:
            continue
        mosaic.join()
        yield EncodingStep(mosaic.functions, mosaic.error, phase, mosaic.beta**-0.5)
        free = max(image.size - mosaic.determined, 1.0)
        beta = min(free / (image.size * mosaic.error**2), _min_noise(image) ** -2) if mosaic.error else mosaic.beta
        if noise_sd or moves == max_moves or abs(log(beta / mosaic.beta)) < 2.0 * NOISE_TOLERANCE:
            why = Termination.CONVERGED if moves < max_moves else Termination.MAX_ITERATIONS
            break
        mosaic = mosaic.with_noise(image, beta)
        checkpoint = EncodingCheckpoint(
            stage + 1, moves, mosaic.checkpoint(image), path
        ).numbers  # exact: it was just rebuilt
        yield EncodingStep(mosaic.functions, mosaic.error, PHASES[0], mosaic.beta**-0.5, checkpoint=checkpoint)
    yield _ended(image, mosaic, path, Phase.BACKWARD, why)


def _resumed(
    image: Array, levels: tuple[Level, ...], beta: float, start: EncodingCheckpoint | None
) -> tuple[Mosaic, dict[int, float], int]:
    """The mosaic, the errors by number of functions, and the number of moves made."""
    if start is not None:
        return Mosaic.rebuilt(image, levels, start.state), dict(start.path), start.moves
    mosaic = Mosaic(image, levels, beta)
    return mosaic, {1: mosaic.error}, 0


def _steps_due(
    image: Array, mosaic: Mosaic, phase: Phase, stage: int, moves: int, path: dict[int, float]
) -> Iterator[EncodingStep]:
    """A step where one is due, with a checkpoint at some of them."""
    if moves % MOVES_PER_STEP == 0:
        is_due = mosaic.is_checkpoint_due(MOVES_PER_CHECKPOINT)
        checkpoint = EncodingCheckpoint(stage, moves, mosaic.checkpoint(image), path).numbers if is_due else None
        yield EncodingStep(mosaic.functions, mosaic.error, phase, mosaic.beta**-0.5, checkpoint=checkpoint)


def _price(candidates: int, phase: Phase) -> Price:
    if phase is Phase.FORWARD:
        return Price(candidates, 0.5, FORWARD)
    return Price(candidates, 1.0, BACKWARD, is_adding=False)


def _ended(image: Array, mosaic: Mosaic, path: dict[int, float], phase: Phase, why: Termination) -> EncodingStep:
    mosaic.join()
    number, noise_sd = mosaic.functions, mosaic.beta**-0.5
    before = (*((functions, error) for functions, error in sorted(path.items()) if functions < number),)
    code = ImageCode(
        height=image.shape[0],
        width=image.shape[1],
        constant=mosaic.constant,
        wavelets=mosaic.wavelets,
        weights=mosaic.weights,
        sds=mosaic.sds,
        alpha=mosaic.alpha,
        error=mosaic.error,
        noise_sd=noise_sd,
        candidates=mosaic.candidates,
        path=(*before, (number, mosaic.error)),
        termination=why,
    )
    return EncodingStep(number, mosaic.error, phase, noise_sd, code)


def _first_noise(image: Array) -> float:
    """The median size of the finest differences over that of a normal z: (a - b - c + d)/2 of each four pixels."""
    finest = 0.5 * (image[:-1, :-1] - image[1:, :-1] - image[:-1, 1:] + image[1:, 1:])
    return max(float(np.median(np.abs(finest))) / NORMAL_MAD, sqrt(MIN_NOISE) * float(image.std()))


def _min_noise(image: Array) -> float:
    return MIN_NOISE * float(image.std())
