"""What docs/approximation.md shows of a running service is so."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.client import connect
from app.client.answers import ApproximationVersion
from examples.demo.service import running_service
from examples.tour import stop
from examples.tour.known import PAGE
from examples.tour.readme import differences, steps_of, take
from examples.tour.table import write


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("known")
    with running_service(directory / "known.db", log=directory / "service.log") as address:
        yield address


def test_the_stops_file_is_what_its_program_makes(tmp_path: Path) -> None:
    write(stop.arrivals(), tmp_path / "stop.csv")
    assert stop.FILE.read_bytes() == (tmp_path / "stop.csv").read_bytes()


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the page's commands need curl (apt install curl)")
def test_the_service_answers_as_the_page_shows(url: str) -> None:
    steps = steps_of(PAGE.read_text())
    for step, answer in zip(steps, take(steps, url).answers, strict=True):
        assert differences(step.answer, answer) == [], step.command
    with connect(url) as service:
        version = service.version("stop", of=ApproximationVersion)
    assert version.functions < 20
    assert version.error < 0.02
    assert version.integral_kept == pytest.approx(1.0)
