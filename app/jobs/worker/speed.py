"""The speed of a worker's core, measured once at its start by a fixed calculation.

The calculation is that of a fit: exponentials of squared distances, Cholesky factors, solutions and products. Its
matrices are so small that BLAS takes one thread for each, as in the processes of fits, and that each is in memory that
malloc keeps. Arrays of more than 128 kB would be mapped by the kernel each time until such an array has been freed
once: then a worker that has just begun would measure two thirds of the speed at which its fits run.
"""

import time

import numpy as np

from relevance_bayes.core.types import Array

ROUNDS = 5
MATRICES, SIZE = 40, 64

REFERENCE_SECONDS = 0.0100
"""CPU seconds of a round on the reference core, whose speed is 1."""


def measured_speed() -> float:
    """Return the speed of this core, as a multiple of the reference core's.

    The fastest of several rounds counts: other programs on the same machine only make a round slower.
    """
    return REFERENCE_SECONDS / max(min(_seconds_of_a_round(squares()) for _ in range(ROUNDS)), 1e-9)


def squares() -> Array:
    """Return squared distances (MATRICES, SIZE, SIZE) of points on a line, each matrix with another width."""
    points = np.linspace(0.0, 1.0, SIZE)
    widths = np.arange(1.0, MATRICES + 1.0)
    return np.asarray(np.square(points[:, None] - points) * widths[:, None, None])


def calculate(distances: Array) -> Array:
    """Return exp(-(K K^-1 L)^2) of the kernel matrix K (n, n) of these distances, with L L^T = K."""
    kernel = np.exp(-distances) + np.eye(len(distances))
    solved = np.linalg.solve(kernel, np.linalg.cholesky(kernel))
    return np.asarray(np.exp(-np.square(kernel @ solved)))


def _seconds_of_a_round(distances: Array) -> float:
    began = time.thread_time()
    for each in distances:
        calculate(each)
    return time.thread_time() - began
