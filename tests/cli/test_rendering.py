from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.cli.rendering import show_version
from app.client.answers import Choice, DatasetName, Hyperparameters, Outlier, Version

VERSION = Version(
    model="speed",
    version=1,
    created_at=datetime(2024, 5, 1, tzinfo=UTC),
    job_id="1",
    task="regression",
    target="y",
    target_kind="number",
    classes=(),
    inputs=(),
    ignored=(),
    likelihood={"type": "gaussian", "noise_sd": "learned"},
    basis=(),
    prior={"type": "independent"},
    algorithm={"type": "sequential"},
    standardised=True,
    missing="refuse",
    split={"by": "random"},
    holdout=0.0,
    seed=0,
    hyperparameters=Hyperparameters(0.5, None, (), (), 1.5, None, None),
    log_marginal_likelihood=-1.0,
    functions=1,
    candidates=2,
    rows=3,
    rows_dropped=0,
    rows_held_out=0,
    termination="converged",
    metrics={},
    outliers=(),
    dataset=DatasetName("2", "ab"),
    seconds=1.0,
    software_version="0.1.0",
)


def facts(version: Version, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What is said of a version, by name."""
    show_version(version)
    lines = [line.split("  ", 1) for line in capsys.readouterr().out.splitlines()]
    return {name: value.strip() for name, value in lines}


@pytest.mark.parametrize(
    ("likelihood", "noise", "process"),
    [
        ({"type": "gaussian", "noise_sd": "learned"}, "0.5", "1.5"),
        ({"type": "log_gaussian"}, "0.5 (of log y)", "1.5 (of log y)"),
        ({"type": "poisson"}, None, "1.5 (of the log rate)"),
    ],
)
def test_a_spread_is_told_with_what_it_is_of(
    likelihood: Choice, noise: str | None, process: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = replace(VERSION.hyperparameters, noise_sd=0.5 if noise else None)
    told = facts(replace(VERSION, likelihood=likelihood, hyperparameters=found), capsys)
    assert (told.get("noise sd"), told["process sd"]) == (noise, process)
    assert told["scatter"] == str(likelihood["type"]).replace("_", " ")
    assert "outliers" not in told


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "row 0"), (8, "rows 0, 1, 2, 3, 4, 5, 6, 7"), (10, "rows 0, 1, 2, 3, 4, 5, 6, 7 and 2 more")],
)
def test_heavy_tails_are_told_with_the_rows_that_they_are_for(
    count: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    version = replace(
        VERSION,
        likelihood={"type": "student_t", "dof": "learned"},
        hyperparameters=replace(VERSION.hyperparameters, degrees_of_freedom=2.5),
        outliers=tuple(Outlier(row, 0.1) for row in range(count)),
    )
    told = facts(version, capsys)
    assert told["scatter"] == "student t with 2.5 degrees of freedom"
    assert told["outliers"] == said
