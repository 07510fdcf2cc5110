"""Models, aliases of their versions, parts of all versions, and references to them."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple, Self, TypeAlias

from pydantic import Field

from relevance_bayes.records.annotations import Id, wire
from relevance_bayes.records.errors import NotFoundError

ALIAS_PATTERN = r"[A-Za-z][A-Za-z0-9._-]{0,62}"
NUMBER_PATTERN = r"[1-9][0-9]{0,9}"
MAX_NUMBER = 2**31 - 1
SEPARATOR = "@"
"""The separator of a model's name, which can't contain it, and a version."""

_ALIAS = re.compile(ALIAS_PATTERN)
_NUMBER = re.compile(NUMBER_PATTERN)
_MAX_SHOWN_LENGTH = 64

Selector: TypeAlias = int | str | None
"""The version of a model: its number, an alias that points to it, or None for the newest."""

VersionSelector: TypeAlias = (
    Annotated[int, Field(ge=1, le=MAX_NUMBER)] | Annotated[str, Field(pattern=f"^{ALIAS_PATTERN}$")]
)
"""A selector of a version in a request: its number or an alias."""

NamedVersion: TypeAlias = tuple[str, str, Selector]
"""A reference to a version, preceded by the owner and the name of its model."""


def is_alias(text: str) -> bool:
    """Return whether a text can be an alias: a letter, then at most 62 letters, digits, dots, dashes, underscores."""
    return _ALIAS.fullmatch(text) is not None


class Reference(NamedTuple):
    """A reference to a version of a model."""

    model: str
    version: Selector = None

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse `model`, `model@alias` or `model@3`; raises NotFoundError for an invalid reference."""
        model, separator, version = text.partition(SEPARATOR)
        return cls.of(model, version) if separator else cls(model)

    @classmethod
    def of(cls, model: str, version: str) -> Self:
        """Return the reference to a version by number or alias; raises NotFoundError for an invalid one."""
        if _NUMBER.fullmatch(version) and (number := int(version)) <= MAX_NUMBER:
            return cls(model, number)
        if is_alias(version):
            return cls(model, version)
        shown = version if len(version) <= _MAX_SHOWN_LENGTH else f"{version[:_MAX_SHOWN_LENGTH]}…"
        raise NotFoundError(f"There is no version {shown!r} of model {model!r}.")

    @property
    def is_exact(self) -> bool:
        """Return whether it always refers to the same version: numbers are never reused."""
        return isinstance(self.version, int)

    def __str__(self) -> str:
        return self.model if self.version is None else f"{self.model}{SEPARATOR}{self.version}"


MAX_REASON_LENGTH = 500

Reason: TypeAlias = Annotated[
    str, Field(max_length=MAX_REASON_LENGTH, description="Why the alias moves, for its history.")
]


@dataclass(frozen=True)
class Model:
    """A model: a name, and what its versions have in common."""

    __pydantic_config__ = wire()

    name: str
    created_at: datetime
    task: str
    target: str | None
    """The target; null for tasks without a target."""
    inputs: tuple[str, ...]
    versions: int
    """The number of versions."""
    latest: int | None
    """The number of the newest version."""
    aliases: dict[str, int]
    """The numbers of the versions to which aliases point."""
    description: str | None
    tags: dict[str, str]
    record: float = 0.0
    """The share of predictions with row ids that is recorded, to be compared with outcomes."""


@dataclass(frozen=True)
class DatasetName:
    """The training data; the digest is of their content."""

    __pydantic_config__ = wire()

    id: Id
    digest: str


@dataclass(frozen=True)
class TermsError:
    """The error with this number of terms."""

    __pydantic_config__ = wire()

    functions: int
    error: float


@dataclass(frozen=True)
class Alias:
    """The version to which an alias points, since when, by whom and why."""

    __pydantic_config__ = wire()

    model: str
    alias: str
    version: int
    moved_at: datetime
    moved_by: str
    reason: str | None


@dataclass(frozen=True)
class AliasIn:
    """The version that an alias is to point to."""

    __pydantic_config__ = wire(extra="forbid")

    version: VersionSelector
    """The version's number, or another alias, resolved now."""
    reason: Reason | None = None


@dataclass(frozen=True)
class AliasMove:
    """One move of an alias, numbered from 1."""

    __pydantic_config__ = wire()

    number: int
    at: datetime
    by: str
    from_version: int | None
    """The version before; null where the alias did not exist."""
    to_version: int | None
    """The version after; null where the alias was deleted."""
    reason: str | None
