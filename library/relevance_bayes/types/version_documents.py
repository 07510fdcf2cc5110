"""A version as it moves between a service and an estimator."""

from dataclasses import dataclass

from relevance_bayes.types.functions import RelevanceVector


@dataclass(frozen=True, kw_only=True)
class VersionDocument:
    """A version of a model of a task: its document in npz, and its functions with their rows."""

    model: str
    version: int
    task: str
    content: bytes
    vectors: tuple[RelevanceVector, ...]
