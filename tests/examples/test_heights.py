"""The land of the demo, as matplotlib brings it."""

from pathlib import Path

import numpy as np
import pytest

from examples.demo.heights import coarser, measured_at, survey
from examples.demo.peers import gaussian_process, support_vectors


def test_the_first_row_of_the_file_is_the_north_and_the_last_of_the_survey(tmp_path: Path) -> None:
    file = tmp_path / "small.npz"
    np.savez(file, elevation=np.array([[3, 4], [1, 2]]), dx=0.001, dy=0.001, ymin=36.002, ymax=36.0)
    grid = survey(file)
    assert grid.metres.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert grid.north.tolist() == pytest.approx([0.0, 0.1112])
    assert grid.east.tolist() == pytest.approx([0.0, 0.1112 * np.cos(np.radians(36.001))])


def test_heights_are_at_their_places() -> None:
    surveyed = survey()
    drawn = measured_at(surveyed, 20, seed=3)
    for (east, north), metres in zip(drawn.places, drawn.metres, strict=True):
        row, column = np.searchsorted(surveyed.north, north), np.searchsorted(surveyed.east, east)
        assert surveyed.metres[row, column] == metres


def test_no_height_that_was_measured_is_requested() -> None:
    surveyed = survey()
    drawn = {tuple(place) for place in measured_at(surveyed, 5_000, seed=1).places}
    requested = {tuple(place) for place in coarser(surveyed).all().places}
    assert len(drawn) == 5_000
    assert not drawn & requested


def test_peers_follow_a_plane_in_its_own_units() -> None:
    places = np.random.default_rng(5).uniform(size=(60, 2)) * np.array([1.0, 100.0])
    metres = 500.0 + 40.0 * places[:, 0] + 3.0 * places[:, 1]
    process, vectors = (peer(places, metres, places) for peer in (gaussian_process, support_vectors))
    assert float(np.abs(process.mean - metres).max()) < 1.0
    assert process.sd is not None
    assert process.functions == 60
    assert float(np.abs(vectors.mean - metres).max()) < 0.2 * float(metres.std())
    assert vectors.functions < 60
