"""What is refused of a document, member by member."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.basis import Group, KernelBasis
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
