"""The claims of docs/how-to/decisions-of-classes.md."""

import shutil
from pathlib import Path

import msgspec
import pytest

from examples.tour import data
from examples.tour.readme import DECISIONS as PAGE
from examples.tour.readme import differences, steps_of, take
from examples.tour.terminal import cli_examples, printed, shape_of
from relevance_bayes.client.responses import Predictions

OLD, NEW, MISSED, TREATED, SECOND_TEST = 0.5, (0.98, 0.02), 20.0, 1.0, 0.25
"""As the page's last command states them."""


def assert_decided(plain: Predictions, reported: Predictions) -> None:
    """Assert that the second answer is what the page's formulas make of the first."""
    for before, after in zip(plain.predictions, reported.predictions, strict=True):
        assert before.probabilities is not None
        assert after.probabilities is not None
        assert after.decision is not None
        weights = [one.probability * new / OLD for one, new in zip(before.probabilities, NEW, strict=True)]
        no, yes = (weight / sum(weights) for weight in weights)
        assert [one.probability for one in after.probabilities] == pytest.approx([no, yes])
        send_home, treat = MISSED * yes, TREATED * no
        assert after.decision.expected_cost == pytest.approx(min(send_home, treat, SECOND_TEST))
        min_cost = min(send_home, treat)
        expected = None if min_cost > SECOND_TEST else "yes" if treat <= send_home else "no"
        assert after.decision.label == expected
    decisions = [one.decision.label for one in reported.predictions if one.decision is not None]
    assert [one.label for one in plain.predictions] == ["no", "yes", "yes", "yes"]
    assert decisions == ["no", None, None, None]


def test_the_studys_file_is_what_its_program_makes(tmp_path: Path) -> None:
    data.write(data.screened_people(), tmp_path / "screening.csv")
    assert data.SCREENING.read_bytes() == (tmp_path / "screening.csv").read_bytes()


def test_the_figures_that_the_page_shows_follow_from_each_other() -> None:
    _, plain, reported = steps_of(PAGE.read_text())
    assert_decided(*(msgspec.convert(step.response, Predictions) for step in (plain, reported)))


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the page's commands need curl (apt install curl)")
def test_the_service_predicts_and_decides_as_the_page_shows(url: str) -> None:
    (training,) = cli_examples(PAGE.read_text())
    assert shape_of(printed(training.command, url)) == shape_of(training.shown)
    steps = steps_of(PAGE.read_text())
    results = take(steps, url)
    for step, response in zip(steps, results.responses, strict=True):
        assert differences(step.response, response) == [], step.command
    assert_decided(*(msgspec.convert(response, Predictions) for response in results.responses[1:]))


def test_every_picture_and_page_that_is_pointed_to_is_there() -> None:
    assert "decisions-of-classes.md" in (PAGE.parent / "likelihoods.md").read_text()
    assert (PAGE.parents[1] / "pictures" / "log-odds.png").is_file()
