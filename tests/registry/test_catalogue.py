"""The models that an owner has, on a small database."""

import pytest

from app.database.keyset import PageRequest
from app.identity import BUILT_IN_OWNER as OWNER
from app.registry.catalogue import Catalogue
from app.tasks import weight_unit
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.models import Reference
from tests.small_database import SmallDatabase
from tests.small_models import small_version


@pytest.fixture
def catalogue(stored: SmallDatabase) -> Catalogue:
    return Catalogue(stored.transaction, weight_unit)


def test_versions_go_one_by_one_or_with_their_model(stored: SmallDatabase, catalogue: Catalogue) -> None:
    for number in (1, 2, 3):
        stored.put_version(OWNER, small_version(), number=number)
    catalogue.delete_version(OWNER, Reference("small", 2))
    assert [version.number for version in catalogue.versions(OWNER, "small", PageRequest(10)).items] == [3, 1]
    catalogue.delete_model(OWNER, "small")
    with pytest.raises(NotFoundError):
        catalogue.model(OWNER, "small")


def test_functions_are_sorted_by_the_size_of_their_weight(stored: SmallDatabase, catalogue: Catalogue) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    page = catalogue.vectors(OWNER, Reference("small", 1), limit=2, after=None, sort="weight")
    assert [vector.number for vector in page.items] == [2, 1]
    rest = catalogue.vectors(OWNER, Reference("small", 1), limit=2, after=page.next, sort="weight")
    assert [vector.number for vector in rest.items] == [3]
    assert rest.next is None
