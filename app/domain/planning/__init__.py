"""From what a caller asks to what a worker does, or to all that is wrong with it."""

from typing import overload

from app.domain.datasets import Dataset
from app.domain.planning.approximation import plan_approximation
from app.domain.planning.components import plan_components
from app.domain.planning.image import plan_image
from app.domain.planning.scoring import plan_evaluation, plan_promotion, refuse_unfit
from app.domain.planning.supervised import plan_supervised
from app.domain.requests import (
    ApproximationPlan,
    ApproximationRequest,
    ComponentsPlan,
    ComponentsRequest,
    ImagePlan,
    ImageRequest,
    SupervisedPlan,
    SupervisedRequest,
    TrainingPlan,
    TrainingRequest,
)

__all__ = ["plan", "plan_evaluation", "plan_promotion", "refuse_unfit"]


@overload
def plan(request: SupervisedRequest, dataset: Dataset) -> SupervisedPlan: ...
@overload
def plan(request: ApproximationRequest, dataset: Dataset) -> ApproximationPlan: ...
@overload
def plan(request: ImageRequest, dataset: Dataset) -> ImagePlan: ...
@overload
def plan(request: ComponentsRequest, dataset: Dataset) -> ComponentsPlan: ...
def plan(request: TrainingRequest, dataset: Dataset) -> TrainingPlan:
    """Resolve a request against its dataset; raises InvalidRequestError with all faults that can be seen together."""
    match request:
        case SupervisedRequest():
            return plan_supervised(request, dataset)
        case ApproximationRequest():
            return plan_approximation(request, dataset)
        case ImageRequest():
            return plan_image(request, dataset)
        case ComponentsRequest():
            return plan_components(request, dataset)
