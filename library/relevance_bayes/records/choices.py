"""Choices in responses: members of unions of the core as JSON objects, and literals as texts.

A service may know more of them than its client, and the core needs numpy. The schemas are those of the unions and
literals, which are imported where a schema is made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, TypeAlias

from pydantic import Field, TypeAdapter

from relevance_bayes.records.annotations import Schema

Choice: TypeAlias = dict[str, object]
"""A member of one of the API's unions, discriminated by its `type` (or `by`)."""


@dataclass(frozen=True)
class SchemaOf:
    """An annotation that gives a value the JSON schema of another type, named as "module:attribute"."""

    reference: str
    tag: str | None = "type"
    """The member that discriminates a union."""

    def __get_pydantic_json_schema__(self, source: object, handler: Callable[[object], Schema]) -> Schema:
        """Return the JSON schema of the other type."""
        module, _, attribute = self.reference.partition(":")
        other: object = getattr(import_module(module), attribute)
        return handler(TypeAdapter[object](Annotated[other, Field(discriminator=self.tag)]).core_schema)  # type: ignore[arg-type]


Dates: TypeAlias = Annotated[str, SchemaOf("relevance_bayes.records.values:Dates", None)]
Effort: TypeAlias = Annotated[str, SchemaOf("relevance_bayes.records.values:Effort", None)]
Missing: TypeAlias = Annotated[str, SchemaOf("relevance_bayes.records.values:Missing", None)]
Text: TypeAlias = Annotated[str, SchemaOf("relevance_bayes.records.values:Text", None)]
ScoreKind: TypeAlias = Annotated[str, SchemaOf("relevance_bayes.tasks.supervised.report:ScoreKind", None)]
Kernel: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.core.kernels:Kernel")]
Covariance: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.core.kernels:Covariance")]
Prior: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.core.models.model:Prior")]
Algorithm: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.core.models.model:Algorithm")]
Basis: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.tasks.supervised.request:NamedBasis")]
Likelihood: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.tasks.supervised.request:AnyLikelihood")]
Split: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.tasks.supervised.request:Split")]
Validation: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.tasks.supervised.request:Validation", None)]
