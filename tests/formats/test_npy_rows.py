"""Headers of npy: which versions are read, as an image or as rows."""

import io
import struct

import numpy as np
import pytest

from app.errors import MalformedBodyError
from app.formats.cells import Expected
from app.formats.images import npy_image, open_image, read_npy, read_npy_header
from relevance_bayes.tables.columns import NumberArray, NumberBlock
from tests.formats.files import spooled

ARRAY = np.arange(6.0).reshape(2, 3)
EXPECTED = Expected((("a", "number"), ("b", "number"), ("c", "number")), None, frozenset(), 10, 10_000)


def of_version(major: int, minor: int) -> bytes:
    """The array as a file that states it is of a version."""
    body = io.BytesIO()
    np.lib.format.write_array(body, ARRAY, version=(1, 0))
    header = body.getvalue()[10 : -ARRAY.nbytes]
    length = struct.pack("<H" if major == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([major, minor]) + length + header + ARRAY.tobytes()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_an_image_and_rows_are_read_in_every_version(version: tuple[int, int]) -> None:
    body = of_version(*version)
    block = read_npy(body, EXPECTED).block
    assert isinstance(block, NumberBlock)
    np.testing.assert_array_equal(block.matrix, ARRAY)
    with spooled(body) as file:
        (pixels,) = open_image(file, npy_image, declared={}, max_rows=10).blocks
    intensity = pixels["intensity"]
    assert isinstance(intensity, NumberArray)
    np.testing.assert_array_equal(intensity.values, ARRAY.ravel())


@pytest.mark.parametrize("version", [(0, 0), (1, 1), (2, 1), (4, 0), (255, 255)])
def test_other_versions_are_refused(version: tuple[int, int]) -> None:
    with pytest.raises(MalformedBodyError) as refused:
        read_npy_header(io.BytesIO(of_version(*version)))
    assert refused.value.detail == "Expected npy of version 1.0, 2.0 or 3.0, got {}.{}.".format(*version)
