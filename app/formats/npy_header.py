"""The header of an npy file, validated."""

import math
import warnings
from dataclasses import dataclass
from tokenize import TokenError
from typing import BinaryIO

import numpy as np

from app.errors import MalformedBodyError

VERSIONS = frozenset({(1, 0), (2, 0), (3, 0)})
"""2.0 has longer headers than 1.0; 3.0 differs from it by names of fields alone, which no array of numbers has."""


@dataclass(frozen=True)
class NpyHeader:
    """An array's shape, whether its first index runs fastest, its numpy `code`, and where it begins in the file."""

    shape: tuple[int, ...]
    fortran_order: bool
    code: str
    offset: int

    @property
    def is_numeric(self) -> bool:
        """Return whether it holds booleans, whole numbers or numbers, and no objects."""
        return np.dtype(self.code).kind in "biuf"

    @property
    def size(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * np.dtype(self.code).itemsize

    def check_file_size(self, n_bytes: int) -> None:
        """Raise MalformedBodyError unless a file of so many bytes ends where its array does."""
        if self.size != (here := n_bytes - self.offset):
            raise MalformedBodyError(f"The array's header says that {self.size:,} bytes follow; {here:,} do.")


def read_npy_header(reader: BinaryIO) -> NpyHeader:
    """The header of a file that is read from its beginning; raises MalformedBodyError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            version = np.lib.format.read_magic(reader)
            if version not in VERSIONS:
                raise MalformedBodyError(f"Expected npy of version 1.0, 2.0 or 3.0, got {version[0]}.{version[1]}.")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran_order, dtype = read(reader)
    # The header is a text in Python's own syntax, with all that can be wrong with one.
    except (ValueError, TypeError, SyntaxError, TokenError, OSError, EOFError, LookupError) as error:
        raise MalformedBodyError("The file can't be read as npy; is it cut off?") from error
    except (OverflowError, RecursionError, MemoryError, Warning) as error:
        raise MalformedBodyError("The file's header is none of npy.") from error
    if any(length < 0 for length in shape):
        raise MalformedBodyError(f"The array's shape, {shape}, has a length below 0.")
    return NpyHeader(shape, fortran_order, dtype.str, reader.tell())
