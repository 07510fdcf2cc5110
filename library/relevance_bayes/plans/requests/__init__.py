"""Requests for trainings and their plans; `task` discriminates them, also in JSON."""

from typing import Annotated, TypeAlias, get_args

from pydantic import Discriminator, Tag

from relevance_bayes.plans.requests.approximation import ApproximationPlan, ApproximationRequest
from relevance_bayes.plans.requests.components import ComponentsPlan, ComponentsRequest
from relevance_bayes.plans.requests.image import ImagePlan, ImageRequest
from relevance_bayes.plans.requests.supervised import (
    MAX_FOLDS,
    MAX_SCORE_LOSSES,
    MIN_FOLDS,
    AutomaticLocal,
    AutomaticPrior,
    BasisChoice,
    Budget,
    GroupChoice,
    GroupSplit,
    KernelChoice,
    LocalOption,
    LocalPlan,
    NearestNeighbours,
    NoLocal,
    OrderSplit,
    PriorChoice,
    RandomSplit,
    Split,
    SupervisedPlan,
    SupervisedRequest,
    Validation,
)
from relevance_bayes.records.json import AT
from relevance_bayes.records.reports import BudgetPlan
from relevance_bayes.records.values import Dates, Effort, IgnoredColumn, InputColumn, Missing, Prefer, Task, Text


def _tag(value: object) -> str | None:
    task = value.get("task") if isinstance(value, dict) else getattr(value, "task", None)
    is_supervised = task is None or (isinstance(task, str) and task in get_args(Task))
    return "supervised" if is_supervised else str(task)


TrainingRequest: TypeAlias = Annotated[
    Annotated[SupervisedRequest, Tag("supervised")]
    | Annotated[ApproximationRequest, Tag("approximation")]
    | Annotated[ImageRequest, Tag("image")]
    | Annotated[ComponentsRequest, Tag("components")],
    Discriminator(
        _tag,
        custom_error_type=f"{AT}task",
        custom_error_message="Should be 'regression', 'classification', 'approximation', 'image' or 'components', "
        "or left out.",
    ),
]
TrainingPlan: TypeAlias = SupervisedPlan | ApproximationPlan | ImagePlan | ComponentsPlan

__all__ = [
    "MAX_FOLDS",
    "MAX_SCORE_LOSSES",
    "MIN_FOLDS",
    "ApproximationPlan",
    "ApproximationRequest",
    "AutomaticLocal",
    "AutomaticPrior",
    "BasisChoice",
    "Budget",
    "BudgetPlan",
    "ComponentsPlan",
    "ComponentsRequest",
    "Dates",
    "Effort",
    "GroupChoice",
    "GroupSplit",
    "IgnoredColumn",
    "ImagePlan",
    "ImageRequest",
    "InputColumn",
    "KernelChoice",
    "LocalOption",
    "LocalPlan",
    "Missing",
    "NearestNeighbours",
    "NoLocal",
    "OrderSplit",
    "Prefer",
    "PriorChoice",
    "RandomSplit",
    "Split",
    "SupervisedPlan",
    "SupervisedRequest",
    "Task",
    "Text",
    "TrainingPlan",
    "TrainingRequest",
    "Validation",
]
