"""Rows kept behind the response: stored in batches, sampled, dropped and counted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import select

from app.database.transaction import OpenTransaction, Transaction
from app.errors import ConflictError, MalformedBodyError, UnavailableError
from app.inference.rpc.generated.open_inference_pb2 import ModelInferRequest
from app.inference.rpc.messages import RpcCodec
from app.metrics import Numbers
from app.outcomes import recorder as recording
from app.outcomes.recorder import RECORDED, Recorder, is_sampled
from app.outcomes.tables import RecordedPredictionRow
from app.prediction import PredictRequest, ServedVersion, predict
from app.prediction.predict import RowIds
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.prediction import RowPredictions
from tests.applications import StoredParts
from tests.outcomes.conftest import Service
from tests.small_tables import numbers, texts
from tests.waiting import until

OWNER = "local"


class Gate:
    """Transactions that fail with an error while there is one."""

    def __init__(self, transaction: OpenTransaction) -> None:
        self._transaction = transaction
        self.error: Exception | None = None
        self.opened = 0

    @contextmanager
    def open(self) -> Iterator[Transaction]:
        self.opened += 1
        if self.error is not None:
            raise self.error
        with self._transaction() as tx:
            yield tx


@pytest.fixture
def numbers_of() -> Numbers:
    return Numbers()


@pytest.fixture
def gate(service: Service) -> Gate:
    return Gate(service.parts.transaction)


@pytest.fixture
def recorder(gate: Gate, numbers_of: Numbers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    monkeypatch.setattr(recording, "FLUSH_SECONDS", 3600.0)  # a test stores rows itself
    made = Recorder(gate.open, numbers=numbers_of)
    yield made
    gate.error = None
    made.close()


@pytest.fixture
def note(recorder: Recorder, service: Service) -> Callable[[RowIds], None]:
    served = service.parts.prediction.version(OWNER, "small", 1)

    def note(row_ids: RowIds) -> None:
        recorder.note(served, *predicted(served, row_ids))

    return note


def predicted(served: ServedVersion, row_ids: RowIds) -> tuple[PredictRequest, RowPredictions]:
    block: Block = {"x": numbers(*map(float, range(len(row_ids)))), "colour": texts(*["red"] * len(row_ids))}
    request = PredictRequest(block, row_ids=row_ids)
    return request, predict(served, request)


def kept(parts: StoredParts) -> dict[str, str]:
    with parts.transaction() as tx:
        row = RecordedPredictionRow
        return {one.row_id: one.inputs for one in tx.session.execute(select(row.row_id, row.inputs))}


def counted(found: Numbers) -> dict[str, int]:
    return {one.labels[0]: int(one.numbers[0]) for one in found.samples() if one.family == RECORDED}


def share(service: Service, record: float) -> None:
    assert service.client.patch("/v1/models/small", json={"record": record}).status_code == 200


def test_rows_are_stored_with_their_inputs_in_one_transaction(
    note: Callable[[RowIds], None], recorder: Recorder, service: Service, gate: Gate, numbers_of: Numbers
) -> None:
    for place in range(20):
        note([f"{place}-0", f"{place}-1"])
    assert kept(service.parts) == {}
    recorder.flush()
    assert gate.opened == 1
    assert kept(service.parts) == {f"{place}-{row}": f'[{row}.0,"red"]' for place in range(20) for row in range(2)}
    assert counted(numbers_of) == {"recorded": 40, "not_sampled": 0, "dropped": 0}


def test_a_share_of_rows_is_recorded_by_their_ids_alone(
    note: Callable[[RowIds], None], recorder: Recorder, service: Service, numbers_of: Numbers
) -> None:
    ids = [f"row {number}" for number in range(1_000)]
    share(service, 0.25)
    note(ids)
    recorder.flush()
    assert set(kept(service.parts)) == {one for one in ids if is_sampled(one, 0.25)}
    assert 200 < len(kept(service.parts)) < 300
    assert {one for one in ids if is_sampled(one, 0.25)} < {one for one in ids if is_sampled(one, 0.5)}
    assert counted(numbers_of)["not_sampled"] == 1_000 - len(kept(service.parts))


def test_of_a_long_request_only_the_share_waits(
    note: Callable[[RowIds], None], recorder: Recorder, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(service, 0.1)
    note(["first"])
    recorder.flush()  # it knows the share now
    ids = [f"row {number}" for number in range(2_000)]
    monkeypatch.setattr(recording, "MAX_CELLS", 3 * 400)
    note(ids)
    recorder.flush()
    assert set(kept(service.parts)) - {"first"} == {one for one in ids if is_sampled(one, 0.1)}


def test_rows_wait_while_the_database_is_away_and_are_dropped_where_the_buffer_is_full(
    note: Callable[[RowIds], None],
    recorder: Recorder,
    service: Service,
    gate: Gate,
    numbers_of: Numbers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recording, "MAX_CELLS", 3 * 2)
    gate.error = UnavailableError("away")
    note(["a", "b"])
    note(["c"])
    with pytest.raises(UnavailableError):
        recorder.flush()
    gate.error = None
    recorder.flush()
    note(["d"])
    recorder.flush()
    assert set(kept(service.parts)) == {"a", "b", "d"}
    assert counted(numbers_of) == {"recorded": 3, "not_sampled": 0, "dropped": 1}


def test_rows_that_the_database_refuses_are_dropped(
    note: Callable[[RowIds], None], recorder: Recorder, service: Service, gate: Gate, numbers_of: Numbers
) -> None:
    gate.error = ConflictError("refused")
    note(["a"])
    recorder.flush()
    gate.error = None
    note(["b"])
    recorder.flush()
    assert set(kept(service.parts)) == {"b"}
    assert counted(numbers_of) == {"recorded": 1, "not_sampled": 0, "dropped": 1}


def test_rows_of_a_version_that_was_deleted_meanwhile_are_not_recorded(
    note: Callable[[RowIds], None], recorder: Recorder, service: Service, numbers_of: Numbers
) -> None:
    note(["a"])
    assert service.client.delete("/v1/models/small").status_code == 204
    recorder.flush()
    assert (kept(service.parts), counted(numbers_of)["recorded"]) == ({}, 0)


def test_the_rest_is_stored_at_shutdown_and_counted_as_dropped_where_it_cant_be(
    note: Callable[[RowIds], None], recorder: Recorder, service: Service
) -> None:
    note(["a"])
    recorder.close()
    assert set(kept(service.parts)) == {"a"}
    note(["b"])
    assert set(kept(service.parts)) == {"a"}


def test_a_thread_stores_what_was_predicted(service: Service) -> None:
    body = {"rows": [{"x": 1.0, "colour": "red"}], "row_ids": ["a"]}
    assert service.client.post("/v1/models/small/predict", json=body).status_code == 200
    until(lambda: set(kept(service.parts)) == {"a"})


def test_an_outage_delays_no_prediction(service: Service, gate: Gate, numbers_of: Numbers) -> None:
    """The thread tries again until the database is back."""
    gate.error = UnavailableError("away")
    recorder = Recorder(gate.open, numbers=numbers_of)
    served = service.parts.prediction.version(OWNER, "small", 1)
    recorder.note(served, *predicted(served, ["a"]))
    until(lambda: gate.opened > 1)
    gate.error = None
    until(lambda: set(kept(service.parts)) == {"a"})
    recorder.close()


def test_what_is_left_in_an_outage_is_counted_as_dropped(service: Service, gate: Gate, numbers_of: Numbers) -> None:
    gate.error = UnavailableError("away")
    recorder = Recorder(gate.open, numbers=numbers_of)
    served = service.parts.prediction.version(OWNER, "small", 1)
    recorder.note(served, *predicted(served, ["a", "b"]))
    recorder.close()
    assert counted(numbers_of) == {"recorded": 0, "not_sampled": 0, "dropped": 2}


def test_row_ids_over_grpc_are_the_texts_of_an_input(service: Service) -> None:
    served = service.parts.prediction.version(OWNER, "small", 1)
    message = ModelInferRequest(model_name="small")
    message.inputs.add(name="x", datatype="FP64", shape=[2]).contents.fp64_contents.extend([1.0, 2.0])
    message.inputs.add(name="colour", datatype="BYTES", shape=[2]).contents.bytes_contents.extend([b"red", b"blue"])
    message.inputs.add(name="order", datatype="BYTES", shape=[2]).contents.bytes_contents.extend([b"a", b"b"])
    message.parameters["row_ids"].string_param = "order"
    request = RpcCodec(message, 10).read_inline(served)
    assert request is not None
    assert [*request.row_ids] == ["a", "b"]
    assert [*request.block] == ["x", "colour"]
    message.parameters["row_ids"].int64_param = 1
    with pytest.raises(MalformedBodyError):
        RpcCodec(message, 10).read_inline(served)
