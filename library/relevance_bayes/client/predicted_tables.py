"""Predictions as a table, whose values other libraries share."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING  # noqa: TID251 - pyarrow, pandas and polars are extras

from relevance_bayes.client.table_contents import ArrowTable
from relevance_bayes.records.html import table_html

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
