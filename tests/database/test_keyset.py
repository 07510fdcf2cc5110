import pytest

from app.database import keyset
from app.identity import uuid7
from relevance_bayes.records.errors import InvalidRequestError


def test_a_cursor_comes_back_as_what_it_was() -> None:
    ids = [uuid7() for _ in range(3)]
    page = keyset.page(ids, 2, str, lambda item: item)
    assert page.items == (str(ids[0]), str(ids[1]))
    assert page.next is not None
    assert keyset.read_id(page.next) == ids[1]


def test_a_weight_comes_back_to_the_bit() -> None:
    page = keyset.page([(0.1 + 0.2, 7), (0.0, 8)], 1, str, lambda item: item)
    assert page.next is not None
    assert keyset.read_weight(page.next) == (0.1 + 0.2, 7)


def test_the_last_page_has_no_next() -> None:
    assert keyset.page([1, 2], 2, str, lambda item: item).next is None
    assert keyset.page([], 2, str, lambda item: item).next is None


def test_a_cursor_is_safe_in_a_url() -> None:
    for item in range(200):
        following = keyset.page([item, 0], 1, str, lambda number: (number / 7, number)).next
        assert following is not None
        assert following.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize("forged", ["", "x", "!", "é", "AAAA", "W10", "bnVsbA", "e30", "LTE", "'; DROP TABLE models"])
def test_a_forged_cursor_is_refused(forged: str) -> None:
    for read in (keyset.read_id, keyset.read_number, keyset.read_weight):
        with pytest.raises(InvalidRequestError) as refused:
            read(forged)
        assert [fault.parameter for fault in refused.value.faults] == ["after"]


def test_a_cursor_of_another_list_is_refused() -> None:
    following = keyset.page([1, 2], 1, str, lambda item: item).next
    assert following is not None
    with pytest.raises(InvalidRequestError):
        keyset.read_id(following)
