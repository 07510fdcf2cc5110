"""OpenAPI schemas of problems (RFC 9457)."""

from pydantic import BaseModel, Field

from relevance_bayes.types.errors import Fault


class ProblemOut(BaseModel):
    """An error response (`application/problem+json`)."""

    type: str = Field(description="The kind of problem, for machines: `/problems/...`.")
    title: str
    status: int
    detail: str = Field(description="What is wrong in this request, and how to correct it.")
    instance: str = Field(description="The path of the request.")
    errors: list[Fault]
    request_id: str | None


class InferenceProblemOut(ProblemOut):
    """A problem with the member `error`, the only one that clients of the Open Inference Protocol read."""

    error: str = Field(description="The `detail`.")
