"""Images as tables: a row for each pixel, its position and its intensity, in row-major order."""

import warnings
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from PIL import Image, UnidentifiedImageError

from app.errors import MalformedBodyError, TooLargeError
from app.formats.npy_rows import read_npy_header
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.core.types import Array
from relevance_bayes.records.datasets import Image as ImageSize
from relevance_bayes.records.errors import Fault, InvalidDataError, InvalidRequestError
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import IMAGE_COLUMNS, Block, NumberColumn, rows_of_a_block

DEEP = frozenset({"I;16", "I;16B", "I;16L", "I"})
"""Pillow's modes with 16 bits a pixel."""


MAX_PIXELS = 2**22
"""The maximum number of pixels of an image, which is decompressed in memory: 32 MiB of numbers."""


def open_image(
    file: SpoolFile,
    read: Callable[[SpoolFile, int], Array],
    *,
    declared: Mapping[str, ColumnKind],
    max_rows: int,
) -> TableStream:
    """Return an image (height, width), which `read` reads, as a stream of blocks.

    Raises MalformedBodyError, InvalidDataError, InvalidRequestError for `declared` kinds, TooLargeError.
    """
    if declared:
        detail = "Expected no declared kinds for an image, whose columns are fixed."
        raise InvalidRequestError(detail, [Fault(detail, parameter="kinds")])
    image = read(file, min(max_rows, MAX_PIXELS))
    size = ImageSize(*image.shape)
    return TableStream(IMAGE_COLUMNS, ("number",) * 3, _blocks(image), size)


def _blocks(image: Array) -> Iterator[Block]:
    height, width = image.shape
    step = max(1, rows_of_a_block(len(IMAGE_COLUMNS)) // width)
    for first in range(0, height, step):
        part = image[first : first + step]
        lines, columns = np.indices(part.shape, np.float64)
        cells = (lines.ravel() + first, columns.ravel(), np.ascontiguousarray(part).ravel())
        yield {name: NumberColumn(values) for name, values in zip(IMAGE_COLUMNS, cells, strict=True)}


def png_image(file: SpoolFile, max_pixels: int) -> Array:
    """Return intensities from 0, black, to 1, white (height, width); of colours the luminance (ITU-R 601).

    Raises MalformedBodyError, InvalidDataError, TooLargeError.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(file.reader(), formats=("PNG",)) as opened:
                _check_size(opened.height, opened.width, max_pixels)
                if opened.mode in DEEP:
                    return np.asarray(opened, np.float64) / 65535.0
                return np.asarray(opened.convert("L"), np.float64) / 255.0
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooLargeError(f"Expected at most {max_pixels:,} pixels, got more.") from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise MalformedBodyError("The file can't be read as PNG; is it truncated?") from error


def npy_image(file: SpoolFile, max_pixels: int) -> Array:
    """Return the numbers of an array (height, width); raises MalformedBodyError, InvalidDataError, TooLargeError."""
    header = read_npy_header(file.reader())
    shape = header.shape
    if len(shape) != 2 or not header.is_numeric:
        hint = " Upload a signal as a table with a column of values." if len(shape) == 1 else ""
        kind = np.dtype(header.code)
        raise InvalidDataError(f"Expected an array (height, width) of numbers, got shape {shape} of {kind}.{hint}")
    _check_size(*shape, max_pixels)
    header.check_file_size(file.size)
    flat = np.frombuffer(file.reader(header.offset).read(), np.dtype(header.code))
    with np.errstate(over="ignore"):
        numbers = flat.reshape(shape, order="F" if header.fortran_order else "C").astype(np.float64)
    if not np.isfinite(numbers).all():
        row, column = np.argwhere(~np.isfinite(numbers))[0]
        detail = f"Row {row + 1}, column {column + 1}: expected a finite number, got {numbers[row, column]}."
        raise InvalidDataError(detail)
    return numbers


def _check_size(height: int, width: int, max_pixels: int) -> None:
    if height < 1 or width < 1:
        raise InvalidDataError("The image has no pixels.")
    if height * width > max_pixels:
        raise TooLargeError(f"Expected at most {max_pixels:,} pixels, got {height:,} x {width:,}.")
