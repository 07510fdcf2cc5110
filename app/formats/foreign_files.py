"""Files of other kinds than their name, each refused for what it is."""

import io
import re
import zipfile

from app.errors import MalformedBodyError

MAX_LOOK = 512

BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs.github.com/spec/", "a pointer of Git LFS; run git lfs pull to fetch the file itself"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an older Office file (.xls); save it as xlsx or CSV"),
    (b"PAR1", "Parquet; send it as parquet"),
    (b"ARROW1", "an Arrow file; send it as feather"),
    (b"FEA1", "Feather of version 1; write it with a current library"),
    (b"\x93NUMPY", "npy; send it as npy"),
    (b"\x1f\x8b", "compressed with gzip; send it with Content-Encoding: gzip, or as .csv.gz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; send it with Content-Encoding: zstd, or as .csv.zst"),
    (b"BZh", "compressed with bzip2; decompress it"),
    (b"\xfd7zXZ\x00", "compressed with xz; decompress it"),
    (b"SQLite format 3\x00", "an SQLite database; export a table as CSV"),
    (b"%PDF-", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89HDF\r\n\x1a\n", "HDF5; export a table as CSV or Parquet"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image; send it as png"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"RDX", "an R data file; export a table as CSV"),
    (b"Obj\x01", "an Avro file; export it as Parquet"),
)
"""First bytes of files, and what they are."""

PICKLE = re.compile(rb"\x80[\x02-\x05](?:\x95.{8})?[\x8c}\](cX]", re.DOTALL)
MARKUP = re.compile(rb"\s*<(?:!doctype\s+html|html|head|body|table|\?xml|svg)\b", re.IGNORECASE)
ZIP = b"PK\x03\x04"


def kind_of_file(content: bytes) -> str | None:
    """Return what a file is, by its first bytes, which may be all; None for what may be text."""
    beginning = content[:MAX_LOOK]
    for first, kind in BEGINNINGS:
        if beginning.startswith(first):
            return kind
    if PICKLE.match(beginning):
        return "a pickle of Python, which is not read; export a table as CSV or Parquet"
    if MARKUP.match(beginning):
        is_page = b"<?xml" not in beginning or b"<html" in beginning.lower()
        return "an HTML page, not a table; download the file itself" if is_page else "XML; export a table as CSV"
    return kind_of_archive(content) if beginning.startswith(ZIP) else None


def kind_of_archive(content: bytes) -> str:
    """Return what a ZIP file is, from its first bytes, or all of them where its list of parts is to be read."""
    if b"mimetypeapplication/vnd.oasis.opendocument" in content[:MAX_LOOK]:
        return "an OpenDocument file (ODS); save it as xlsx or CSV"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = {*archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError):
        names = set(re.findall(rb"xl/workbook\.(?:bin|xml)", content)) and {"xl/workbook.xml"}
    if "xl/workbook.bin" in names:
        return "a binary workbook (XLSB); save it as xlsx or CSV"
    if "xl/workbook.xml" in names:
        return "a workbook; send it as xlsx"
    return "a ZIP archive; send the file within it"


def refuse_foreign(content: bytes, expected: str) -> None:
    """Raise MalformedBodyError for a file that, by its first bytes, is of another kind than that `expected`."""
    if (kind := kind_of_file(content)) is not None:
        raise MalformedBodyError(f"Expected {expected}; the file is {kind}.")
