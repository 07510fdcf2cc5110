from uuid import RFC_4122, UUID

from app.identity import new_request_id, uuid7


def test_both_are_of_version_7_and_sort_by_time() -> None:
    made = [uuid7(), UUID(new_request_id())]
    for one in made:
        assert (one.version, one.variant) == (7, RFC_4122)
    assert made[0].int >> 80 <= made[1].int >> 80 <= (made[0].int >> 80) + 10_000


def test_a_text_is_written_as_uuids_are() -> None:
    text = new_request_id()
    assert str(UUID(text)) == text
