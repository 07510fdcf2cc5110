"""Path parameters that refer to versions."""

from typing import Annotated

from fastapi import Depends, Path

from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.models import ALIAS_PATTERN, NUMBER_PATTERN, Reference, is_alias

ModelName = Annotated[str, Path(description="The model's name.")]
VersionName = Annotated[
    str,
    Path(
        description="The version's number, or an alias of it.",
        json_schema_extra={"pattern": f"^({NUMBER_PATTERN}|{ALIAS_PATTERN})$"},
    ),
]
AliasName = Annotated[
    str,
    Path(
        description="A letter, then at most 62 letters, digits, dots, dashes and underscores.",
        json_schema_extra={"pattern": f"^{ALIAS_PATTERN}$"},
    ),
]


def refuse_no_alias(alias: str) -> None:
    """Raise InvalidRequestError for an invalid alias."""
    if not is_alias(alias):
        detail = (
            "Expected a letter, then at most 62 letters, digits, dots, dashes and underscores; digits alone are a "
            "version's number."
        )
        raise InvalidRequestError(detail, [Fault(detail, parameter="alias")])


async def _reference(name: ModelName, version: VersionName) -> Reference:
    return Reference.of(name, version)


VersionReference = Annotated[Reference, Depends(_reference)]
"""The version that a path names; 404 for an invalid name."""
