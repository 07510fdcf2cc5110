"""The header of an npy file, validated."""

import math
import warnings
from dataclasses import dataclass
from tokenize import TokenError
from typing import BinaryIO

import numpy as np

from app.errors import MalformedBodyError

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
