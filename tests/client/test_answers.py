"""The client knows every member that the API answers with, and no other."""

from dataclasses import dataclass, fields, is_dataclass

import msgspec
import pytest
from pydantic import BaseModel

from app.api.schemas import datasets, jobs, models, pages, predictions, problems
from app.client import answers, errors


@dataclass(frozen=True)
class Pair:
    """A value of the client's, and the API's forms of it."""

    ours: type
    theirs: tuple[type[BaseModel], ...]


PAIRS = [
    Pair(answers.Slice, (pages.PageOut,)),
    Pair(answers.Dataset, (datasets.DatasetOut,)),
    Pair(answers.Column, (datasets.NumberOut, datasets.BooleanOut, datasets.TimestampOut, datasets.CategoryOut)),
    Pair(answers.Category, (datasets.CategoryCountOut,)),
    Pair(answers.TrainingJob, (jobs.TrainingJobOut,)),
    Pair(answers.Progress, (jobs.ProgressOut,)),
    Pair(answers.Transition, (jobs.TransitionOut,)),
    Pair(answers.Event, (jobs.EventOut,)),
    Pair(answers.VersionName, (jobs.VersionNameOut,)),
    Pair(answers.Input, (jobs.InputOut,)),
    Pair(answers.Ignored, (jobs.IgnoredOut,)),
    Pair(answers.Rival, (jobs.RivalOut,)),
    Pair(answers.Model, (models.ModelOut,)),
    Pair(answers.Version, (models.VersionOut,)),
    Pair(answers.InputWidth, (models.InputWidthOut,)),
    Pair(answers.InputWarp, (models.InputWarpOut,)),
    Pair(answers.InputTerm, (models.InputTermOut,)),
    Pair(answers.Hyperparameters, (models.HyperparametersOut,)),
    Pair(answers.Contender, (models.ContenderOut,)),
    Pair(answers.DatasetName, (models.DatasetNameOut,)),
    Pair(answers.ClassRows, (models.ClassRowsOut,)),
    Pair(answers.ClassWeight, (models.ClassWeightOut,)),
    Pair(answers.RelevanceVector, (models.RelevanceVectorOut,)),
    Pair(answers.Predictions, (predictions.PredictionsOut,)),
    Pair(answers.Prediction, (predictions.RealOut, predictions.ClassOut, predictions.RowErrorOut)),
    Pair(answers.Variance, (predictions.VarianceOut,)),
    Pair(answers.ClassProbability, (predictions.ClassProbabilityOut,)),
    Pair(answers.Latent, (predictions.LatentOut,)),
    Pair(answers.ClassLatent, (predictions.ClassLatentOut,)),
    Pair(answers.Decision, (predictions.DecisionOut,)),
    Pair(answers.Contribution, (predictions.ContributionOut,)),
    Pair(errors.Problem, (problems.ProblemOut, problems.JobProblemOut, predictions.RowProblemOut)),
    Pair(errors.Place, (problems.PlaceOut,)),
]


def members(ours: type) -> set[str]:
    if issubclass(ours, msgspec.Struct):
        return set(ours.__struct_fields__)
    assert is_dataclass(ours)
    return {field.name for field in fields(ours)}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.ours.__name__)
def test_members_are_those_of_the_api(pair: Pair) -> None:
    assert members(pair.ours) == {name for theirs in pair.theirs for name in theirs.model_fields}
