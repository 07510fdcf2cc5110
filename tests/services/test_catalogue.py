"""What an owner has, on ports in memory."""

import pytest

from app.domain.errors import InUseError
from app.domain.identity import BUILT_IN_OWNER as OWNER
from app.domain.pages import PageRequest
from app.services.catalogue import Catalogue
from relevance_bayes.tables.columns import Block
from relevance_bayes.types.errors import NotFoundError
from relevance_bayes.types.references import Reference
from tests.domain.small_tables import cut_up, dataset_of, flags, moments, numbers, texts
from tests.services.in_memory import InMemory
from tests.services.small_models import small_version

TABLE: Block = {
    "x": numbers(0.0, None, 2.5, 3.0, 4.0),
    "colour": texts("red", "blue", None, "blue", "red"),
    "known": flags(True, False, True, None, False),
    "at": moments(0.0, 1.5, 2.0, None, 4.0),
}
DATASET = dataset_of(TABLE)


@pytest.fixture
def kept() -> InMemory:
    kept = InMemory()
    kept.datasets.put(DATASET, *(block for _, block in cut_up(TABLE, 2, 4)))
    return kept


@pytest.fixture
def catalogue(kept: InMemory) -> Catalogue:
    return Catalogue(kept.open)


def test_rows_come_with_their_numbers_and_their_cells_as_json_has_them(catalogue: Catalogue) -> None:
    rows = catalogue.rows(OWNER, DATASET.id, first=0, limit=2)
    assert [row.number for row in rows] == [0, 1]
    assert rows[0].cells == {"x": 0.0, "colour": "red", "known": True, "at": "1970-01-01T00:00:00Z"}
    assert rows[1].cells == {"x": None, "colour": "blue", "known": False, "at": "1970-01-01T00:00:01.5Z"}


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_any_slice_of_the_rows_is_the_same_rows(catalogue: Catalogue, limit: int) -> None:
    whole = catalogue.rows(OWNER, DATASET.id, first=0, limit=5)
    assert len(whole) == 5
    for first in range(7):
        assert catalogue.rows(OWNER, DATASET.id, first=first, limit=limit) == whole[first : first + limit]


def test_each_block_of_rows_is_a_transaction_of_its_own(kept: InMemory, catalogue: Catalogue) -> None:
    catalogue.rows(OWNER, DATASET.id, first=0, limit=5)
    assert kept.opened == 1 + 1 + 3


def test_what_is_needed_is_not_deleted(kept: InMemory, catalogue: Catalogue) -> None:
    kept.datasets.needed.add(DATASET.id)
    with pytest.raises(InUseError):
        catalogue.delete_dataset(OWNER, DATASET.id)
    assert catalogue.dataset(OWNER, DATASET.id) == DATASET


def test_what_is_deleted_is_gone(catalogue: Catalogue) -> None:
    catalogue.delete_dataset(OWNER, DATASET.id)
    with pytest.raises(NotFoundError):
        catalogue.rows(OWNER, DATASET.id, first=0, limit=1)
    assert catalogue.datasets(OWNER, PageRequest(10)).items == ()


def test_versions_go_one_by_one_or_with_their_model(kept: InMemory, catalogue: Catalogue) -> None:
    for number in (1, 2, 3):
        kept.models.put(OWNER, small_version(), number=number)
    catalogue.delete_version(OWNER, Reference("small", 2))
    assert [version.number for version in catalogue.versions(OWNER, "small", PageRequest(10)).items] == [3, 1]
    catalogue.delete_model(OWNER, "small")
    with pytest.raises(NotFoundError):
        catalogue.model(OWNER, "small")


def test_functions_are_sorted_by_the_size_of_their_weight(kept: InMemory, catalogue: Catalogue) -> None:
    kept.models.put(OWNER, small_version(), number=1)
    page = catalogue.vectors(OWNER, Reference("small", 1), limit=2, after=None, sort="weight")
    assert [vector.number for vector in page.items] == [2, 1]
    rest = catalogue.vectors(OWNER, Reference("small", 1), limit=2, after=page.next, sort="weight")
    assert [vector.number for vector in rest.items] == [3]
    assert rest.next is None
