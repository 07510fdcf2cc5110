"""Bodies in other encodings of text than UTF-8, recoded on disk."""

import codecs
import weakref
from typing import BinaryIO

from app.errors import MalformedBodyError, UnavailableError
from app.formats.spool import BodyFile, SpoolFile, new_spool_file, write_whole, writing
from relevance_bayes.records.values import TextEncoding

PIECE = 2**20
BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks by which an encoding is detected; those of UTF-8 stay."""


def in_utf8(file: BodyFile, encoding: TextEncoding | None) -> BodyFile:
    """Return a file in UTF-8: the file itself where it is.

    UTF-16 and UTF-32 are detected by their byte order mark; others are read where they are requested. Raises
    MalformedBodyError where the file is in another encoding.
    """
    beginning = file.reader().read(4)
    found = next((name for bom, name in BOMS if beginning.startswith(bom)), None) or encoding
    if found is None or found == "utf-8":
        return file
    recoded = new_spool_file(None)  # closed with the body below
    reader, decoder = file.reader(), codecs.getincrementaldecoder(found)()
    size = 0
    try:
        while piece := reader.read(PIECE):
            size += _write(recoded, decoder.decode(piece))
        size += _write(recoded, decoder.decode(b"", final=True))
    except UnicodeError as error:
        recoded.close()
        raise MalformedBodyError(f"The file can't be read as {found}: {error}.") from None
    except UnavailableError:
        recoded.close()
        raise
    body = SpoolFile(recoded, max_bytes=size)
    body.size = size
    weakref.finalize(body, recoded.close)  # readers have a descriptor of their own
    return body


def _write(file: BinaryIO, text: str) -> int:
    """Write a text in UTF-8, and return its bytes; raises StorageFullError."""
    content = text.encode()
    with writing():
        write_whole(file, content)
    return len(content)
