"""Datasets: immutable tables and images of an owner."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from relevance_bayes.records.datasets import Image
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import IdentifiedTable


@dataclass(frozen=True)
class Upload:
    """A dataset during its upload, which is visible only to the upload."""

    id: UUID
    owner: str
    name: str
    created_at: datetime
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    image: Image | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset(IdentifiedTable):
    """A finished dataset."""

    owner: str
    created_at: datetime


@dataclass(frozen=True)
class Received:
    """The dataset of an upload: a new one, or one that was there with the same name and content."""

    dataset: Dataset
    is_new: bool
