"""The claims of docs/how-to/signals.md."""

import json
import shutil
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from examples.tour import data
from examples.tour.readme import SIGNALS as PAGE
from examples.tour.readme import differences, steps_of, take
from examples.tour.terminal import cli_examples, printed, shape_of
from relevance_bayes.client.responses import Json
from relevance_bayes.core.dictionaries import Dictionary


class Shown(msgspec.Struct):
    """The figures of a function's shape that the page shows."""

    location: float


class Function(msgspec.Struct):
    """The figures of a function that the page shows."""

    kind: str
    shape: tuple[Shown, ...]
    weight_mean: float


class Part(msgspec.Struct):
    """The figures of a function's part in a prediction that the page shows."""

    vector: int
    contribution: float


class Reported(msgspec.Struct):
    """The figures of a prediction that the page shows."""

    mean: float
    explanation: tuple[Part | str, ...]

    @property
    def functions(self) -> list[Part]:
        """All that are shown: `...` stands for more."""
        return [one for one in self.explanation if isinstance(one, Part)]


def functions_in(response: Json) -> list[Function]:
    assert isinstance(response, dict)
    return msgspec.convert(response["items"], list[Function])


def assert_reported(vectors: Json, predicted: Json) -> None:
    """Assert that the pump's four switches are found, when and by how much."""
    functions = functions_in(vectors)
    steps = {one.shape[0].location: one.weight_mean for one in functions if one.kind == "step"}
    assert sorted(steps) == [minute - 0.5 for minute in data.PUMP_SWITCHES]
    assert sorted(one.kind for one in functions if one.kind != "step") == ["b_spline", "bias", "input"]
    assert isinstance(predicted, dict)
    before, after = msgspec.convert(predicted["predictions"], tuple[Reported, Reported])
    (last,) = (one.contribution for one in after.functions if one.vector == 1)
    assert last == pytest.approx(data.PUMP_SWITCHES[251], abs=1.0)
    in_watts = last / steps[250.5]
    assert {at: weight * in_watts for at, weight in steps.items()} == pytest.approx(
        {minute - 0.5: watts for minute, watts in data.PUMP_SWITCHES.items()}, abs=2.0
    )
    assert after.mean - before.mean == pytest.approx(last, abs=0.5)


def test_the_pumps_file_is_what_its_program_makes(tmp_path: Path) -> None:
    data.write(data.pump_readings(), tmp_path / "pump.csv")
    assert data.PUMP.read_bytes() == (tmp_path / "pump.csv").read_bytes()


def test_the_request_that_the_page_shows_is_the_files() -> None:
    text = PAGE.read_text()
    shown = text[text.index('```\n{"target"') + 4 :]
    assert json.loads(shown[: shown.index("```")]) == json.loads(data.PUMP_REQUEST.read_text())


def test_the_figures_that_the_page_shows_are_the_pumps() -> None:
    _, vectors, predicted = steps_of(PAGE.read_text())
    assert_reported(vectors.response, predicted.response)


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the page's commands need curl (apt install curl)")
def test_the_service_finds_what_the_page_shows(url: str) -> None:
    (training,) = cli_examples(PAGE.read_text())
    assert shape_of(printed(training.command, url)) == shape_of(training.shown)
    steps = steps_of(PAGE.read_text())
    results = take(steps, url)
    for step, response in zip(steps, results.responses, strict=True):
        assert differences(step.response, response) == [], step.command
    assert_reported(*results.responses[1:])


def test_the_page_reports_every_dictionary_and_is_pointed_to() -> None:
    text = PAGE.read_text()
    assert all(f"| `{dictionary().type}` |" in text for dictionary in get_args(Dictionary))
    assert (PAGE.parents[1] / "pictures" / "signals.png").is_file()
    assert "signals.md" in (PAGE.parents[1] / "explanation" / "model.md").read_text()
