"""PNG images."""

from collections.abc import Mapping

from app.formats.format import TableFormat
from app.formats.options import ReadOptions, TableLimits
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.records.formats import PNG
from relevance_bayes.records.values import ColumnKind


class Png(TableFormat):
    """An image."""

    file_format = PNG
    title = "PNG"

    def read_table(
        self, file: SpoolFile, options: ReadOptions, *, declared: Mapping[str, ColumnKind], limits: TableLimits
    ) -> TableStream:
        """Read the pixels of an image, from 0, black, to 1, white."""
        from app.formats.images import open_image, png_image

        return open_image(file, png_image, declared=declared, max_rows=limits.max_rows)
