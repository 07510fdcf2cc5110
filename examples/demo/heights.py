"""Real heights, which come with matplotlib: 344 by 403 of them, three seconds of arc apart, by Jacksboro, Tennessee."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import get_data_path

from examples.demo.truth import Array

FILE = Path(get_data_path(), "sample_data", "jacksboro_fault_dem.npz")
KM_A_DEGREE = 111.2
EVERY = 4
"""Of the survey's rows and columns, what is asked for."""


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
        """The crossings, one after the other."""
        east, north = np.meshgrid(self.east, self.north)
        return Heights(np.column_stack([east.ravel(), north.ravel()]), self.metres.ravel())


def survey(path: Path = FILE) -> Grid:
    """Return what was surveyed; its file has the north in its first row, and degrees."""
    stored = np.load(path)
    metres = stored["elevation"][::-1].astype(np.float64)
    south, north = sorted(float(stored[name]) for name in ("ymin", "ymax"))
    degree_east = KM_A_DEGREE * np.cos(np.radians((south + north) / 2.0))
    east, north_km = float(stored["dx"]) * degree_east, float(stored["dy"]) * KM_A_DEGREE
    return Grid(east * np.arange(metres.shape[1]), north_km * np.arange(metres.shape[0]), metres)


def coarser(grid: Grid) -> Grid:
    """Each fourth row and column."""
    return Grid(grid.east[::EVERY], grid.north[::EVERY], grid.metres[::EVERY, ::EVERY])


def measured_at(grid: Grid, count: int, *, seed: int) -> Heights:
    """So many crossings, drawn at random, none of which is asked for again."""
    between = np.ones(grid.metres.shape, dtype=bool)
    between[::EVERY, ::EVERY] = False
    crossings = grid.all()
    chosen = np.random.default_rng(seed).choice(np.flatnonzero(between), count, replace=False)
    return Heights(crossings.places[chosen], crossings.metres[chosen])
