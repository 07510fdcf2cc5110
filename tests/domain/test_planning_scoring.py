"""Versions and datasets that go together, or don't."""

import pytest

from app.domain.errors import InvalidRequestError
from app.domain.identity import uuid7
from app.domain.models import NewVersion, Version
from app.domain.planning import plan_evaluation
from app.domain.requests import EvaluationPlan, EvaluationRequest
from app.domain.tables import Block
from tests.domain.small_tables import dataset_of, flags, numbers, texts
from tests.services.in_memory import NOW
from tests.services.small_components import version_of_components
from tests.services.small_models import small_version

SOUND: Block = {
    "x": numbers(0.0, 1.0),
    "colour": texts("red", "blue"),
    "y": numbers(1.0, 2.0),
    "else": numbers(1.0, 2.0),
}


def planned(made: NewVersion, table: Block) -> EvaluationPlan:
    version = Version(uuid7(), "ada", made.report.plan.model, 3, None, NOW, made.report)
    dataset = dataset_of(table, "points")
    return plan_evaluation(EvaluationRequest(dataset.id, "small", "best"), version, dataset)


def test_an_evaluation_is_of_the_number_that_its_reference_means() -> None:
    assert planned(small_version(), SOUND) == EvaluationPlan("small", 3, "regression", "y")


def test_all_columns_that_are_not_there_or_of_another_kind_are_named() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        planned(small_version(), {"x": texts("a", "b"), "y": flags(True, False)})
    assert [(fault.pointer, fault.detail) for fault in refused.value.faults] == [
        ("/dataset_id", "Column 'x' of the dataset is of kind category, the version's is number."),
        ("/dataset_id", "The dataset has no column 'colour', which the version reads."),
        ("/dataset_id", "Column 'y' of the dataset is of kind boolean, the version's is number."),
    ]


def test_what_has_no_target_is_not_judged() -> None:
    with pytest.raises(InvalidRequestError, match="no target") as refused:
        planned(version_of_components(), SOUND)
    assert [fault.pointer for fault in refused.value.faults] == ["/model"]
