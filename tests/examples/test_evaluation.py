"""The claims of docs/how-to/evaluation.md."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli.commands import application
from examples.demo.service import running_service
from examples.tour.data import KIOSK, KIOSK_LATER
from relevance_bayes.client import DEFAULT_URL, connect
from relevance_bayes.client.responses import Json
from relevance_bayes.records.evaluations import NumberMetrics
from tests.examples.python_blocks import run
from tests.narrowing import of_kind

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "evaluation.md").read_text()
MEAN_ALONE: Mapping[str, Json] = {"basis": {"type": "bias"}, "prior": {"type": "independent"}}

HELD_OUT: Mapping[str, Json] = {"split": {"type": "order"}, "holdout": 0.2}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with two versions of the README's kiosk: one knows the mean alone, one had the last rows held out."""
    directory = tmp_path_factory.mktemp("evaluation")
    with running_service(directory / "evaluation.db", log=directory / "service.log") as address:
        with connect(address) as service:
            dataset_id = service.upload(KIOSK).id
            for more in (MEAN_ALONE, HELD_OUT):
                job = service.trainings.wait(
                    service.trainings.submit(
                        {"dataset_id": dataset_id, "target": "litres", "effort": "quick", **more}
                    ).id
                )
                assert job.state == "succeeded", job
        yield address


def test_rows_held_out_evaluate_to_the_metrics_that_their_training_recorded(url: str, tmp_path: Path) -> None:
    head, *rows = KIOSK.read_text().splitlines()
    (tmp_path / "rest.csv").write_text("\n".join([head, *rows[-30:]]) + "\n")
    with connect(url) as service:
        recorded = service.version("kiosk", 2).metrics["holdout"]
        rest = service.upload(tmp_path / "rest.csv")
        job = service.evaluations.wait(service.evaluations.submit("kiosk@2", rest.id).id)
        listed = list(service.evaluations.of("kiosk", 2))
    assert job.result is not None
    found = of_kind(NumberMetrics, job.result.metrics)
    reported = {"rmse": found.rmse, "mae": found.mae, "r2": found.r2, "nll": found.nll}
    assert {**reported, "coverage_95": found.coverage[-1].share} == pytest.approx(recorded, rel=1e-9)
    assert [one.id for one in listed] == [job.id]


def test_the_pages_python_gives_what_the_page_shows(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    reported = run(PAGE.replace(DEFAULT_URL, url))
    assert len(reported) >= 7
    for line in reported:
        assert str(line.given) == line.shown, line


def test_the_pages_commands_do_what_they_state(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_URL", url)
    monkeypatch.delenv("RELEVANCE_API_KEY", raising=False)
    monkeypatch.chdir(ROOT)
    with connect(url) as service:
        service.aliases.move("kiosk", "champion", 1)
    printed = {}
    for command in re.findall(r"^relevance .*$", PAGE, re.MULTILINE):
        done = CliRunner().invoke(application, shlex.split(command)[1:])
        assert done.exit_code == 0, (command, done.output)
        printed[command.split()[1]] = done.stdout
    assert re.search(r"version +kiosk@1", printed["evaluate"])
    assert re.search(r"in 95 % +\d+\.\d% of rows, mean width", printed["evaluate"])
    assert re.match(r"kiosk@champion is version 2 now\. nll .* above the margin of 0\.1\.", printed["promote"])
    refused = CliRunner().invoke(application, ["promote", "kiosk@champion", "1", str(KIOSK_LATER)])
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "kiosk@champion stays. rmse" in refused.stderr
