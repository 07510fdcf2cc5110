import json

from tests.commands import Run
from tests.library.cli.conftest import Stub
from tests.library.client.test_registry import LINEAGE, MODEL, STATISTICS


def test_models_are_listed_with_aliases_and_tags(run: Run, stub: Stub) -> None:
    url = stub({"GET /v1/models": (200, {"items": [MODEL], "has_more": False, "after": None})})
    shown = run("models", "--tag", "stage:live", "--url", url).stdout
    assert "champion: 1" in shown
    assert "stage:live" in shown
    wrong = run("models", "--tag", "stage", "--url", url)
    assert wrong.exit_code == 2
    assert "stage is not NAME:VALUE" in wrong.stderr


def test_a_model_is_described_and_tagged(run: Run, stub: Stub) -> None:
    url = stub({"PATCH /v1/models/small": (200, MODEL)})
    arguments = ("annotate", "small", "--description", "Sales.", "--tag", "stage:live", "--untag", "old")
    done = run(*arguments, "--url", url)
    assert (done.exit_code, done.stdout) == (0, "small: Sales.; stage:live.\n"), done.stderr
    assert json.loads(run(*arguments, "--json", "--url", url).stdout)["tags"] == {"stage": "live"}
    wrong = run("annotate", "small@", "--description", "x", "--url", url)
    assert (wrong.exit_code, wrong.stderr) == (1, "There is no version '' of model 'small'.\n")


def test_a_lineage_reports_what_is_removed(run: Run, stub: Stub) -> None:
    shown = run("lineage", "small@2", "--url", stub({"GET /v1/models/small/versions/2/lineage": (200, LINEAGE)})).stdout
    for reported in ("small, version 2", "d (deleted)", "sha256:0", "target: y; holdout: 0.2", "version 1", "0.1.0"):
        assert reported in shown


def test_statistics_count_requests_of_a_version(run: Run, stub: Stub) -> None:
    url = stub({"GET /v1/models/small/versions/2/statistics": (200, STATISTICS)})
    shown = run("statistics", "small@2", "--url", url).stdout
    for reported in (
        "small, version 2",
        "1,200, of which 200",
        "4,000",
        "0.8% of 4,000",
        "0.5 ms a request",
        "longer",
        "999",
    ):
        assert reported in shown, shown
    assert "  1 ms at most" not in shown
    assert json.loads(run("statistics", "small@2", "--json", "--url", url).stdout)["rows"] == 4000
    unused = STATISTICS | {"last_request_at": None, "requests": 0, "errors": 0, "outside_support": None}
    shown = run(
        "statistics", "small@2", "--url", stub({"GET /v1/models/small/versions/2/statistics": (200, unused)})
    ).stdout
    assert "none" in shown
    assert "outside" not in shown
