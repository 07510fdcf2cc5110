"""The claims of docs/tutorial/tour.md."""

import csv
import shutil
from io import StringIO
from itertools import islice
from pathlib import Path

import pytest

from examples.demo.service import running_service
from examples.tour.folder import PAGE, run_commands, with_current_figures
from examples.tour.readme import ID
from examples.tour.terminal import NUMBER, printed

AS_SHOWN = 0.02
"""By how much figures may differ from one machine to another, as a share."""


def figures(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(ID.sub("", text).replace(",", " "))]


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the page's commands need curl (apt install curl)")
def test_every_step_from_an_empty_folder_states_what_the_page_shows(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    with running_service(tmp_path / "tour.db", log=tmp_path / "service.log") as url:
        reported = list(run_commands(PAGE.read_text(), url, folder))
        by_version = [printed(f"relevance predict heating@{number} later.csv", url, where=folder) for number in (1, 2)]
    assert len(reported) == PAGE.read_text().count("```sh\n") > 15
    for step, now in reported:
        if not step.shown.startswith("{"):
            assert figures(now) == pytest.approx(figures(step.shown), rel=AS_SHOWN), step.command
    row_37 = [next(islice(csv.DictReader(StringIO(rows)), 36, None)) for rows in by_version]
    assert [f"{float(row['mean']):.1f}" for row in row_37] == ["14.3", "9.2"]
    assert (row_37[0]["outside"], row_37[0]["kwh"]) == ("17.2", "8.0")
    assert {file.name for file in folder.iterdir()} >= {"predicted.csv", "heating.py", "heating.onnx", "heating.json"}


def test_a_shown_text_is_renewed_with_its_line_breaks_and_gaps() -> None:
    shown = "dataset  01a20367-2f5c-7fc9-ab1c-4d0d1b4f6a5a\n...\nrmse     2.082 (95 %:\n-1 to 3)\n"
    response = (
        "dataset  02b20367-2f5c-7fc9-ab1c-4d0d1b4f6a5b\nstate    succeeded\nmae 1\nrmse     17.5 (95 %: 8 to -9e-05)"
    )
    assert with_current_figures(shown, response) == (
        "dataset  02b20367-2f5c-7fc9-ab1c-4d0d1b4f6a5b\n...\nrmse     17.5 (95 %:\n8 to -9e-05)\n"
    )


@pytest.mark.parametrize(
    ("shown", "response"),
    [
        ("rmse 1", "mae 1"),
        ("rmse 1", "rmse one"),
        ("rmse 1", "rmse 1 mae 2"),
        ("rmse 1 mae 2", "rmse 1"),
        ("rmse 1 ...", "rmse 1"),
        ("", "refused"),
        ("01a20367-2f5c-7fc9-ab1c-4d0d1b4f6a5a", "7"),
    ],
    ids=["a word", "no figure", "more", "less", "no gap", "something", "no id"],
)
def test_responses_in_other_words_are_distinguished(shown: str, response: str) -> None:
    assert with_current_figures(shown, response) is None
