"""Headers of arrays in an archive that no export has written: refused, whatever is wrong with them."""

import io
import struct
import zipfile

import pytest

from app.errors import MalformedBodyError
from app.exports import formats
from relevance_bayes.documents.schema import DOCUMENT_NAME
from relevance_bayes.records.errors import InvalidRequestError

MALFORMED = [
    "",
    "{",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1,",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n'''",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 2: 3}",
    "{'descr': [['<f8']], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2**70,), }",
    "(" * 500,
]
SHAPES = ["(-2, -4)", "(-1,)", "(1000000000000, 0)", "(0, 1000000000000)", "(1, 1, 1)", "()", "(-1, 0)"]


def archive(header: str, data: bytes) -> bytes:
    """Return an archive with one array, of this header and these bytes."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as made:
        made.writestr(DOCUMENT_NAME, b"{}")
        made.writestr("model/mean.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
    return sink.getvalue()


@pytest.mark.parametrize("header", MALFORMED)
def test_a_header_that_is_none_is_malformed(header: str) -> None:
    with pytest.raises(MalformedBodyError):
        formats.read(archive(header, bytes(8)), max_bytes=2**20)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_of_no_list_and_no_table_is_refused(shape: str) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    with pytest.raises(InvalidRequestError, match="Expected a list or a table"):
        formats.read(archive(header, bytes(64)), max_bytes=2**20)


def test_an_empty_list_is_read() -> None:
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }"
    assert formats.read(archive(header, b""), max_bytes=2**20)[1] == {"model/mean": []}
