"""Where a version comes from."""

from dataclasses import dataclass

from app.datasets.records import Dataset
from app.registry.records import Version
from relevance_bayes.plans.requests import TrainingRequest


@dataclass(frozen=True)
class Lineage:
    """A version, what was asked for, and what is still there of what it was made from: the dataset, None if deleted.

    `request` is None for a version that was imported. `is_parent_kept`: whether the version before it is there still.
    """

    version: Version
    request: TrainingRequest | None
    dataset: Dataset | None
    is_parent_kept: bool
