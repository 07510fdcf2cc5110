import pytest

from relevance_bayes.client.jobs import Message, messages

COMPLETE = (
    b': a comment\n\nretry: 1000\n\nid: 1\nevent: progress\ndata: {"a":1}\n\n'
    b"data: two\r\ndata:  lines\r\n\r\n"
    + "id: 3\rdata: a\u2028b\x0bc\x85\r\r".encode()
    + b"event: nothing\n\ndata\n\nid: 4\ndata: cut"
)
EXPECTED = [
    Message("1", "progress", '{"a":1}'),
    Message("1", "message", "two\n lines"),
    Message("3", "message", "a\u2028b\x0bc\x85"),
    Message("3", "message", ""),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_messages_are_the_same_however_the_bytes_come(size: int) -> None:
    chunks = [COMPLETE[at : at + size] for at in range(0, len(COMPLETE), size)]
    assert list(messages(chunks)) == EXPECTED


def test_an_id_with_a_null_is_passed_over() -> None:
    assert list(messages([b"id: 7\ndata: a\n\nid: 8\0\ndata: b\n\nid\ndata: c\n\n"])) == [
        Message("7", "message", "a"),
        Message("7", "message", "b"),
        Message("", "message", "c"),
    ]
