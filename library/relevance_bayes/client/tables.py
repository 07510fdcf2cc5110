"""Tables and arrays of other libraries as datasets, and predictions for them."""

import io
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Unpack  # noqa: TID251 - programs that use only JSON save the import of numpy

from relevance_bayes.client.bodies import parameters
from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.http import UPLOAD_SECONDS
from relevance_bayes.client.json import JsonInput
from relevance_bayes.client.paths import part, reference, version_path
from relevance_bayes.client.predicted_tables import PredictedTable
from relevance_bayes.client.prediction_options import PredictionOptions, request_members
from relevance_bayes.client.responses import Dataset, Prediction, Predictions
from relevance_bayes.client.table_contents import ArrowTable, arrow_parts, arrow_table, slices
from relevance_bayes.client.uploads import uploaded
from relevance_bayes.records.formats import ARROW, NPY
from relevance_bayes.records.models import Model

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
        return array_of(made)

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


def array_of(content: bytes) -> Array:
    """Return the array in an npy file, which shares its memory."""
    import numpy as np

    file = io.BytesIO(content)
    np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    found: Array = np.frombuffer(content, dtype, offset=file.tell()).reshape(shape)
    return found
