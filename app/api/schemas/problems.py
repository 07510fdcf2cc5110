"""Problems as OpenAPI shows them (RFC 9457)."""

from pydantic import BaseModel, Field


class ErrorOut(BaseModel):
    """One thing wrong, and where: a JSON pointer, parameter, header, row (from 0) and column, or line (from 1)."""

    detail: str
    pointer: str | None = None
    parameter: str | None = None
    header: str | None = None
    row: int | None = None
    column: str | None = None
    line: int | None = None


class ProblemOut(BaseModel):
    """Why there is no other answer (`application/problem+json`)."""

    type: str = Field(description="The kind of problem, for machines: `/problems/...`.")
    title: str
    status: int
    detail: str = Field(description="What is wrong this time, and what to do.")
    instance: str = Field(description="The path that was asked for.")
    errors: list[ErrorOut]
    request_id: str | None


class JobProblemOut(BaseModel):
    """Why a job failed, and what to do."""

    type: str
    title: str
    detail: str
    instance: str = Field(description="The job.")
    errors: list[ErrorOut]


class InferenceProblemOut(ProblemOut):
    """The same for clients of the Open Inference Protocol, who know of one member alone."""

    error: str = Field(description="The `detail`.")
