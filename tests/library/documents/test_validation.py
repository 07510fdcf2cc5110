"""What is refused of a document, member by member."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.basis import Group, KernelBasis
from relevance_bayes.core.kernels import Additive, Gaussian
from relevance_bayes.documents.functions import kernel_functions_of
from relevance_bayes.documents.parts import KernelPart, TermPart
from relevance_bayes.documents.reports import APPROXIMATIONS, unknown
from relevance_bayes.documents.sizes import columns
from relevance_bayes.documents.validation import spec_faults
from relevance_bayes.plans import plan
from relevance_bayes.plans.requests import SupervisedPlan, SupervisedRequest
from relevance_bayes.types.errors import InvalidRequestError
from tests.small_tables import DATASET_ID, dataset_of, numbers


def planned(*basis: Group) -> SupervisedPlan:
    table = {"a": numbers(1, 2, 6, 4), "b": numbers(7, 3, 5, 1), "y": numbers(1, 2, 4, 9)}
    found = plan(SupervisedRequest(DATASET_ID, "y"), dataset_of(table))
    return replace(found, spec=replace(found.spec, basis=basis), compared_models=(), alternatives=())


@pytest.mark.parametrize("number", [-1, 0, 1, 2, 3, 100])
def test_a_group_is_of_inputs_that_there_are(number: int) -> None:
    faults = [(fault.pointer, fault.detail) for fault in spec_faults(planned(Group((number,), KernelBasis())), 2)]
    refused = ("/report/plan/spec/basis", "Expected indices of inputs.") in faults
    assert refused == (number not in {0, 1})


def test_columns_are_those_of_the_matrix_and_the_first_that_is_none_is_named() -> None:
    np.testing.assert_array_equal(columns([0, 2, 1], 3, "/model/columns"), [0, 2, 1])
    with pytest.raises(InvalidRequestError) as caught:
        columns([0, 3, 1, 7], 3, "/model/columns")
    (fault,) = caught.value.faults
    assert (fault.pointer, fault.detail) == ("/model/columns/1", "Expected a column from 0 to 2, got 3.")


@pytest.mark.parametrize(
    ("terms", "is_refused"),
    [
        (((0, 0.3), (1, 0.3)), False),
        (((0, 0.3), (0, 0.3)), True),
        (((0, 0.2), (1, 0.2), (2, 0.2)), True),
        (((0, 0.5), (1, 0.5)), True),
    ],
    ids=["distinct", "repeated", "all inputs", "sum of shares"],
)
def test_terms_are_of_distinct_inputs_and_leave_a_share_to_the_kernel_of_all(
    terms: tuple[tuple[int, float], ...], *, is_refused: bool
) -> None:
    part = KernelPart(
        type="kernel",
        kernel=Gaussian(),
        terms=[TermPart(input=place, share=share) for place, share in terms],
        widths=np.ones(3),
        skew=None,
        tail=None,
        centres=np.zeros((1, 3)),
    )
    if not is_refused:
        assert kernel_functions_of(part, 3, "/kernel").kernel == Additive(Gaussian(), (0, 1), (0.3, 0.3))
        return
    with pytest.raises(InvalidRequestError) as caught:
        kernel_functions_of(part, 3, "/kernel")
    assert [fault.pointer for fault in caught.value.faults] == ["/kernel/terms"]


def test_each_unknown_member_is_a_fault_at_its_object() -> None:
    sent = {"a": 1, "x": 2, "b": [{"c": 3}, {"c": 4, "y": 5}], "d": {"z": {}}}
    known = {"a": 1, "b": [{"c": 3}, {"c": 4}], "d": {}}
    assert [(fault.pointer, fault.detail) for fault in unknown(sent, known, "/report")] == [
        ("/report", "The member 'x' is unknown."),
        ("/report/b/1", "The member 'y' is unknown."),
        ("/report/d", "The member 'z' is unknown."),
    ]


def test_a_refusal_of_several_faults_names_pointer_and_detail_of_the_first() -> None:
    given = dict.fromkeys(APPROXIMATIONS.given)
    planned = dict.fromkeys(APPROXIMATIONS.planned)
    with pytest.raises(InvalidRequestError) as caught:
        APPROXIMATIONS.read({"task": None, "plan": {"inputs": None}}, given, planned)
    first, second = caught.value.faults
    assert (first.pointer, second.pointer) == ("/report/task", "/report/plan/inputs")
    assert str(caught.value) == f"At {first.pointer}: {first.detail}"
