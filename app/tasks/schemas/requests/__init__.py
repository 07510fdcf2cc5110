"""The API's schemas of requests for trainings, one for each kind of task."""

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Tag, TypeAdapter

from app.http.validation import AT
from app.tasks.schemas.requests.approximation import ApproximationJobIn
from app.tasks.schemas.requests.components import ComponentsJobIn
from app.tasks.schemas.requests.image import ImageJobIn
from app.tasks.schemas.requests.supervised import ClassificationJobIn, InferredJobIn, RegressionJobIn


def _which_task(value: object) -> str | None:
    task = value.get("task") if isinstance(value, dict) else None
    return "inferred" if task is None else str(task)


TrainingJobIn: TypeAlias = Annotated[
    Annotated[InferredJobIn, Tag("inferred")]
    | Annotated[RegressionJobIn, Tag("regression")]
    | Annotated[ClassificationJobIn, Tag("classification")]
    | Annotated[ApproximationJobIn, Tag("approximation")]
    | Annotated[ImageJobIn, Tag("image")]
    | Annotated[ComponentsJobIn, Tag("components")],
    Discriminator(
        _which_task,
        custom_error_type=f"{AT}task",
        custom_error_message="Should be 'regression', 'classification', 'approximation', 'image' or 'components', "
        "or left out.",
    ),
]
TRAINING_JOB_IN: TypeAdapter[TrainingJobIn] = TypeAdapter(TrainingJobIn)
