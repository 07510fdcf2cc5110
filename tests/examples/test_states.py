from examples.states import PAGE, drawn, redrawn
from relevance_bayes.types.jobs import MOVES


def test_the_page_of_jobs_draws_the_states_as_they_are() -> None:
    page = PAGE.read_text()
    assert drawn() in page
    assert redrawn(page) == page, "draw it anew: python -m examples.states"


def test_every_move_is_drawn_and_no_other() -> None:
    arrows = [line for line in drawn().splitlines() if "-->" in line and "[*]" not in line]
    assert len(arrows) == sum(len(following) for following in MOVES.values())
