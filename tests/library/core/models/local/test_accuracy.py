"""A nearest-neighbour process that learns its scales beside the exact process at the scales of the truth."""

import numpy as np
import pytest

from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.models.local.learning import LocalTask, Stage, Stages, learn, local_process, validated
from relevance_bayes.core.models.local.neighbours import LocalKernel
from relevance_bayes.core.types import Array
from tests.library.core.models.local.drawn_locally import posed

NOISE, WIDTHS = 0.1, np.array([1.0, 2.0, 4.0])


def drawn(kernel: LocalKernel, rows: int) -> tuple[Array, Array, Array]:
    """X (N, 3), t (N,) from a process of the WIDTHS, and its covariance (N, N) without noise."""
    rng = np.random.default_rng(11)
    X = rng.uniform(-1.7, 1.7, (rows, 3))
    C = kernel(X / WIDTHS, X / WIDTHS)
    lower = np.linalg.cholesky(C + 1e-8 * np.eye(rows))
    return X, lower @ rng.standard_normal(rows) + NOISE * rng.standard_normal(rows), C


@pytest.mark.parametrize(
    "kernel", [pytest.param(Gaussian(), marks=pytest.mark.thorough), Matern32()], ids=lambda kernel: kernel.type
)
def test_it_predicts_nearly_as_the_process_that_made_the_data(kernel: LocalKernel) -> None:
    X, t, C = drawn(kernel, 1_500)
    seen, new = slice(0, 1_200), slice(1_200, 1_500)
    w = np.linalg.solve(C[seen, seen] + NOISE**2 * np.eye(1_200), C[seen, new])
    variance = 1.0 + NOISE**2 - np.einsum("nm,nm->m", C[seen, new], w)
    errors = t[new] - w.T @ t[seen]
    best = float(np.mean(0.5 * (np.log(2.0 * np.pi * variance) + errors**2 / variance)))
    stages = Stages(Stage(200, 16, 10), Stage(400, 24, 15), Stage(600, 32, 15))
    task = LocalTask(posed(X[seen], t[seen]), (kernel,), neighbours=128, stages=stages)
    *_, last = learn(task)
    assert last.found is not None
    validation = validated(task, last.found)
    h = validation.hyperparameters
    found = local_process(task, kernel, h).latent(X[new])
    total = found.variance + 1.0 / h.beta
    off = t[new] - found.mean
    assert validation.refusal is None
    assert np.sqrt(np.mean(off**2)) <= 1.05 * np.sqrt(np.mean(errors**2))
    assert float(np.mean(0.5 * (np.log(2.0 * np.pi * total) + off**2 / total))) <= best + 0.05
    assert 0.92 <= float(np.mean(np.abs(off) <= 1.96 * np.sqrt(total))) <= 0.98
