"""Plans: requests resolved against their datasets, or their faults."""

from typing import overload

from relevance_bayes.plans.approximation import plan_approximation
from relevance_bayes.plans.components import plan_components
from relevance_bayes.plans.image import plan_image
from relevance_bayes.plans.requests import (
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
from relevance_bayes.plans.supervised import plan_supervised
from relevance_bayes.tables.columns import TableSummary


@overload
def plan(request: SupervisedRequest, dataset: TableSummary) -> SupervisedPlan: ...
@overload
def plan(request: ApproximationRequest, dataset: TableSummary) -> ApproximationPlan: ...
@overload
def plan(request: ImageRequest, dataset: TableSummary) -> ImagePlan: ...
@overload
def plan(request: ComponentsRequest, dataset: TableSummary) -> ComponentsPlan: ...
def plan(request: TrainingRequest, dataset: TableSummary) -> TrainingPlan:
    """Resolve a request against its dataset; raises InvalidRequestError with all faults found."""
    match request:
        case SupervisedRequest():
            return plan_supervised(request, dataset)
        case ApproximationRequest():
            return plan_approximation(request, dataset)
        case ImageRequest():
            return plan_image(request, dataset)
        case ComponentsRequest():
            return plan_components(request, dataset)
