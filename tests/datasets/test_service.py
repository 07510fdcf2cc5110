"""The datasets that an owner has, on a small database."""

from dataclasses import replace
from uuid import uuid4

import pytest

from app.database.keyset import PageRequest
from app.datasets.service import Datasets
from app.errors import InUseError
from app.identity import BUILT_IN_OWNER as OWNER
from app.registry.trainings import TRAINING
from relevance_bayes.records.datasets import Image
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from tests.small_database import SmallDatabase
from tests.small_models import small_version
from tests.small_tables import NOW, cut_up, dataset_of, flags, moments, numbers, texts

TABLE: Block = {
    "x": numbers(0.0, None, 2.5, 3.0, 4.0),
    "colour": texts("red", "blue", None, "blue", "red"),
    "known": flags(True, False, True, None, False),
    "at": moments(0.0, 1.5, 2.0, None, 4.0),
}
DATASET = dataset_of(TABLE)


@pytest.fixture
def stored(stored: SmallDatabase) -> SmallDatabase:
    stored.put_dataset(DATASET, *(block for _, block in cut_up(TABLE, 2, 4)))
    return stored


@pytest.fixture
def datasets(stored: SmallDatabase) -> Datasets:
    return Datasets(stored.transaction)


def test_rows_come_with_their_numbers_and_their_cells_as_json_has_them(datasets: Datasets) -> None:
    rows = datasets.rows(OWNER, DATASET.id, first=0, limit=2)
    assert [row.number for row in rows] == [0, 1]
    assert rows[0].cells == {"x": 0.0, "colour": "red", "known": True, "at": "1970-01-01T00:00:00Z"}
    assert rows[1].cells == {"x": None, "colour": "blue", "known": False, "at": "1970-01-01T00:00:01.5Z"}


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_any_slice_of_the_rows_is_the_same_rows(datasets: Datasets, limit: int) -> None:
    full = datasets.rows(OWNER, DATASET.id, first=0, limit=5)
    assert len(full) == 5
    for first in range(7):
        assert datasets.rows(OWNER, DATASET.id, first=first, limit=limit) == full[first : first + limit]


def test_each_block_of_rows_is_a_transaction_of_its_own(stored: SmallDatabase, datasets: Datasets) -> None:
    datasets.rows(OWNER, DATASET.id, first=0, limit=5)
    assert stored.opened == 1 + 3


def test_what_is_needed_is_not_deleted(stored: SmallDatabase, datasets: Datasets) -> None:
    request = SupervisedRequest(DATASET.id, "x")
    stored.put_job(TRAINING.queued(OWNER, request, small_version().report.plan, at=NOW))
    with pytest.raises(InUseError):
        datasets.delete(OWNER, DATASET.id)
    assert datasets.get(OWNER, DATASET.id) == DATASET


def test_what_is_deleted_is_not_found(datasets: Datasets) -> None:
    datasets.delete(OWNER, DATASET.id)
    with pytest.raises(NotFoundError):
        datasets.rows(OWNER, DATASET.id, first=0, limit=1)
    assert datasets.page(OWNER, PageRequest(10)).items == ()


def test_the_pixels_of_an_image_are_those_of_all_its_blocks(stored: SmallDatabase, datasets: Datasets) -> None:
    pixels: Block = {
        "row": numbers(0, 0, 1, 1, 2, 2),
        "column": numbers(0, 1, 0, 1, 0, 1),
        "intensity": numbers(0.0, 0.5, 1.0, 0.25, 0.75, 0.125),
    }
    image = replace(dataset_of(pixels), id=uuid4(), image=Image(3, 2))
    stored.put_dataset(image, *(block for _, block in cut_up(pixels, 2, 4)))
    assert datasets.pixels(OWNER, image.id).tolist() == [[0.0, 0.5], [1.0, 0.25], [0.75, 0.125]]
    with pytest.raises(NotFoundError, match="is a table: it has no image"):
        datasets.pixels(OWNER, DATASET.id)
    with pytest.raises(NotFoundError, match="There is no dataset"):
        datasets.pixels("somebody else", image.id)
