"""The client knows every member that the API answers with, and no other."""

from dataclasses import dataclass, fields, is_dataclass

import pytest
from pydantic import BaseModel

from app.http import problems
from app.prediction import schemas as predictions
from relevance_bayes.client import errors, responses


@dataclass(frozen=True)
class Pair:
    """A value of the client's, and the API's forms of it."""

    ours: type
    theirs: tuple[type, ...]


PAIRS = [
    Pair(responses.Predictions, (predictions.PredictionsOut,)),
    Pair(
        responses.Prediction,
        (
            predictions.RealOut,
            predictions.ClassOut,
            predictions.ValueOut,
            predictions.ComponentsRowOut,
            predictions.RowErrorOut,
        ),
    ),
    Pair(errors.Problem, (problems.ProblemOut, predictions.RowProblemOut)),
]


def members(ours: type) -> set[str]:
    if is_dataclass(ours):
        return {field.name for field in fields(ours)}
    assert issubclass(ours, BaseModel)
    return set(ours.model_fields)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.ours.__name__)
def test_members_are_those_of_the_api(pair: Pair) -> None:
    assert members(pair.ours) == {name for theirs in pair.theirs for name in members(theirs)}
