"""OpenAPI schemas of the Open Inference Protocol; tensors are parsed and written by other modules."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.inference.signature import Kind
from app.inference.tensors import DATATYPES
from app.prediction.usage_counts import Counted
from relevance_bayes.records.models import Reference

Datatype: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": list(DATATYPES)})]
Parameter: TypeAlias = bool | int | float | str | Sequence[str | int | float | bool]
Parameters: TypeAlias = Mapping[str, Parameter]
Values: TypeAlias = Annotated[
    Sequence[object], Field(description="Numbers, booleans or strings, flat or nested by shape.")
]


class InferenceServerOut(BaseModel):
    """The metadata of the server."""

    name: str
    version: str
    extensions: Sequence[str]


class InferenceLiveOut(BaseModel):
    """The process responds."""

    live: bool


class InferenceReadyOut(BaseModel):
    """The readiness of the server."""

    live: bool
    ready: bool


class ModelReadyOut(BaseModel):
    """The readiness of a model."""

    name: str
    ready: bool


class TensorKindOut(BaseModel):
    """The metadata of a tensor; a length of -1 is variable."""

    name: str
    datatype: Datatype
    shape: Sequence[int]
    parameters: Parameters = Field(
        description="`columns` of a matrix, in their order, and `classes`, in the order of their probabilities."
    )

    @classmethod
    def of(cls, kind: Kind) -> Self:
        """Return the metadata of a tensor for a response."""
        return cls.model_validate(
            {"name": kind.name, "datatype": kind.datatype, "shape": kind.shape, "parameters": kind.parameters}
        )


class InferenceModelOut(BaseModel):
    """The inputs and outputs of a model."""

    name: str
    versions: Sequence[str] = Field(description="Numbers, newest first, and aliases.")
    platform: str
    inputs: Sequence[TensorKindOut]
    outputs: Sequence[TensorKindOut]


class IndexedOut(BaseModel):
    """A version of a model."""

    name: str
    version: str
    state: Literal["READY"]
    reason: str


class InferenceDoneOut(BaseModel):
    """The acknowledgement of a command."""


class DurationOut(BaseModel):
    """The number of requests, and their total duration in nanoseconds."""

    count: int
    ns: int


class InferenceDurationsOut(BaseModel):
    """Requests by outcome."""

    success: DurationOut
    fail: DurationOut
    queue: DurationOut = Field(description="Always zero: requests are not queued.")


class ModelStatisticsOut(BaseModel):
    """Usage statistics of a version, counted by the process that responds since it started."""

    name: str
    version: str
    last_inference: int = Field(description="Milliseconds since 1970; 0 without an inference.")
    inference_count: int = Field(description="The number of predicted rows.")
    execution_count: int = Field(description="The number of successful requests.")
    inference_stats: InferenceDurationsOut

    @classmethod
    def of(cls, reference: Reference, counted: Counted) -> Self:
        """Return the counts in the protocol's form."""
        succeeded, last = sum(counted.succeeded), counted.last_at
        return cls(
            name=reference.model,
            version=str(reference.version),
            last_inference=0 if last is None else round(1e3 * last.timestamp()),
            inference_count=counted.rows,
            execution_count=succeeded,
            inference_stats=InferenceDurationsOut(
                success=DurationOut(count=succeeded, ns=counted.succeeded_ns),
                fail=DurationOut(count=counted.failed, ns=counted.failed_ns),
                queue=DurationOut(count=0, ns=0),
            ),
        )


class InferenceStatisticsOut(BaseModel):
    """Usage statistics of versions."""

    model_config = ConfigDict(protected_namespaces=())

    model_stats: Sequence[ModelStatisticsOut]


class InferenceTensorOut(BaseModel):
    """An output tensor."""

    name: str
    datatype: Datatype
    shape: Sequence[int]
    parameters: Parameters | None = None
    data: Values | None = Field(None, description="Absent where the values follow the JSON as bytes.")


class InferenceOut(BaseModel):
    """The response of an inference."""

    model_config = ConfigDict(protected_namespaces=())

    model_name: str
    model_version: str
    id: str | None = None
    parameters: Parameters | None = Field(
        None,
        description="`unknown_categories`: the cells with categories that no training row had, as a list in JSON with "
        "`row`, `column` and `value`. `nulls`: those without a value. Absent if there are none.",
    )
    outputs: Sequence[InferenceTensorOut]


class InferenceTensorIn(BaseModel):
    """An input tensor."""

    name: str
    datatype: Datatype
    shape: Annotated[Sequence[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=8)]
    parameters: Parameters | None = None
    data: Values | None = Field(None, description="Absent where the values follow the JSON as bytes.")


class RequestedOutputIn(BaseModel):
    """A requested output."""

    name: str
    parameters: Parameters | None = None


class InferenceIn(BaseModel):
    """A request for inference."""

    id: str | None = None
    parameters: Parameters | None = Field(
        None,
        description="`binary_data_output`: all outputs as bytes; `interval`: the probability between the bounds; "
        "`row_ids`: the input of texts that has the ids of the rows, by which predictions are recorded; "
        '`unknown_categories`: "average" or "error", for rows with a category that no training row had; '
        "`nulls`: the same for rows with missing values.",
    )
    inputs: Sequence[InferenceTensorIn]
    outputs: Sequence[RequestedOutputIn] | None = Field(None, description="By default all.")


INFERENCE_IN: TypeAdapter[InferenceIn] = TypeAdapter(InferenceIn)
