"""Beyond the greatest input the mean of a pool keeps the trend, and its intervals grow."""

from collections.abc import Callable

import numpy as np
import pytest

from relevance_bayes.core.kernels import Matern32
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.pool import ready_of
from relevance_bayes.core.models.prediction import RealPrediction
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec

SMOOTH = process_spec(GaussianNoise(), inputs=True, vectors="rows")
ROUGH = process_spec(GaussianNoise(), inputs=True, vectors="rows", kernel=Matern32())
BENT = process_spec(GaussianNoise(), inputs=True, vectors="rows", warp="evidence")


def nearly_straight(x: Array) -> Array:
    return 100.0 + 0.45 * x - 2e-5 * (x - 1200.0) ** 2


def straight(x: Array) -> Array:
    return 80.0 + 0.5 * x


def predicted_outside(x: Array, t: Array, new: Array) -> tuple[Array, Array]:
    """Mean and sd at new inputs by what is learned by default of x (N,) and t (N,), in their units."""
    place, unit, centre, scale = x.mean(), x.std(), t.mean(), t.std()
    rows = Rows((x[:, None] - place) / unit, (t - centre) / scale)
    *_, found = train(rows, Selection(SMOOTH, pool=(ROUGH, BENT)))
    assert isinstance(found, Trained)
    prediction, _ = ready_of(found.learned).predict((new[:, None] - place) / unit)
    assert isinstance(prediction, RealPrediction)
    return prediction.mean * scale + centre, np.sqrt(prediction.variance) * scale


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("f", "noise", "max_distance"),
    [(nearly_straight, lambda f: np.full(len(f), 40.0), 3_200.0), (straight, lambda f: 0.15 * f, 4_444.0)],
    ids=["nearly straight", "noise in proportion"],
)
def test_a_line_goes_on(
    f: Callable[[Array], Array], noise: Callable[[Array], Array], max_distance: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(50.0, 2_552.0, 100)
    t = f(x) + noise(f(x)) * rng.standard_normal(100)
    new = np.array([2_500.0, 2_800.0, max_distance])
    mean, sd = predicted_outside(x, t, new)
    assert np.all(np.diff(mean) > 0.0)
    assert mean == pytest.approx(f(new), rel=0.15)
    assert np.all(np.diff(sd) > 0.0)
    assert np.all(np.abs(mean - f(new)) < 3.0 * sd)


def test_what_oscillates_about_a_line_goes_on_along_it() -> None:
    """The lowest four fifths of the inputs learned: least squares has about .75 on the highest fifth."""
    rng = np.random.default_rng(4)
    x = np.sort(rng.uniform(-3.0, 3.0, 150))
    f = 2.0 * x + np.sin(3.0 * x)
    t = f + 0.2 * rng.standard_normal(150)
    mean, sd = predicted_outside(x[:120], t[:120], x[120:])
    assert float(np.sqrt(np.mean((mean - f[120:]) ** 2))) < 1.2
    assert float(np.mean(np.abs(mean - t[120:]) < 1.96 * sd)) > 0.8
