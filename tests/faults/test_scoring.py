"""Whatever a worker dies of, what scores ends once too."""

from app.evaluation.jobs import EVALUATION_RESULT
from app.formats.streams import TableStream
from app.identity import BUILT_IN_OWNER
from app.jobs.records import Job
from app.registry.repository import ModelRepository
from relevance_bayes.records.evaluations import EvaluationRequest, EvaluationResult
from relevance_bayes.tables.columns import Block
from tests.faults.conftest import MakePlace, Place, mostly_on_postgresql
from tests.narrowing import of_kind
from tests.small_models import small_version
from tests.small_tables import numbers, texts


def evaluation(place: Place) -> Job:
    """Of a version that was not learned, on four rows."""
    block: Block = {
        "x": numbers(0.5, 1.0, 3.0, 2.0),
        "colour": texts("red", "blue", "red", "blue"),
        "y": numbers(11.0, 9.5, 13.0, 8.0),
    }
    dataset = place.parts.ingest.receive(
        BUILT_IN_OWNER,
        "rows",
        TableStream(names=tuple(block), kinds=("number", "category", "number"), blocks=iter([block])),
    ).dataset
    with place.parts.base.transaction() as tx:
        ModelRepository(tx).add(BUILT_IN_OWNER, small_version())
    return place.parts.scoring.submit(BUILT_IN_OWNER, EvaluationRequest(dataset.id, "small"))


@mostly_on_postgresql
def test_an_evaluation_whose_worker_is_killed_ends_once_with_another(make_place: MakePlace) -> None:
    place = make_place()
    first = place.start_worker()
    job = evaluation(place)
    assert place.started() == [first.pid]
    first.kill()
    second = place.start_worker()
    assert set(place.started(2)) == {first.pid, second.pid}
    place.open_the_gate()
    ended = place.ended(job)
    assert (
        ended.state,
        ended.attempt,
        of_kind(EvaluationResult, EVALUATION_RESULT.read_optional(ended.result)).rows,
    ) == (
        "succeeded",
        2,
        4,
    )
    assert [move.state for move in ended.transitions] == ["queued", "running", "running", "succeeded"]
