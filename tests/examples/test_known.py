"""The examples of approximation.md, images.md and components.md of docs/how-to, on a running service."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from examples.tour import data
from examples.tour.readme import APPROXIMATION, COMPONENTS, IMAGES, differences, steps_of, take
from examples.tour.terminal import cli_examples, printed, shape_of
from relevance_bayes.client import connect
from relevance_bayes.client.responses import ApproximationVersion, ImageVersion, Json


def test_the_stops_file_is_what_its_program_makes(tmp_path: Path) -> None:
    data.write(data.arrivals(), tmp_path / "stop.csv")
    assert data.STOP.read_bytes() == (tmp_path / "stop.csv").read_bytes()


def test_the_motors_file_is_what_its_program_makes(tmp_path: Path) -> None:
    data.write(data.motor_readings(), tmp_path / "motor.csv")
    assert data.MOTOR.read_bytes() == (tmp_path / "motor.csv").read_bytes()
    data.write(data.LATER_READINGS, tmp_path / "readings.csv")
    assert data.MOTOR_LATER.read_bytes() == (tmp_path / "readings.csv").read_bytes()


def test_the_spots_file_is_what_its_program_makes() -> None:
    with Image.open(data.SPOT) as kept:
        np.testing.assert_array_equal(np.asarray(kept), np.asarray(data.spot()))


def assert_responses_as_shown(page: Path, url: str) -> None:
    steps = steps_of(page.read_text())
    assert len(steps) >= 4
    for step, response in zip(steps, take(steps, url).responses, strict=True):
        assert differences(step.response, response) == [], step.command
    commands = cli_examples(page.read_text())
    assert len(commands) >= 1
    for spoken in commands:
        assert shape_of(printed(spoken.command, url)) == shape_of(spoken.shown), spoken.command


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the page's commands need curl (apt install curl)")
def test_a_function_is_reported_as_the_page_shows(url: str) -> None:
    assert_responses_as_shown(APPROXIMATION, url)
    with connect(url) as service:
        version = service.version("stop", of=ApproximationVersion)
    assert version.functions < 20
    assert version.error < 0.02
    assert version.integral_kept == pytest.approx(1.0)


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the page's commands need curl (apt install curl)")
def test_an_image_is_reported_as_the_page_shows(url: str) -> None:
    assert_responses_as_shown(IMAGES, url)
    with connect(url) as service:
        version = service.version("spot", of=ImageVersion)
    assert version.psnr is not None
    assert version.psnr >= 36.0
    assert version.functions < 60


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the page's commands need curl (apt install curl)")
def test_what_is_new_is_reported_as_the_page_shows(url: str) -> None:
    assert_responses_as_shown(COMPONENTS, url)
    requested: dict[str, list[Json]] = {
        name: [row[name] for row in data.LATER_READINGS] for name in data.LATER_READINGS[0]
    }
    day = data.motor_readings()
    for name, values in requested.items():
        counts = [row[name] for row in day]
        assert all(isinstance(value, int | float) and min(counts) <= value <= max(counts) for value in values)
    with connect(url) as service:
        usual, too_much, too_hot = service.predict("motor", {"columns": dict[str, Json](requested)}).predictions
    assert usual.novelty is not None
    assert usual.novelty < 0.9
    assert (too_much.novelty, too_hot.novelty) == (1.0, 1.0)
