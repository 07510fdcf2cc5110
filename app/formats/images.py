"""Images as tables, a row for each pixel in row-major order, and rows in numpy's format; images as PNG or npy."""

import io
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from tokenize import TokenError
from typing import BinaryIO, Literal, TypeAlias, get_args

import numpy as np
from PIL import Image, UnidentifiedImageError

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import (
    CellFault,
    CellFaults,
    Columns,
    Expected,
    ReadRows,
    faults_of,
    need_rows,
    not_a,
    not_finite,
)
from app.formats.spool import SpoolFile
from app.formats.streams import TableStream
from relevance_bayes.core.types import Array
from relevance_bayes.records.datasets import Image as ImageSize
from relevance_bayes.records.errors import Fault, InvalidDataError, InvalidRequestError
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import (
    IMAGE_COLUMNS,
    Block,
    BooleanArray,
    Column,
    NumberArray,
    NumberBlock,
    TimestampArray,
    rows_of_a_block,
)
from relevance_bayes.tables.kinds import END_SECOND, FIRST_SECOND

ImageMediaType: TypeAlias = Literal["image/png", "application/x-npy"]
IMAGE_MEDIA_TYPES: tuple[ImageMediaType, ...] = get_args(ImageMediaType)


def image_bytes(pixels: Array, media_type: ImageMediaType, *, peak: float) -> bytes:
    """Return pixels (height, width) as PNG in 8 bits, or as npy, exactly.

    Black and white are 0 and 1 where `peak` is 1, else the least and the greatest intensity.
    """
    sink = io.BytesIO()
    if media_type == "application/x-npy":
        np.save(sink, pixels, allow_pickle=False)
        return sink.getvalue()
    from PIL import Image  # here, because most processes never draw one

    black, white = (0.0, 1.0) if peak == 1.0 else (float(pixels.min()), float(pixels.max()))
    halves = 0.5 * pixels - 0.5 * black  # a difference of the greatest numbers is no float64
    shades = np.clip(halves / ((0.5 * white - 0.5 * black) or 1.0), 0.0, 1.0) * 255.0
    Image.fromarray(shades.round().astype(np.uint8)).save(sink, "PNG")
    return sink.getvalue()


VERSIONS = frozenset({(1, 0), (2, 0), (3, 0)})
"""Supported versions: 2.0 allows longer headers than 1.0; 3.0 differs only in the names of fields, which are not
allowed."""


@dataclass(frozen=True)
class NpyHeader:
    """An array's shape, whether it is in Fortran order, its numpy type `code`, and its offset in the file."""

    shape: tuple[int, ...]
    fortran_order: bool
    code: str
    offset: int

    @property
    def is_numeric(self) -> bool:
        """Return whether the type is boolean, integer or floating point, and not object."""
        return np.dtype(self.code).kind in "biuf"

    @property
    def size(self) -> int:
        """Return the size of the array in bytes."""
        return math.prod(self.shape) * np.dtype(self.code).itemsize

    def check_file_size(self, n_bytes: int) -> None:
        """Raise MalformedBodyError unless a file of so many bytes ends with its array."""
        if self.size != (here := n_bytes - self.offset):
            raise MalformedBodyError(f"Expected {self.size:,} bytes after the array's header, got {here:,}.")


def read_npy_header(reader: BinaryIO) -> NpyHeader:
    """Return the header of a file from its current position; raises MalformedBodyError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            version = np.lib.format.read_magic(reader)
            if version not in VERSIONS:
                raise MalformedBodyError(f"Expected npy of version 1.0, 2.0 or 3.0, got {version[0]}.{version[1]}.")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran_order, dtype = read(reader)
    # The header is a Python literal, so that parsing raises any of these.
    except (ValueError, TypeError, SyntaxError, TokenError, OSError, EOFError, LookupError) as error:
        raise MalformedBodyError("The file can't be read as npy; is it truncated?") from error
    except (OverflowError, RecursionError, MemoryError, Warning) as error:
        raise MalformedBodyError("The file's header is not a valid npy header.") from error
    if any(length < 0 for length in shape):
        raise MalformedBodyError(f"Expected a shape without negative lengths, got {shape}.")
    return NpyHeader(shape, fortran_order, dtype.str, reader.tell())


def read_npy(body: bytes, expected: Expected) -> ReadRows:
    """Read the rows of an array (N, k), NaN for missing values; float64 in C order is not copied.

    Booleans are 0 and 1, timestamps seconds since 1970 UTC. An additional last column is the noise, where the model has
    it; a model of one input also takes an array (N,). Raises MalformedBodyError, InvalidDataError, TooLargeError.
    """
    texts = [name for name, kind in expected.columns if kind == "category"]
    if texts:
        detail = "This input is text, which an array of numbers can't contain: use another format."
        raise InvalidDataError(detail, [Fault(detail, column=name) for name in texts])
    matrix = _matrix(body, expected)
    columns = expected.with_noise if matrix.shape[1] > len(expected.columns) else expected.columns
    if all(kind == "number" for _, kind in columns) and bool(np.isfinite(matrix).all()):
        return ReadRows(NumberBlock(tuple(name for name, _ in columns), matrix), ())
    return _by_column(matrix, columns)


def _matrix(body: bytes, expected: Expected) -> Array:
    """Return the array in a body (N, k), a view if it is float64 in C order."""
    header, width = read_npy_header(io.BytesIO(body)), len(expected.columns)
    if not header.is_numeric:
        raise InvalidDataError(f"Expected an array of numbers, got one of {np.dtype(header.code)}.")
    header.check_file_size(len(body))
    shape = (*header.shape, 1) if len(header.shape) == 1 and width == 1 else header.shape
    if len(shape) != 2 or shape[1] not in {width, len(expected.with_noise)}:
        names = ", ".join(name for name, _ in expected.columns)
        or_noise = "" if expected.noise is None else f", or {width + 1} with {expected.noise} last"
        raise InvalidDataError(
            f"Expected an array (rows, {width}), its columns {names} in this order{or_noise}; got shape {header.shape}."
        )
    rows, columns = shape
    need_rows(rows)
    expected.check_rows(rows)
    flat = np.frombuffer(body, np.dtype(header.code), offset=header.offset)
    array = flat.reshape(columns, rows).T if header.fortran_order else flat.reshape(rows, columns)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, np.float64)


def _by_column(matrix: Array, columns: Columns) -> ReadRows:
    block: dict[str, Column] = {}
    wrong: dict[str, CellFaults] = {}
    for place, (name, kind) in enumerate(columns):
        block[name], wrong[name] = _column(kind, matrix[:, place].copy())
    return ReadRows(block, tuple(faults_of(wrong)))


def _column(kind: ColumnKind, values: Array) -> tuple[Column, CellFaults]:
    """Return a column of numbers (N,) as a column of `kind`, missing where they do not fit, and the faults."""
    missing = np.isnan(values)
    match kind:
        case "boolean":
            bad = ~missing & (values != 0) & (values != 1)
        case "timestamp":
            bad = ~missing & ~((values >= FIRST_SECOND) & (values < END_SECOND))
        case _:
            bad = ~missing & ~np.isfinite(values)
    cell_faults = [CellFault(row, _given(kind, float(values[row]))) for row in np.flatnonzero(bad).tolist()]
    values[bad] = np.nan
    match kind:
        case "boolean":
            return BooleanArray(np.where(np.isnan(values), -1, values).astype(np.int8)), cell_faults
        case "timestamp":
            return TimestampArray(values), cell_faults
        case _:
            return NumberArray(values), cell_faults


def _given(kind: ColumnKind, value: float) -> str:
    if not math.isfinite(value):
        return not_finite(str(value))
    return not_a("boolean", value) if kind == "boolean" else f"{value:g} s since 1970 is not in the years 1 to 9999."


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
        yield {name: NumberArray(values) for name, values in zip(IMAGE_COLUMNS, cells, strict=True)}


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
