from app.database.engine import Reachability


def test_a_response_to_a_question_from_before_the_last_suspicion_does_not_clear_it() -> None:
    reachability = Reachability()
    before = reachability.suspicions
    reachability.suspect()
    reachability.reached(before)
    assert not reachability.is_reachable
    reachability.reached(reachability.suspicions)
    assert reachability.is_reachable


def test_a_transaction_that_succeeded_clears_any_suspicion() -> None:
    reachability = Reachability()
    reachability.suspect()
    reachability.lost()
    reachability.reached()
    assert (reachability.is_reachable, reachability.is_away) == (True, False)
