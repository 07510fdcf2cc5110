"""Members of unions of the core, as their JSON objects.

A client has them as dictionaries, since the core needs numpy and the service may know more of them; the schemas are
those of the core's unions, which are imported where a schema is made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, TypeAlias

from pydantic import Field, TypeAdapter

from relevance_bayes.types.annotations import Schema

Choice: TypeAlias = dict[str, object]
"""A member of one of the API's unions, discriminated by its `type` (or `by`)."""


@dataclass(frozen=True)
class SchemaOf:
    """An annotation that gives an object the JSON schema of another type, named as "module:attribute"."""

    reference: str
    tag: str | None = "type"
    """The member that discriminates a union."""

    def __get_pydantic_json_schema__(self, source: object, handler: Callable[[object], Schema]) -> Schema:
        """Return the JSON schema of the other type."""
        module, _, attribute = self.reference.partition(":")
        other: object = getattr(import_module(module), attribute)
        return handler(TypeAdapter[object](Annotated[other, Field(discriminator=self.tag)]).core_schema)  # type: ignore[arg-type]


Kernel: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.core.kernels:Kernel")]
Covariance: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.core.kernels:Covariance")]
Prior: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.core.spec:Prior")]
Algorithm: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.core.spec:Algorithm")]
Basis: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.plans.requests.supervised:NamedBasis")]
Likelihood: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.plans.requests.supervised:AnyLikelihood")]
Split: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.plans.requests:Split")]
Validation: TypeAlias = Annotated[Choice, SchemaOf("relevance_bayes.plans.requests:Validation", None)]
