"""Files and tables as new datasets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from relevance_bayes.client.drivers import Query
from relevance_bayes.client.http import Http
from relevance_bayes.client.table_contents import arrow_parts, arrow_table
from relevance_bayes.types.datasets import Dataset
from relevance_bayes.types.formats import ARROW, media_type_of
from relevance_bayes.types.values import ColumnKind

DATASETS = "/v1/datasets"


class ReadOptions(TypedDict, total=False):
    """Options of how a file is read; what is not given, or None, is detected.

    `delimiter`, `decimal`, `thousands` and `header` are for CSV, `sheet` for workbooks, `kinds` for columns by name.
    """

    delimiter: str | None
    decimal: Literal[".", ","] | None
    thousands: Literal[".", ",", " ", "'"] | None
    header: bool | None
    sheet: str | None
    kinds: Mapping[str, ColumnKind] | None


async def uploaded(
    http: Http, data: object, name: str, *, key: str | None = None, **options: Unpack[ReadOptions]
) -> Dataset:
    """Upload a file, or a table with `__arrow_c_stream__`; `key` as in `Http.create`. Raises ClientError, OSError."""
    query = {"name": name, **_query(options)}
    if isinstance(data, Path):
        return await http.upload(Dataset, DATASETS, data, media_type=media_type_of(data), query=query, key=key)
    parts = arrow_parts(arrow_table(data))
    return await http.upload(Dataset, DATASETS, parts, media_type=ARROW.media_type, query=query, key=key)


def _query(options: ReadOptions) -> Query:
    header, kinds = options.get("header"), options.get("kinds") or {}
    return {
        "delimiter": options.get("delimiter"),
        "decimal": options.get("decimal"),
        "thousands": options.get("thousands"),
        "header": None if header is None else str(header).lower(),
        "sheet": options.get("sheet"),
        "kinds": [f"{name}:{kind}" for name, kind in kinds.items()] or None,
    }
