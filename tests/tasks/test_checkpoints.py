"""Images, approximations and components end as they would have, wherever they are broken off and gone on with."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

from app.jobs.checkpoint_repository import decode_fit_log, encode_fit_log
from app.jobs.child import FitCheckpoint
from app.jobs.child import run as run_fit
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.models.fitting import LogEntry
from relevance_bayes.core.selection import train
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.approximation import sparse
from relevance_bayes.tasks.approximation.fit import ApproximationFit
from relevance_bayes.tasks.components.fit import ComponentsFit
from relevance_bayes.tasks.fit import Fit, Fitted, Limits
from relevance_bayes.tasks.images import encoding
from relevance_bayes.tasks.images.fit import ImageFit


@pytest.fixture(autouse=True)
def rests_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MOVES_PER_CHECKPOINT", 7)
    monkeypatch.setattr(encoding, "MOVES_PER_STEP", 7)
    monkeypatch.setattr(sparse, "REBUILT", 5)
    monkeypatch.setattr(sparse, "REFACTORED", 4)


def written(folder: Path, *columns: Array) -> Path:
    """The columns, and behind them the number of each row."""
    path = folder / "rows.f64"
    table = np.column_stack([*columns, np.arange(len(columns[0]))])
    path.write_bytes(table.astype("<f8").tobytes())
    return path


def image(folder: Path, *, functions: int | None = None) -> ImageFit:
    y, x = np.mgrid[:18, :21]
    noise = np.random.default_rng(0).normal(size=x.shape)
    pixels = 120.0 + 40.0 * np.sin(0.01 * (x + y) ** 2) + 50.0 * (x > 12 + 0.2 * y) + 4.0 * noise
    return ImageFit(written(folder, pixels.ravel()), 18, 21, functions, error=None, noise_sd=None)


def few_functions(folder: Path) -> Fit:
    return image(folder, functions=40)


def without_noise(folder: Path) -> Fit:
    return image(folder)


def sum_of_gaussians(folder: Path) -> Fit:
    random = np.random.default_rng(3)
    path = written(folder, *random.uniform(-4, 4, (2, 60)), random.standard_normal(60))
    return ApproximationFit(path, 60, (1.0, 1.0), True, 2.0, 0.1, None, False)


def density(folder: Path) -> Fit:
    path = written(folder, *np.random.default_rng(4).standard_normal((2, 70)))
    return ApproximationFit(path, 70, (0.4, 0.4), False, 0.0, 0.1, None, True)


def components(folder: Path) -> Fit:
    random = np.random.default_rng(5)
    heaps = np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 3.0]])[:, random.integers(0, 3, 90)]
    path = written(folder, *(heaps + 0.4 * random.standard_normal((2, 90))))
    return ComponentsFit(path, 90, 2, Gaussian(), None, explained=0.9, seed=1)


MAX_FITS = 6
"""Of components: each reports its end again."""

FITS = (few_functions, without_noise, sum_of_gaussians, density, components)


def run(fit: Fit, fit_log: tuple[LogEntry, ...] = ()) -> tuple[list[tuple[LogEntry, ...]], object]:
    """Where it rested, and its end."""
    rests = []
    for found in run_fit(fit, train, Limits(), fit_log):
        if isinstance(found, FitCheckpoint):
            rests.append(found.fit_log)
        elif isinstance(found, Fitted):
            return rests, found.result
    raise AssertionError("expected an end")


def same(one: object, other: object) -> bool:
    """To the last bit, whatever is in it."""
    if is_dataclass(one) and not isinstance(one, type):
        return type(one) is type(other) and all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)
        )
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and np.array_equal(one, other)
    return one == other


@pytest.mark.thorough
@pytest.mark.parametrize("kind", FITS)
def test_wherever_a_fit_is_broken_off_it_ends_with_the_same_result(kind: Callable[[Path], Fit], tmp_path: Path) -> None:
    fit = kind(tmp_path)
    rests, unbroken = run(fit)
    assert len(rests) > 3
    for place in {len(rests) - 1, *np.random.default_rng(7).integers(0, len(rests), 2).tolist()}:
        rests_left, resumed = run(fit, decode_fit_log(encode_fit_log(rests[place])))
        assert same(resumed, unbroken)
        assert len(rests_left) <= len(rests) - place + MAX_FITS  # what was done is not done again
