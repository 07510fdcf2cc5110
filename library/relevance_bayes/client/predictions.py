"""Predictions: their options, and those for files, tables and arrays of other libraries."""

import io
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import (
    TYPE_CHECKING,  # noqa: TID251 - pyarrow, pandas and polars are extras
    Literal,
    TypedDict,
    Unpack,
)

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.http import UPLOAD_SECONDS, parameters, part, reference, version_path
from relevance_bayes.client.responses import Dataset, Prediction, Predictions
from relevance_bayes.client.uploads import ArrowTable, arrow_parts, arrow_table, slices, uploaded
from relevance_bayes.records.formats import ARROW, NPY, RowReadOptions, by_name, media_type_of
from relevance_bayes.records.html import table_html
from relevance_bayes.records.json import JsonInput, exclude_none
from relevance_bayes.records.models import Model
from relevance_bayes.records.predictions import Nulls, UnknownCategories
from relevance_bayes.records.values import Json, Label


class SharedOptions(TypedDict, total=False):
    """Options of all predictions, as of `Client.predict`; `on_error="per_row"` predicts for all valid rows."""

    interval: float | None
    on_error: Literal["fail", "per_row"] | None
    class_priors: Mapping[Label, float] | None
    costs: Sequence[Sequence[float]] | None
    reject_cost: float | None
    components: int | None
    unknown_categories: UnknownCategories | None
    nulls: Nulls | None


class PredictionOptions(SharedOptions, total=False):
    """Options of predictions in formats other than JSON; `outputs` are the figures to predict."""

    outputs: Sequence[str] | None


class JsonOptions(SharedOptions, total=False):
    """Options of predictions in JSON: functions to explain each by, covariance of all, ids of rows or their column."""

    explain: int | None
    covariance: bool | None
    row_ids: Sequence[str] | str | None


class FilePredictionOptions(PredictionOptions, RowReadOptions, total=False):
    """Options of predictions for files, whose ids of rows are in the column `row_ids`."""

    explain: int | None
    row_ids: str | None
    csv_escape_formulas: bool


class BatchOptions(PredictionOptions, total=False):
    """Options of batch predictions; `keep` are columns of the dataset that precede the predictions."""

    format: str | None
    keep: Sequence[str]
    csv_escape_formulas: bool | None
    priority: int


def request_members(options: SharedOptions) -> dict[str, object]:
    """Return options as members of a request, without those that are None."""
    return exclude_none({**options, "class_priors": listed_priors(options.get("class_priors"))})


def listed_priors(priors: Mapping[Label, float] | None) -> list[Json] | None:
    """Return class priors as the API's list: a JSON object would make all labels strings."""
    return None if priors is None else [{"label": label, "prior": prior} for label, prior in priors.items()]


@dataclass(frozen=True)
class Files(Calls[M]):
    """Predictions for files in the service's formats; every method raises ClientError as those of `Client` do."""

    @call
    async def predict(
        self,
        name: str,
        file: Path,
        response_format: str,
        *,
        version: int | str | None = None,
        **options: Unpack[FilePredictionOptions],
    ) -> bytes:
        """Predict for the rows of a file, whose format follows from its suffix; return the response, a row for each.

        `response_format` is the name of a format, such as "csv". Options as of `Client.predict`; a JSON file
        contains its options. `delimiter`, `decimal`, `thousands`, `date_format` and `encoding` describe a CSV,
        `missing_values` and `skip_rows` a CSV or a workbook, whose sheet is `sheet`. Raises OSError, LookupError for an
        unknown format.
        """
        return await self.http.post_bytes(
            f"{version_path(name, version)}/predict",
            file,
            media_type=media_type_of(file),
            response_type=by_name(response_format).media_type,
            query=parameters(request_members(options)),
            deadline=UPLOAD_SECONDS,
        )


if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

SHOWN_ROWS = 20
"""The rows of a table in a notebook."""


@dataclass(frozen=True, eq=False)
class PredictedTable:
    """Predictions for the rows of a table, in their order; `content` is an Arrow stream.

    It exports Arrow's C stream, which polars and pyarrow read without a copy.
    """

    content: bytes

    @cached_property
    def _table(self) -> "pa.Table":
        import pyarrow as pa

        return pa.ipc.open_stream(pa.py_buffer(self.content)).read_all()

    def __len__(self) -> int:
        return self._table.num_rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        table: ArrowTable = self._table
        return table.__arrow_c_stream__(requested_schema)

    @property
    def model(self) -> str:
        """Return the name of the model that predicted."""
        return self._metadata(b"model")

    @property
    def version(self) -> int:
        """Return the number of the version that predicted."""
        return int(self._metadata(b"version"))

    @property
    def column_names(self) -> tuple[str, ...]:
        """Return the names of the columns, as `docs/reference/formats.md` lists them."""
        return tuple(self._table.column_names)

    def to_arrow(self) -> "pa.Table":
        """Return a table of pyarrow, whose buffers are those of the response."""
        return self._table

    def to_pandas(self) -> "pd.DataFrame":
        """Return a DataFrame of pandas."""
        return self._table.to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """Return a DataFrame of polars, which shares the values."""
        import polars as pl

        return pl.DataFrame(self._table)

    def to_numpy(self, column: str) -> "NDArray[np.float64]":
        """Return a column of numbers (N,), NaN where there is none; it shares the values of a response of one batch.

        Raises KeyError for an unknown column.
        """
        import numpy as np

        found: NDArray[np.float64] = self._table[column].to_numpy()
        return found

    def _repr_html_(self) -> str:
        shown = self._table.slice(0, SHOWN_ROWS)
        rows = [*zip(*(column.to_pylist() for column in shown.columns), strict=True)]
        caption = f"{self.model}, version {self.version}: {len(self):,} predictions"
        return table_html(caption, shown.column_names, rows, more=len(self) - len(rows))

    def _metadata(self, name: bytes) -> str:
        return (self._table.schema.metadata or {})[name].decode()


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64] | NDArray[np.float32] | NDArray[np.int64]
    Array = NDArray[np.float64]
else:
    Numbers = Array = object

BATCH_ROWS = 50_000
"""The rows of a table that one request has by default."""

BATCH_OBJECTS = 1_000
"""The rows in JSON that one request has by default."""


@dataclass(frozen=True)
class Tables(Calls[M]):
    """Tables with `__arrow_c_stream__`, as of pandas, polars and pyarrow, and arrays of numpy.

    Every method raises ClientError as those of `Client` do.
    """

    @call
    async def upload(self, table: ArrowTable, *, name: str, key: str | None = None) -> Dataset:
        """Create a dataset from a table, without the index of one of pandas; `key` as in `Client.upload`."""
        return await uploaded(self.http, table, name, key=key)

    @call
    async def predict(
        self, name: str, table: ArrowTable, *, version: int | str | None = None, **options: Unpack[PredictionOptions]
    ) -> PredictedTable:
        """Predict for the rows of a table, in one request."""
        return await self._predict(version_path(name, version), arrow_parts(arrow_table(table)), options)

    @listing
    async def predict_batches(
        self,
        name: str,
        table: ArrowTable,
        *,
        version: int | str | None = None,
        batch_rows: int = BATCH_ROWS,
        **options: Unpack[PredictionOptions],
    ) -> AsyncGenerator[PredictedTable, None]:
        """Yield predictions for a large table, `batch_rows` rows in each request, all of one version."""
        path = await self._pinned(name, version)
        for some in slices(arrow_table(table), batch_rows):
            yield await self._predict(path, arrow_parts(some), options)

    @listing
    async def predict_rows(
        self,
        name: str,
        rows: Iterable[Mapping[str, JsonInput]],
        *,
        version: int | str | None = None,
        batch_rows: int = BATCH_OBJECTS,
        **options: Unpack[PredictionOptions],
    ) -> AsyncGenerator[Prediction, None]:
        """Yield a prediction for each of the rows, which are taken as they are needed, all of one version.

        `batch_rows` are in each request; no more are held at once.
        """
        path, remaining, members = await self._pinned(name, version), iter(rows), request_members(options)
        while some := list(islice(remaining, batch_rows)):
            body = {"rows": some, **members}
            response = await self.http.post(Predictions, f"{path}/predict", body)
            for prediction in response.predictions:
                yield prediction

    @call
    async def predict_array(
        self, name: str, rows: Numbers, *, version: int | str | None = None, **options: Unpack[PredictionOptions]
    ) -> Array:
        """Predict for an array (rows, inputs), its columns in the order of the version's inputs, NaN for a gap.

        Returns an array (rows, figures), its columns in the order of CSV without labels; it is read-only, since its
        memory is the response's.
        """
        import numpy as np

        head = io.BytesIO()
        matrix = np.ascontiguousarray(rows)
        np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(matrix))
        content = (head.getvalue(), matrix.reshape(-1).view(np.uint8).data)
        made = await self.http.post_bytes(
            f"{version_path(name, version)}/predict",
            content,
            media_type=NPY.media_type,
            response_type=NPY.media_type,
            query=parameters(request_members(options)),
            deadline=UPLOAD_SECONDS,
        )
        return _array_of(made)

    async def _predict(
        self, path: str, content: tuple[bytes | memoryview, ...], options: PredictionOptions
    ) -> PredictedTable:
        made = await self.http.post_bytes(
            f"{path}/predict",
            content,
            media_type=ARROW.media_type,
            response_type=ARROW.media_type,
            query=parameters(request_members(options)),
            deadline=UPLOAD_SECONDS,
        )
        return PredictedTable(made)

    async def _pinned(self, name: str, version: int | str | None) -> str:
        """Return the path of one version by its number, so that later versions and moves of aliases do not matter."""
        model, selector = reference(name, version)
        if isinstance(selector, int):
            return version_path(model, selector)
        found = await self.http.get(Model, f"/v1/models/{part(model)}")
        number = found.latest if selector is None else found.aliases.get(selector)
        if number is None:
            raise ClientError(Problem(title="No version", detail=f"The model {model} has no such version.", status=404))
        return version_path(model, number)


def _array_of(content: bytes) -> Array:
    """Return the array in an npy file, which shares its memory."""
    import numpy as np

    file = io.BytesIO(content)
    np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    found: Array = np.frombuffer(content, dtype, offset=file.tell()).reshape(shape)
    return found
