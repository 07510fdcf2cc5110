"""Problems as OpenAPI shows them (RFC 9457)."""

from pydantic import BaseModel, Field

from relevance_bayes.types.errors import Fault


class ProblemOut(BaseModel):
    """Why there is no other answer (`application/problem+json`)."""

    type: str = Field(description="The kind of problem, for machines: `/problems/...`.")
    title: str
    status: int
    detail: str = Field(description="What is wrong this time, and what to do.")
    instance: str = Field(description="The path that was asked for.")
    errors: list[Fault]
    request_id: str | None


class InferenceProblemOut(ProblemOut):
    """The same for clients of the Open Inference Protocol, who know of one member alone."""

    error: str = Field(description="The `detail`.")
