"""Versions and datasets that go together, or don't."""

from dataclasses import replace

import pytest

from app.evaluation.jobs import EvaluationPlan, plan_evaluation, plan_promotion
from app.identity import uuid7
from app.registry.records import Version
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.evaluations import EvaluationRequest, PromotionRequest
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.supervised.request import GroupSplit, OrderSplit, RandomSplit, Split
from relevance_bayes.tasks.union import NewVersion
from tests.small_components import version_of_components
from tests.small_models import small_version
from tests.small_tables import NOW, dataset_of, flags, numbers, texts

SOUND: Block = {
    "x": numbers(0.0, 1.0),
    "colour": texts("red", "blue"),
    "y": numbers(1.0, 2.0),
    "else": numbers(1.0, 2.0),
}


def planned(made: NewVersion, table: Block) -> EvaluationPlan:
    version = Version(uuid7(), "ada", made.report.plan.model, 3, None, NOW, made.report)
    dataset = dataset_of(table, "points")
    return plan_evaluation(EvaluationRequest(dataset.id, "small", version="best"), version, dataset)


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


GROUPED: Block = {**SOUND, "patient": numbers(1.0, 2.0), "clinic": numbers(1.0, 1.0)}


def groups_of(table: Block, *splits: Split, groups: str | None = None) -> str | None:
    """The column of the groups, for a challenger and a holder that were split so."""
    dataset = dataset_of(table)
    versions = [version_of(split, number) for number, split in enumerate(splits, start=1)]
    holder = versions[1] if len(versions) > 1 else None
    return plan_promotion(
        PromotionRequest(dataset_id=dataset.id, model="small", alias="best", groups=groups),
        versions[0],
        holder,
        dataset,
    ).groups


def version_of(split: Split, number: int) -> Version:
    made = small_version()
    report = replace(made.report, plan=replace(made.report.plan, split=split))
    return Version(uuid7(), "me", "small", number, None, NOW, report)


def test_groups_are_those_by_which_a_version_was_split_where_the_dataset_has_them() -> None:
    patient, clinic = GroupSplit("patient"), GroupSplit("clinic")
    assert groups_of(GROUPED, patient, clinic) == "patient"
    assert groups_of(GROUPED, RandomSplit(), clinic) == "clinic"
    assert groups_of(GROUPED, patient) == "patient"
    assert groups_of(GROUPED, OrderSplit("patient"), RandomSplit()) is None
    assert groups_of(SOUND, patient, RandomSplit()) is None


def test_groups_may_be_named_and_have_to_be_there() -> None:
    assert groups_of(GROUPED, GroupSplit("patient"), groups="clinic") == "clinic"
    with pytest.raises(InvalidRequestError, match="no column 'ward'") as refused:
        groups_of(GROUPED, RandomSplit(), groups="ward")
    assert [fault.pointer for fault in refused.value.faults] == ["/groups"]
