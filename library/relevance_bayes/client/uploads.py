"""Files and tables as new datasets."""

from pathlib import Path

from relevance_bayes.client.http import Http
from relevance_bayes.client.table_contents import arrow_parts, arrow_table
from relevance_bayes.types.datasets import Dataset
from relevance_bayes.types.formats import ARROW, media_type_of

DATASETS = "/v1/datasets"


async def uploaded(http: Http, data: object, name: str, *, key: str | None = None) -> Dataset:
    """Upload a file, or a table with `__arrow_c_stream__`; `key` as in `Http.create`. Raises ClientError, OSError."""
    query = {"name": name}
    if isinstance(data, Path):
        return await http.upload(Dataset, DATASETS, data, media_type=media_type_of(data), query=query, key=key)
    parts = arrow_parts(arrow_table(data))
    return await http.upload(Dataset, DATASETS, parts, media_type=ARROW.media_type, query=query, key=key)
