"""Files, their contents and tables as new datasets, on a real application."""

import io
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from starlette.testclient import TestClient

from relevance_bayes.client import Client, ClientError
from relevance_bayes.client.uploads import Uploadable
from tests.library.client.conftest import Connected, Handler

CSV = b"x,label\n1.5,a\n2.5,b\n,a\n"
TABLE = pa.table({"x": [1.5, 2.5, None], "label": ["a", "b", "a"]})


def forwarded(application: TestClient) -> Handler:
    """The response of an application that another library calls."""

    def response(request: httpx.Request) -> httpx.Response:
        headers = {**request.headers, "host": "localhost"}
        sent = application.request(
            request.method, request.url.raw_path.decode(), content=request.content, headers=headers
        )
        return httpx.Response(sent.status_code, content=sent.content, headers={"Content-Type": "application/json"})

    return response


@pytest.fixture
def uploader(connected: Connected, client: TestClient) -> Client:
    return connected({"POST /v1/datasets": forwarded(client)}).client


def written(suffix: str) -> bytes:
    """The content of a file of the table."""
    if suffix == ".csv":
        return CSV
    file = io.BytesIO()
    if suffix == ".parquet":
        parquet.write_table(TABLE, file)
    elif suffix == ".feather":
        feather.write_feather(TABLE, file)
    else:
        with pa.ipc.new_stream(file, TABLE.schema) as stream:
            stream.write_table(TABLE)
    return file.getvalue()


def test_a_path_is_a_text_as_well(uploader: Client, tmp_path: Path) -> None:
    (file := tmp_path / "rows.csv").write_bytes(CSV)
    by_text, by_path = uploader.upload(str(file)), uploader.upload(file)
    assert (by_text.name, by_text.rows, by_text.digest) == ("rows", 3, by_path.digest)
    assert not uploader.upload_once(str(file)).is_new


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".arrow"])
def test_bytes_are_read_as_what_they_begin_as(uploader: Client, suffix: str, tmp_path: Path) -> None:
    (file := tmp_path / f"rows{suffix}").write_bytes(written(suffix))
    dataset = uploader.upload(written(suffix), name="rows")
    assert dataset.columns == uploader.upload(file).columns
    assert uploader.upload(written(suffix)).name == "dataset"


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(TABLE.to_pydict(), index=[7, 8, 9]), pl.DataFrame(TABLE.to_pydict()), TABLE],
    ids=["pandas", "polars", "pyarrow"],
)
def test_a_table_of_each_library_is_the_same_dataset(uploader: Client, table: Uploadable) -> None:
    dataset = uploader.upload(table, name="rows")
    assert dataset.digest == uploader.upload(CSV).digest
    assert not uploader.upload_once(table, name="rows").is_new


def test_the_format_of_bytes_may_be_named(uploader: Client) -> None:
    assert uploader.upload(b'{"columns": {"x": [1, 2, 3]}}', format="json").rows == 3
    array = io.BytesIO()
    np.save(array, np.zeros((4, 3)))
    assert uploader.upload(array.getvalue()).image is not None
    with pytest.raises(ClientError, match="There is no format 'excel'"):
        uploader.upload(CSV, format="excel")


def test_what_can_not_be_uploaded_is_an_error_of_the_client(uploader: Client, tmp_path: Path) -> None:
    for path in (tmp_path / "absent.csv", tmp_path, str(tmp_path / "absent.csv"), "a\0b"):
        with pytest.raises(ClientError, match="The file can't be read"):
            uploader.upload(path)
    with pytest.raises(ClientError, match="Expected a table with `__arrow_c_stream__`, got a list"):
        uploader.upload([1, 2])  # type: ignore[arg-type]  # the error is tested
