from examples.states import PAGE, renewed, table
from relevance_bayes.records.jobs import MOVES


def test_the_page_of_jobs_lists_the_moves_as_they_are() -> None:
    page = PAGE.read_text()
    assert table() in page
    assert renewed(page) == page, "write it anew: python -m examples.states"


def test_every_move_is_listed_and_no_other() -> None:
    moves = [line for line in table().splitlines() if line.startswith("| `")]
    assert len(moves) == sum(len(following) for following in MOVES.values())
