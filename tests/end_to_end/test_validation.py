"""Figures on held-out folds, requested with a job and reported with its version, on both databases."""

import pytest

from relevance_bayes.client import ClientError
from relevance_bayes.client.responses import Json
from tests.end_to_end.deployment import Api
from tests.end_to_end.tables import sinc

FIXED: dict[str, Json] = {
    "prior": {"type": "independent"},
    "basis": {"type": "kernel", "width": {"type": "fixed", "value": 3.0}},
}
FIGURES = {"rmse", "mae", "r2", "nll", "coverage_95"}


def grouped(name: str, api: Api) -> str:
    """Forty rows of sinc in eight groups of five."""
    table = sinc(40)
    return api.calls.create_dataset({**table, "who": [f"g{row % 8}" for row in range(40)]}, name=name).id


def test_every_choice_is_made_again_without_each_fold(api: Api) -> None:
    dataset = api.calls.create_dataset(sinc(40), name="sinc-folds")
    compared: Json = {"type": "kernel"}  # a process and independent weights, where the basis is requested
    job = api.train(dataset_id=dataset.id, target="y", holdout=0.2, validation={"folds": 3}, basis=compared)
    assert (job.state, job.error, job.validation) == ("succeeded", None, {"folds": 3})
    version = api.calls.version("sinc-folds", 1)
    assert version.validation == {"folds": 3}
    assert set(version.metrics) >= {"holdout", "validation"}
    validation = version.metrics["validation"]
    assert set(validation) == {*FIGURES, "nll_se", "rows"}
    assert validation["rows"] == version.rows == 40 - version.rows_held_out
    assert 0.05 < validation["rmse"] < 0.35
    phases = [event.progress.phase for event in api.calls.trainings.follow(job.id) if event.progress is not None]
    found = list(dict.fromkeys(phases))
    assert (found[0], found[-1]) == ("fit", "done")
    # A phase of less than a second has no event of its own.
    assert found == [phase for phase in ("fit", "alternative fit", "validation", "done") if phase in found]


def test_figures_of_folds_change_nothing_else(api: Api) -> None:
    dataset = api.calls.create_dataset(sinc(40), name="sinc-measured")
    requested: tuple[Json, ...] = (None, {"folds": 4})
    for validation in requested:
        api.train(dataset_id=dataset.id, target="y", validation=validation, **FIXED)
    without, measured = api.calls.version("sinc-measured", 1), api.calls.version("sinc-measured", 2)
    assert measured.evidence == without.evidence
    assert "validation" not in without.metrics
    assert {name: measured.metrics[name] for name in without.metrics} == without.metrics


@pytest.mark.parametrize(
    ("split", "rows"), [({"type": "group", "column": "who"}, 40), ({"type": "order"}, 30)], ids=["groups", "order"]
)
def test_folds_go_by_the_split(api: Api, split: dict[str, Json], rows: int) -> None:
    name = f"sinc-{split['type']}"
    api.train(dataset_id=grouped(name, api), target="y", inputs=["x"], split=split, validation={"folds": 3}, **FIXED)
    assert api.calls.version(name, 1).metrics["validation"]["rows"] == rows


def test_more_folds_than_groups_are_refused_before_a_job_is_queued(api: Api) -> None:
    dataset = grouped("sinc-few", api)
    split: Json = {"type": "group", "column": "who"}
    with pytest.raises(ClientError, match="need as many groups of `who`, and at most 8"):
        api.train(dataset_id=dataset, target="y", split=split, validation={"folds": 9})
