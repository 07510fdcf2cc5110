"""References to versions: the newest of a model, one by its number, or one by an alias."""

import re
from typing import NamedTuple, Self, TypeAlias

from relevance_bayes.types.errors import NotFoundError

ALIAS_PATTERN = r"[A-Za-z][A-Za-z0-9._-]{0,62}"
NUMBER_PATTERN = r"[1-9][0-9]{0,9}"
MAX_NUMBER = 2**31 - 1
SEPARATOR = "@"
"""Between a model's name, which can't contain it, and which version is meant."""

_ALIAS = re.compile(ALIAS_PATTERN)
_NUMBER = re.compile(NUMBER_PATTERN)
_MAX_SHOWN_LENGTH = 64

Selector: TypeAlias = int | str | None
"""Which version of a model: its number, an alias that points to it, or None for the newest."""

NamedVersion: TypeAlias = tuple[str, str, Selector]
"""A reference to a version, with the owner and the name of its model."""


def is_alias(text: str) -> bool:
    """Return whether a text can be an alias: a letter, then at most 62 letters, digits, dots, dashes, underscores."""
    return _ALIAS.fullmatch(text) is not None


class Reference(NamedTuple):
    """A reference to a version of a model."""

    model: str
    version: Selector = None

    @classmethod
    def read(cls, text: str) -> Self:
        """`model`, `model@alias` or `model@3`; raises NotFoundError for what can't name a version."""
        model, separator, version = text.partition(SEPARATOR)
        return cls.of(model, version) if separator else cls(model)

    @classmethod
    def of(cls, model: str, version: str) -> Self:
        """The version of a model that a number or an alias names; raises NotFoundError where it can be neither."""
        if _NUMBER.fullmatch(version) and (number := int(version)) <= MAX_NUMBER:
            return cls(model, number)
        if is_alias(version):
            return cls(model, version)
        shown = version if len(version) <= _MAX_SHOWN_LENGTH else f"{version[:_MAX_SHOWN_LENGTH]}…"
        raise NotFoundError(f"There is no version {shown!r} of model {model!r}.")

    @property
    def is_exact(self) -> bool:
        """Return whether it means the same for ever: a number is never given twice."""
        return isinstance(self.version, int)

    def __str__(self) -> str:
        return self.model if self.version is None else f"{self.model}{SEPARATOR}{self.version}"
