"""Heights by Jacksboro, Tennessee, which matplotlib includes: 344 by 403, three seconds of arc apart."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import get_data_path

from examples.demo.truth import Array

FILE = Path(get_data_path(), "sample_data", "jacksboro_fault_dem.npz")
KM_A_DEGREE = 111.2
EVERY = 4
"""The step of the rows and columns of the survey at which models are tested."""


@dataclass(frozen=True, eq=False)
class Heights:
    """At `places` (N, 2), km east and north of the south-western corner: `metres` (N,) above the sea."""

    places: Array
    metres: Array


@dataclass(frozen=True, eq=False)
class Grid:
    """Heights at all crossings of `east` (E,) and `north` (N,), a row of `metres` (N, E) for each way north."""

    east: Array
    north: Array
    metres: Array

    def all(self) -> Heights:
        """Return the heights of all crossings, by rows."""
        east, north = np.meshgrid(self.east, self.north)
        return Heights(np.column_stack([east.ravel(), north.ravel()]), self.metres.ravel())


def survey(path: Path = FILE) -> Grid:
    """Return the survey in km; its file is in degrees, with the north in the first row."""
    stored = np.load(path)
    metres = stored["elevation"][::-1].astype(np.float64)
    south, north = sorted(float(stored[name]) for name in ("ymin", "ymax"))
    degree_east = KM_A_DEGREE * np.cos(np.radians((south + north) / 2.0))
    east, north_km = float(stored["dx"]) * degree_east, float(stored["dy"]) * KM_A_DEGREE
    return Grid(east * np.arange(metres.shape[1]), north_km * np.arange(metres.shape[0]), metres)


def coarser(grid: Grid) -> Grid:
    """Return each fourth row and column."""
    return Grid(grid.east[::EVERY], grid.north[::EVERY], grid.metres[::EVERY, ::EVERY])


def measured_at(grid: Grid, count: int, *, seed: int) -> Heights:
    """Return `count` random crossings, none of which is a test place."""
    between = np.ones(grid.metres.shape, dtype=bool)
    between[::EVERY, ::EVERY] = False
    crossings = grid.all()
    chosen = np.random.default_rng(seed).choice(np.flatnonzero(between), count, replace=False)
    return Heights(crossings.places[chosen], crossings.metres[chosen])
