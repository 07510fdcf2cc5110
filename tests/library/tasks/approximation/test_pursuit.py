import numpy as np
import pytest

from relevance_bayes.core.fitting import FitLog
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.approximation import pursuit
from relevance_bayes.tasks.approximation.pursuit import pursue

rng = np.random.default_rng(0)
G = rng.standard_normal((40, 60))
G /= np.linalg.norm(G, axis=0)


def missed(t: Array, chosen: tuple[int, ...]) -> float:
    """By least squares."""
    columns = G[:, list(chosen)]
    return float(np.linalg.norm(t - columns @ np.linalg.lstsq(columns, t)[0])) if chosen else float(np.linalg.norm(t))


def ways(t: Array, error: float, max_terms: int = 60) -> list[tuple[tuple[int, ...], float]]:
    reported: list[tuple[tuple[int, ...], float]] = []
    walk = pursue(
        G,
        t,
        error=error,
        max_functions=max_terms,
        visit=lambda chosen, error: reported.append((chosen, error)),
        fit_log=FitLog(),
    )
    assert [*walk][-1] == 0
    return reported


def test_what_is_reported_to_be_missed_is_what_least_squares_miss() -> None:
    t = rng.standard_normal(40)
    reported = ways(t / np.linalg.norm(t), 0.1)
    assert len(reported) > 60
    for chosen, error in reported:
        assert len(set(chosen)) == len(chosen)
        assert error == pytest.approx(missed(t / np.linalg.norm(t), chosen), abs=1e-9)


def test_each_that_enters_gains_most_and_each_that_leaves_is_missed_least() -> None:
    t = G[:, :9] @ rng.standard_normal(9) + 0.05 * rng.standard_normal(40)
    steps = ways(t, 0.2)
    entered = left = 0
    for (before, _), (after, error) in zip([((), 0.0), *steps], steps, strict=False):
        if len(after) == len(before) + 1:
            entered += 1
            assert error <= min(missed(t, (*before, number)) for number in range(60) if number not in before) + 1e-9
        if len(after) == len(before) - 1:
            left += 1
            assert error <= min(missed(t, tuple(one for one in before if one != out)) for out in before) + 1e-9
    assert entered > 9
    assert left > 9


def test_a_sum_of_few_is_found_whatever_entered_first() -> None:
    """The sum of all seven, which is no part of it, is nearest to it at first."""
    seven = list(range(3, 10))
    total = G[:, seven].sum(axis=1)
    offered = np.column_stack([G, total / np.linalg.norm(total)])
    t = G[:, seven] @ np.linspace(0.7, 1.3, 7)
    shortest: list[tuple[int, ...]] = []

    def record(chosen: tuple[int, ...], error: float) -> None:
        if error < 1e-6:
            shortest.append(chosen)

    list(pursue(offered, t, error=1e-6, max_functions=60, visit=record, fit_log=FitLog()))
    assert shortest[0][0] == 60
    smallest = min(shortest, key=lambda chosen: len(chosen))
    assert len(smallest) == 7
    assert set(smallest) < {*seven, 60}


@pytest.mark.parametrize("max_terms", [1, 4])
def test_so_many_at_most_are_chosen_with_care(max_terms: int) -> None:
    """By a way back from more, which is no worse than the way forward."""
    t = G[:, :9] @ rng.standard_normal(9)
    reported = ways(t, 1e-3, max_terms)
    first = next(error for chosen, error in reported if len(chosen) == max_terms)
    assert max(len(chosen) for chosen, _ in reported) > max_terms
    assert min(error for chosen, error in reported if len(chosen) == max_terms) <= first


def test_a_basis_that_is_made_anew_on_the_way_leads_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    t = G[:, :9] @ rng.standard_normal(9) + 0.05 * rng.standard_normal(40)
    at_once = ways(t, 0.05)
    monkeypatch.setattr(pursuit, "REBUILT", 4)
    monkeypatch.setattr(pursuit, "REFACTORED", 3)
    anew = dict(ways(t, 0.05))
    for chosen, error in at_once:
        assert anew[chosen] == pytest.approx(error, abs=1e-9)
