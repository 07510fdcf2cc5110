"""Tables of other libraries, on a real application."""

import sys
from collections.abc import Iterator

import httpx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from relevance_bayes.client import AsyncClient, Client, ClientError
from relevance_bayes.client.uploads import arrow_parts, arrow_table, slices
from tests.library.client.conftest import Connected, Handler
from tests.library.client.test_async_client import MODEL, run

ROWS = {"x": [1.0, None, 3.0], "label": ["a", None, "b"], "flag": [True, False, None]}
PREDICTED = pa.table({"mean": [1.5, 2.5]}, schema=pa.schema([("mean", pa.float64())], {"model": "m", "version": "3"}))
VERSION = "/v1/models/m/versions/3"


def stream_of(table: pa.Table) -> bytes:
    return b"".join(arrow_parts(table))


def respond(table: pa.Table = PREDICTED) -> Handler:
    return lambda _: httpx.Response(200, content=stream_of(table))


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(ROWS, index=[7, 8, 9]), pl.DataFrame(ROWS), pa.table(ROWS)],
    ids=["pandas", "polars", "pyarrow"],
)
def test_tables_of_each_library_are_sent_with_their_columns_and_gaps(connected: Connected, table: object) -> None:
    dataset = {"id": "d", "name": "n", "created_at": MODEL["created_at"], "rows": 3, "digest": "", "columns": []}
    pair = connected({"POST /v1/datasets": lambda _: httpx.Response(201, json=dataset)})
    assert pair.client.tables.upload(arrow_table(table), name="n").rows == 3
    assert pair.client.tables.upload(table, name="n", key="k").id == "d"  # type: ignore[arg-type]  # of any library
    first, second = pair.service.requested
    assert first.headers["Content-Type"] == "application/vnd.apache.arrow.stream"
    assert first.content == second.content
    assert first.headers["Content-Length"] == str(len(first.content))
    assert pa.ipc.open_stream(first.content).read_all().to_pydict() == ROWS


def test_columns_are_sent_from_their_own_memory() -> None:
    values = np.arange(100_000.0)
    for table in (pa.table({"x": values}), pl.DataFrame({"x": values})):
        (sent,) = (part for part in arrow_parts(arrow_table(table)) if len(part) > 1000)
        assert np.frombuffer(sent, np.uint8).ctypes.data == table["x"].to_numpy().ctypes.data
    (sent,) = (part for part in arrow_parts(pa.table({"x": values})) if len(part) > 1000)
    assert np.frombuffer(sent, np.uint8).ctypes.data == values.ctypes.data


def test_predictions_share_the_memory_of_the_response(connected: Connected) -> None:
    many = pa.table({"mean": np.arange(1000.0)}).replace_schema_metadata(PREDICTED.schema.metadata)
    predicted = connected({"POST /v1/models/m/predict": respond(many)}).client.tables.predict("m", pa.table(ROWS))
    begin = np.frombuffer(predicted.content, np.uint8).ctypes.data
    for values in (predicted.to_numpy("mean"), pl.DataFrame(predicted)["mean"].to_numpy()):
        assert begin <= values.ctypes.data < begin + len(predicted.content)
        assert np.array_equal(values, np.arange(1000.0))
    assert (predicted.model, predicted.version, len(predicted)) == ("m", 3, 1000)
    assert predicted.to_pandas()["mean"].tolist() == predicted.to_polars()["mean"].to_list() == values.tolist()
    assert predicted.column_names == ("mean",)


def test_options_are_parameters(connected: Connected) -> None:
    pair = connected({f"POST {VERSION}/predict": respond()})
    pair.client.tables.predict(
        "m", pa.table(ROWS), version=3, interval=0.9, outputs=["mean", "sd"], costs=[[0, 1], [2, 0]],
        class_priors={True: 0.5, False: 0.5},
    )  # fmt: skip
    (request,) = pair.service.requested
    assert request.url.params.multi_items() == [
        ("interval", "0.9"), ("outputs", "mean"), ("outputs", "sd"),
        ("costs", "[[0,1],[2,0]]"), ("class_priors", '[{"label":true,"prior":0.5},{"label":false,"prior":0.5}]'),
    ]  # fmt: skip


def test_batches_are_of_one_version_whatever_is_trained_in_between(connected: Connected) -> None:
    model = httpx.Response(200, json=MODEL | {"latest": 3, "aliases": {"best": 3}})
    pair = connected({"GET /v1/models/m": lambda _: model, f"POST {VERSION}/predict": respond()})
    table = pa.table({"x": [*range(7)]})
    for version in (None, "best", 3):
        batches = [*pair.client.tables.predict_batches("m", table, version=version, batch_rows=3)]
        assert [len(batch) for batch in batches] == [2, 2, 2]
    sent = [request for request in pair.service.requested if request.method == "POST"]
    assert [pa.ipc.open_stream(one.content).read_all()["x"].to_pylist() for one in sent[:3]] == [
        [0, 1, 2],
        [3, 4, 5],
        [6],
    ]
    with pytest.raises(ClientError, match="no such version"):
        next(pair.client.tables.predict_batches("m@other", table))


def test_rows_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def rows() -> Iterator[dict[str, int]]:
        for number in range(100):
            taken.append(number)
            yield {"x": number}

    async def first(client: AsyncClient) -> float | None:
        async for prediction in client.tables.predict_rows("m", rows(), version=3, batch_rows=10, interval=0.5):
            return prediction.mean
        raise AssertionError

    response = {"model": "m", "version": 3, "predictions": [{"mean": 1.5}] * 10}
    found, service = run({f"POST {VERSION}/predict": lambda _: httpx.Response(200, json=response)}, first)
    assert (found, taken) == (1.5, [*range(10)])
    assert service.requested[0].content.endswith(b'{"x":9}],"interval":0.5}')


@pytest.mark.parametrize("shape", [(3, 2), (0, 2)])
def test_arrays_are_sent_and_received_as_npy(connected: Connected, shape: tuple[int, int]) -> None:
    given = np.arange(6.0).reshape(3, 2)[: shape[0]]
    pair = connected({"POST /v1/models/m/predict": lambda request: httpx.Response(200, content=request.content)})
    for array in (given, np.asfortranarray(given), given.astype(np.float32)):
        made = pair.client.tables.predict_array("m", array)
        assert np.array_equal(made, given)
        assert not made.flags.writeable
        assert not made.flags.owndata
    assert {one.headers["Accept"].partition(",")[0] for one in pair.service.requested} == {"application/x-npy"}


def test_columns_of_each_library_are_lists_in_json(connected: Connected) -> None:
    pair = connected(
        {
            "POST /v1/models/m/predict": lambda _: httpx.Response(
                200, json={"model": "m", "version": 1, "predictions": []}
            )
        }
    )
    values = [1.0, float("nan")]
    for column in (np.array(values), pd.Series(values), pl.Series(values), pa.array(values)):
        pair.client.predict("m", {"columns": {"x": column}})  # type: ignore[dict-item]  # more than JSON
    assert {one.content for one in pair.service.requested} == {b'{"columns":{"x":[1.0,null]}}'}


def test_what_is_no_table_is_stated(connected: Connected) -> None:
    client: Client = connected({}).client
    with pytest.raises(ClientError, match="Expected a table with `__arrow_c_stream__`, got a list"):
        client.tables.upload([1, 2], name="n")  # type: ignore[arg-type]  # the error is tested
    with pytest.raises(ClientError, match="The table has no form in Arrow"):
        client.tables.upload(pd.DataFrame({"x": [1, "a", object()]}), name="n")


def test_a_missing_pyarrow_is_stated(connected: Connected, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ClientError, match=r"install relevance-bayes\[arrow\]"):
        connected({}).client.tables.upload(pl.DataFrame(ROWS), name="n")


def test_a_table_without_rows_is_one_slice() -> None:
    assert [part.num_rows for part in slices(pa.table({"x": pa.array([], pa.float64())}), 5)] == [0]
