"""Files and tables as new datasets."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, Unpack

import httpx

from relevance_bayes.client.bodies import decoded
from relevance_bayes.client.drivers import Query
from relevance_bayes.client.http import Http
from relevance_bayes.client.table_contents import arrow_parts, arrow_table
from relevance_bayes.types.datasets import Dataset
from relevance_bayes.types.formats import ARROW, media_type_of
from relevance_bayes.types.values import ColumnKind

DATASETS = "/v1/datasets"


class RowReadOptions(TypedDict, total=False):
    """Options of how the rows of a file are read; what is not given, or None, is detected.

    `sheet` is for workbooks, the others for CSV.
    """

    delimiter: str | None
    decimal: Literal[".", ","] | None
    thousands: Literal[".", ",", " ", "'"] | None
    date_format: str | None
    sheet: str | None


class ReadOptions(RowReadOptions, total=False):
    """Options of how the file of a dataset is read: `header` for CSV, `kinds` for columns by name."""

    header: bool | None
    kinds: Mapping[str, ColumnKind] | None


@dataclass(frozen=True)
class UploadedDataset:
    """The dataset of an upload: a new one, or the one that was there with the same name and content."""

    dataset: Dataset
    is_new: bool


async def uploaded(
    http: Http, data: object, name: str, *, key: str | None = None, **options: Unpack[ReadOptions]
) -> Dataset:
    """Upload a file, or a table with `__arrow_c_stream__`; `key` as in `Http.create`. Raises ClientError, OSError."""
    return decoded(await _sent(http, data, {"name": name, **_query(options)}, key), Dataset)


async def uploaded_once(http: Http, data: object, name: str, **options: Unpack[ReadOptions]) -> UploadedDataset:
    """Upload as `uploaded` does; a dataset of the same name and content is used, where there is one."""
    sent = await _sent(http, data, {"name": name, "reuse": "true", **_query(options)}, None)
    return UploadedDataset(decoded(sent, Dataset), is_new=sent.status_code == httpx.codes.CREATED)


async def _sent(http: Http, data: object, query: Query, key: str | None) -> httpx.Response:
    if isinstance(data, Path):
        return await http.send_content(DATASETS, data, media_type=media_type_of(data), query=query, key=key)
    parts = arrow_parts(arrow_table(data))
    return await http.send_content(DATASETS, parts, media_type=ARROW.media_type, query=query, key=key)


def row_query(options: RowReadOptions) -> Query:
    """Return the options of rows as parameters of a URL."""
    return {
        "delimiter": options.get("delimiter"),
        "decimal": options.get("decimal"),
        "thousands": options.get("thousands"),
        "date_format": options.get("date_format"),
        "sheet": options.get("sheet"),
    }


def _query(options: ReadOptions) -> Query:
    header, kinds = options.get("header"), options.get("kinds") or {}
    return {
        **row_query(options),
        "header": None if header is None else str(header).lower(),
        "kinds": [f"{name}:{kind}" for name, kind in kinds.items()] or None,
    }
