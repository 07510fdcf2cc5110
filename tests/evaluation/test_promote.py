"""Aliases that move to what is better, on a real database."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from app.database.keyset import PageRequest
from app.evaluation import promote as under_test
from app.evaluation.jobs import PROMOTION, PROMOTION_RESULT
from app.http.conditional_requests import UNCONDITIONAL
from app.jobs.worker.attempts import JobAttempt
from app.origin import Origin, acting
from app.prediction import PredictRequest, ServedVersion, evaluate_block, predict
from app.registry.alias_repository import AliasRepository
from app.registry.records import MAX_ALIASES
from relevance_bayes.records.evaluations import Criterion, PromotionRequest, PromotionResult
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray, taken
from relevance_bayes.tasks.prediction import LabelledBlock, LabelledNumbers
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.narrowing import of_kind
from tests.scoring_bench import OWNER, Bench, table
from tests.served_versions import served
from tests.small_models import small_version


def better() -> NewSupervisedVersion:
    """The same, whose predictions are all greater by 4."""
    made = small_version()
    encoding = made.predictor.encoding
    higher = replace(encoding, target=replace(encoding.target, shift=encoding.target.shift + 4.0))
    return replace(made, predictor=replace(made.predictor, encoding=higher))


def high() -> Block:
    """Rows that are about what `better` predicts, all with a target and an input that is there."""
    places = np.arange(ROWS_OF_HIGH)
    block: Block = {
        "x": NumberArray(np.linspace(-1.0, 2.0, ROWS_OF_HIGH)),
        "colour": CategoryArray((places % 2).astype(np.int32), ("red", "blue")),
        "y": NumberArray(np.zeros(ROWS_OF_HIGH)),
    }
    mean = of_kind(RegressionPrediction, predict(served(better()), PredictRequest(block))).mean
    return {**block, "y": NumberArray(mean + 0.1 * np.cos(places))}


def low() -> Block:
    """Rows that are about what version 1 predicts."""
    block = high()
    return {**block, "y": NumberArray(of_kind(NumberArray, block["y"]).values - 4.0)}


ROWS_OF_HIGH = 36


@pytest.fixture
def duel(bench: Bench) -> Bench:
    """Version 1, to which `best` points, and the better version 2."""
    bench.version(better())
    point(bench, 1)
    return bench


def point(bench: Bench, number: int, alias: str = "best") -> None:
    with bench.transaction() as tx:
        AliasRepository(tx).move(OWNER, "small", alias, to=number, by="me", reason=None, condition=UNCONDITIONAL)


def request_on(bench: Bench, block: Block) -> PromotionRequest:
    return PromotionRequest(dataset_id=bench.dataset(block).id, model="small", alias="best", version=2)


def holder_of(bench: Bench) -> tuple[int, str | None]:
    with bench.transaction() as tx:
        alias = AliasRepository(tx).get(OWNER, "small", "best")
    return alias.version, alias.reason


def test_an_alias_moves_to_what_is_better_and_its_history_states_why(duel: Bench) -> None:
    job_id = duel.queued(request_on(duel, high()))
    assert duel.run(job_id)
    job = duel.look(job_id)
    found = of_kind(PromotionResult, PROMOTION_RESULT.read_optional(job.result))
    assert (job.state, found.moved, found.rows_without_challenger_loss) == ("succeeded", True, 0)
    assert found.improvement is not None
    assert found.improvement.lower is not None
    assert found.improvement.estimate is not None
    assert 0.0 < found.improvement.lower < found.improvement.estimate
    assert found.improvement.estimate == pytest.approx(4.0, abs=0.2)
    number, reason = holder_of(duel)
    assert (number, reason) == (2, f"Promotion {job_id}: {found.reason}")
    assert "rmse" in found.reason


def test_the_history_of_an_alias_names_the_member_that_submitted_the_promotion(duel: Bench) -> None:
    with acting(Origin("api_key", "key-1", "vision")):
        job_id = duel.queued(request_on(duel, high()))
    with acting(Origin("job", str(job_id))):
        assert duel.run(job_id)
    with duel.transaction() as tx:
        newest, oldest = AliasRepository(tx).history(OWNER, "small", "best", PageRequest(2)).items
    assert (newest.by, newest.to_version, oldest.by) == ("vision", 2, "me")


@pytest.mark.parametrize(
    ("block", "margin", "expected"),
    [(low(), 0.0, "not above the margin"), (high(), 5.0, "not above the margin of 5")],
    ids=["worse", "not by so much"],
)
def test_it_stays_where_the_challenger_is_not_better_enough(
    duel: Bench, block: Block, margin: float, expected: str
) -> None:
    job_id = duel.queued(replace(request_on(duel, block), margin=margin))
    assert duel.run(job_id)
    job = duel.look(job_id)
    found = of_kind(PromotionResult, PROMOTION_RESULT.read_optional(job.result))
    assert (job.state, found.moved) == ("succeeded", False)
    assert expected in found.reason
    assert holder_of(duel) == (1, None)


def test_a_new_alias_is_made_with_the_challengers_figures(bench: Bench) -> None:
    job_id = bench.queued(replace(request_on(bench, table()), version=1))
    assert bench.run(job_id)
    found = of_kind(PromotionResult, PROMOTION_RESULT.read_optional(bench.look(job_id).result))
    assert (found.moved, found.champion, found.improvement, found.challenger.rows) == (True, None, None, 11)
    assert holder_of(bench)[0] == 1


@pytest.mark.parametrize("to", [2, None])
def test_one_whose_alias_was_moved_meanwhile_fails_and_moves_nothing(
    duel: Bench, monkeypatch: pytest.MonkeyPatch, to: int | None
) -> None:
    duel.version(better())
    job_id = duel.queued(replace(request_on(duel, high()), version=3))

    def meanwhile(version: ServedVersion, block: Block) -> LabelledBlock:
        if to is not None:
            point(duel, to)
        elif holder_is_there(duel):
            with duel.transaction() as tx:
                AliasRepository(tx).remove(OWNER, "small", "best", by="me", reason=None, condition=UNCONDITIONAL)
        return evaluate_block(version, block)

    monkeypatch.setattr(under_test, "evaluate_block", meanwhile)
    assert duel.run(job_id)
    job = duel.look(job_id)
    assert job.error is not None
    assert (job.state, job.error.kind, job.result) == ("failed", "alias-moved", None)
    assert holder_is_there(duel) == (to is not None)


def holder_is_there(bench: Bench) -> bool:
    with bench.transaction() as tx:
        return bool(AliasRepository(tx).page(OWNER, "small", limit=1, after=None).items)


def test_a_start_that_another_one_took_over_from_moves_nothing(duel: Bench) -> None:
    job_id = duel.queued(request_on(duel, high()))
    attempt = duel.run.records.begin(job_id)
    assert attempt is not None
    job = attempt.job
    request, plan = PROMOTION.read(job)
    found = under_test.promote(attempt, job, request, plan)
    assert found.moved
    second = duel.run.records.begin(job_id)
    assert second is not None
    under_test.conclude(JobAttempt(attempt.records, job, attempt.number), job, plan, found)
    assert (holder_of(duel)[0], duel.look(job_id).state) == (1, "running")
    under_test.conclude(second, job, plan, found)
    assert (holder_of(duel)[0], duel.look(job_id).state) == (2, "succeeded")


def test_a_challenger_that_leaves_rows_out_is_not_better(duel: Bench, monkeypatch: pytest.MonkeyPatch) -> None:

    def choosy(version: ServedVersion, block: Block) -> LabelledBlock:
        found = evaluate_block(version, block)
        if version.version.number == 1:
            return found
        part = of_kind(LabelledNumbers, found.labelled[0])
        impossible = np.where(np.arange(len(part.log_density)) == 0, -np.inf, part.log_density)
        return replace(found, labelled=(replace(part, log_density=impossible),))

    monkeypatch.setattr(under_test, "evaluate_block", choosy)
    job_id = duel.queued(replace(request_on(duel, high()), metric="nll"))
    assert duel.run(job_id)
    found = of_kind(PromotionResult, PROMOTION_RESULT.read_optional(duel.look(job_id).result))
    assert (found.moved, found.rows_without_challenger_loss) == (False, 8)
    assert "8 rows that the champion predicts" in found.reason


def test_a_model_with_all_the_aliases_it_may_have_gets_no_more(bench: Bench) -> None:
    for number in range(MAX_ALIASES):
        point(bench, 1, f"a{number}")
    job_id = bench.queued(replace(request_on(bench, table()), version=1))
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert (job.state, job.error.kind) == ("failed", "alias-refused")


def test_one_row_moves_nothing_whatever_has_to_be_above_the_margin(duel: Bench) -> None:
    one = {name: taken(column, slice(0, 1)) for name, column in high().items()}
    for by in get_args(Criterion):
        job_id = duel.queued(replace(request_on(duel, one), criterion=by))
        assert duel.run(job_id)
        job = duel.look(job_id)
        found = of_kind(PromotionResult, PROMOTION_RESULT.read_optional(job.result))
        assert (job.state, found.moved) == ("succeeded", False)
        assert found.reason.startswith("rmse ")
        assert "but only 1 row was compared, and at least 30 are needed." in found.reason
    assert holder_of(duel) == (1, None)


def test_rows_of_one_group_are_one_piece_of_evidence(duel: Bench) -> None:
    for groups, moves in (("colour", False), (None, True)):
        job_id = duel.queued(replace(request_on(duel, high()), groups=groups))
        assert duel.run(job_id)
        found = of_kind(PromotionResult, PROMOTION_RESULT.read_optional(duel.look(job_id).result))
        assert found.moved == moves, found.reason
        if groups is not None:
            assert found.improvement is not None
            assert (found.improvement.groups, found.improvement.effective_groups) == (2, 2.0)
            assert "only 2 groups were compared, and at least 10 are needed" in found.reason


def test_where_training_rows_are_not_known_the_reason_reports_it(duel: Bench) -> None:
    job_id = duel.queued(request_on(duel, high()))
    assert duel.run(job_id)
    found = of_kind(PromotionResult, PROMOTION_RESULT.read_optional(duel.look(job_id).result))
    assert found.moved
    assert found.reason.endswith("The rows that versions 2 and 1 learned from are not known, so none was left out.")
    assert (found.rows_seen_in_training, found.challenger.rows_seen_in_training) == (0, None)
