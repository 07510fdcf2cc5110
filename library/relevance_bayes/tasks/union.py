"""The unions of the records of all tasks, which `task` discriminates, also in JSON; and the plan of any request."""

from typing import Annotated, TypeAlias, get_args, overload

from pydantic import Discriminator, Tag

from relevance_bayes.records.json import AT
from relevance_bayes.records.values import Task
from relevance_bayes.tables.columns import TableSummary
from relevance_bayes.tasks.approximation.report import ApproximationPredictor, ApproximationReport
from relevance_bayes.tasks.approximation.request import ApproximationPlan, ApproximationRequest, plan_approximation
from relevance_bayes.tasks.approximation.training import NewApproximationVersion
from relevance_bayes.tasks.components.report import ComponentsPredictor, ComponentsReport
from relevance_bayes.tasks.components.request import ComponentsPlan, ComponentsRequest, plan_components
from relevance_bayes.tasks.components.training import NewComponentsVersion
from relevance_bayes.tasks.images.report import ImagePredictor, ImageReport
from relevance_bayes.tasks.images.request import ImagePlan, ImageRequest, plan_image
from relevance_bayes.tasks.images.training import NewImageVersion
from relevance_bayes.tasks.supervised.plan import plan_supervised
from relevance_bayes.tasks.supervised.report import SupervisedPredictor, SupervisedReport
from relevance_bayes.tasks.supervised.request import SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion


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

VersionReport: TypeAlias = SupervisedReport | ApproximationReport | ImageReport | ComponentsReport
Predictor: TypeAlias = SupervisedPredictor | ApproximationPredictor | ImagePredictor | ComponentsPredictor
NewVersion: TypeAlias = NewSupervisedVersion | NewApproximationVersion | NewImageVersion | NewComponentsVersion


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
