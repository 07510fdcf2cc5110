"""Responses have each member from the plan or the report, and each member of these is in a response."""

from collections.abc import Collection, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import get_args, get_type_hints

import pytest

from app.identity import uuid7
from app.registry.records import Version
from app.tasks.responses import version_members, version_record
from relevance_bayes.records import trainings, versions
from relevance_bayes.tasks.approximation.request import ApproximationPlan, ApproximationRequest
from relevance_bayes.tasks.components.request import ComponentsPlan, ComponentsRequest
from relevance_bayes.tasks.images.request import ImagePlan, ImageRequest
from relevance_bayes.tasks.supervised.request import SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.union import VersionReport
from tests.exports.trained import trained


@pytest.mark.parametrize("name", ["constant", "gaussian learned, process"])
def test_no_member_of_a_version_is_left_to_its_default(name: str) -> None:
    version = Version(uuid7(), "local", "twin", 3, None, datetime(2026, 1, 2, tzinfo=UTC), trained(name).report)
    names = {one.name for one in fields(version_record(version))}
    assert names <= version_members(version).keys()


PAIRS: Sequence[tuple[type, type, type, type, Collection[str]]] = (
    (SupervisedRequest, SupervisedPlan, trainings.SupervisedJob, versions.SupervisedVersion, {"prefer"}),
    (ComponentsRequest, ComponentsPlan, trainings.ComponentsJob, versions.ComponentsVersion, {"width"}),
    (ApproximationRequest, ApproximationPlan, trainings.ApproximationJob, versions.ApproximationVersion, {"width"}),
    (ImageRequest, ImagePlan, trainings.ImageJob, versions.ImageVersion, ()),
)
"""The records of each task, and the options that its jobs have resolved, under another name."""

ELSEWHERE = {"plan", "dataset_id", "dataset_digest", "others", "baseline", "diagnostics", "input_rows", "temperature"}
"""Members of reports that the API has in another resource, in `dataset` or in `hyperparameters`, or not at all."""


def names_of(record: type) -> set[str]:
    return {one.name for one in fields(record)} if is_dataclass(record) else set()


@pytest.mark.parametrize("task", PAIRS, ids=lambda task: task[0].__name__)
def test_an_option_is_a_member_of_the_job(task: tuple[type, type, type, type, Collection[str]]) -> None:
    request, _, job, _, resolved = task
    lacking = names_of(request) - names_of(job) - {*resolved}
    assert lacking == set(), f"declare each in {job.__name__}, in relevance_bayes/records/trainings.py"


@pytest.mark.parametrize("report", get_args(VersionReport), ids=lambda report: report.__name__)
def test_a_figure_of_a_report_is_a_member_of_the_version(report: type) -> None:
    (version,) = (one[3] for one in PAIRS if one[1] is get_type_hints(report)["plan"])
    lacking = names_of(report) - names_of(version) - ELSEWHERE
    assert lacking == set(), f"declare each in {version.__name__}, in relevance_bayes/records/versions.py"
