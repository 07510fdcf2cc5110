"""The lineage of a version."""

from dataclasses import dataclass

from app.datasets.records import Dataset
from app.registry.records import Version
from relevance_bayes.plans.requests import TrainingRequest


@dataclass(frozen=True)
class Lineage:
    """A version, the request of its training, and its dataset, None if that was deleted.

    `request` is None for an imported version. `is_parent_kept`: the version before it still exists.
    """

    version: Version
    request: TrainingRequest | None
    dataset: Dataset | None
    is_parent_kept: bool
