"""The conversion of earlier formats of documents."""

import pytest

from relevance_bayes.core.algorithms.state import Price
from relevance_bayes.documents.former_members import Json, with_temperatures
from relevance_bayes.documents.models.earlier import EarlierModel, earlier_evidence, upgraded_report
from tests.narrowing import of_kind


@pytest.mark.parametrize(("sharpness", "temperature"), [(2.0, 0.5), (4, 0.25), ("learned", "learned")])
def test_a_sharpness_becomes_a_temperature_wherever_it_is(sharpness: float | str, temperature: float | str) -> None:
    beside: dict[str, Json] = {"type": "one_against_rest", "classes": 3, "zeta": 1}
    earlier: Json = {"alternatives": [{"likelihood": {**beside, "sharpness": sharpness}}], "seed": 1}
    expected = {"alternatives": [{"likelihood": {**beside, "temperature": temperature}}], "seed": 1}
    assert with_temperatures(earlier) == expected


@pytest.mark.parametrize("likelihood", [{"type": "categorical", "sharpness": 2.0}, {"type": "one_against_rest"}])
def test_other_likelihoods_stay_as_they_are(likelihood: Json) -> None:
    assert with_temperatures({"likelihood": likelihood}) == {"likelihood": likelihood}


@pytest.mark.parametrize(("candidates", "functions"), [(1, 1), (2, 1), (3, 3), (9, 2), (100, 5), (100, 60)])
def test_the_price_of_an_earlier_model_is_that_of_its_choice_of_functions(candidates: int, functions: int) -> None:
    model = EarlierModel(-12.0, functions, candidates, 0.0, 0.0, 0.1, 1.0, 0.0)
    found = earlier_evidence(model, {"type": "independent", "price": True}, {"type": "gaussian"})
    assert found.price == pytest.approx(Price(candidates, 1.0).of(functions), rel=1e-12)


@pytest.mark.parametrize(("rho", "kind"), [(1.0, "exact"), (0.5, "lower_bound"), (0.0, "lower_bound")])
def test_the_evidence_of_an_earlier_process_is_exact_only_where_rho_is_one(rho: float, kind: str) -> None:
    model = EarlierModel(-12.0, 3, 9, 0.0, 0.0, 0.1, 1.0, 0.0)
    found = earlier_evidence(model, {"type": "gaussian_process", "rho": rho}, {"type": "gaussian"})
    assert (found.value, found.kind) == (-12.0, kind)


@pytest.mark.parametrize(
    ("likelihood", "kind"),
    [("gaussian", "exact"), ("poisson", "laplace"), ("student_t", "lower_bound"), ("categorical", "lower_bound")],
)
def test_the_evidence_of_an_earlier_model_is_of_the_kind_that_its_likelihood_has(likelihood: str, kind: str) -> None:
    model = EarlierModel(-12.0, 3, 9, 0.0, 0.0, 0.1, 1.0, 0.0)
    assert earlier_evidence(model, {"type": "independent"}, {"type": likelihood}).kind == kind


ONE_WIDTH: list[Json] = [{"input": None, "width": 2.0}]
WIDTHS_BY_INPUT: list[Json] = [{"input": "a", "width": 2.0}, {"input": "b", "width": 3.0}]
WIDTH_OF_ONE_INPUT: list[Json] = [{"input": "a", "width": 2.0}]


@pytest.mark.parametrize(
    ("widths", "score"),
    [(ONE_WIDTH, 0.1), (WIDTHS_BY_INPUT, 0.2), (WIDTH_OF_ONE_INPUT, 0.2)],
    ids=["one", "by input", "of the only input"],
)
def test_an_earlier_member_has_the_score_of_the_dictionary_with_its_number_of_widths(
    widths: list[Json], score: float
) -> None:
    compared: list[Json] = [
        {"basis": {"kernel": "gaussian", "width": {"type": "evidence"}, "warp": None}, "score": 0.1},
        {"basis": {"kernel": "gaussian", "width": {"type": "evidence_by_input"}, "warp": None}, "score": 0.2},
    ]
    member: Json = {"kernel": "gaussian", "weight": 1.0, "functions": 3, "widths": widths, "warps": []}
    report: dict[str, Json] = {"plan": {}, "members": [member], "compared": compared}
    found = upgraded_report(report, [EarlierModel(-12.0, 3, 9, 0.0, 0.0, 0.1, 1.0, 0.0)], 3)
    own, others = of_kind(list, found["members"]), of_kind(list, found["alternatives"])
    assert [one["score"] for one in own + others] == [score, pytest.approx(0.3 - score)]
