"""Checks of an xlsx file, a zip of XML, before it is parsed: few bytes could claim gigabytes."""

import zipfile
from typing import IO
from xml.parsers import expat

from app.errors import MalformedBodyError, TooLargeError
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.types.errors import InvalidDataError

MAX_PARTS = 10_000
MAX_BYTES = 2**27
"""The maximum decompressed size of all parts."""

MAX_ELEMENTS = 3_000_000
"""The maximum number of elements of all parts; a cell with a value has two of them."""

MAX_ELEMENTS_TOGETHER = 100_000
"""The maximum number of elements of a row, which has at most 16,384 cells, and of a part other than a sheet: these
become objects all at once."""

_PIECE = 2**16
_RESETS = frozenset({"row", "si"})
"""Elements of sheets and of shared strings that are parsed one at a time."""

_WHOLE = frozenset({"[Content_Types].xml", "xl/styles.xml", "docProps/core.xml", "docProps/custom.xml"})
_PACKINGS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


def check_package(archive: zipfile.ZipFile) -> None:
    """Raise TooLargeError, MalformedBodyError or InvalidDataError for a file that is not to be parsed.

    Refused are parts that decompress to more than `MAX_BYTES` together or have too many elements, document types, which
    declare entities, and chart sheets. Raises zipfile.BadZipFile, zlib.error and EOFError for a corrupt file.
    """
    parts = archive.infolist()
    if len(parts) > MAX_PARTS:
        raise TooLargeError(f"Expected a workbook of at most {MAX_PARTS:,} parts, got {len(parts):,}.")
    if sum(part.file_size for part in parts) > MAX_BYTES:  # zipfile reads no more than these sizes
        raise TooLargeError(f"Expected at most {MAX_BYTES:,} bytes once decompressed, got more; save it as CSV.")
    if any(part.flag_bits & 1 for part in parts):
        raise InvalidDataError("The workbook is encrypted.")
    if any(part.compress_type not in _PACKINGS for part in parts):
        raise MalformedBodyError("Expected a workbook compressed with deflate, got another method.")
    scan = _Scan()
    for part in parts:
        with archive.open(part) as opened:
            scan.part(part.filename, opened)
    scan.check_workbook()


class _Scan:
    """A counter of elements."""

    def __init__(self) -> None:
        self._total = 0
        self._counts: dict[str, int] = {}
        self._workbooks: set[str] = set()
        self._before = self._since = 0

    def part(self, name: str, opened: IO[bytes]) -> None:
        """Count the elements of a part as far as it is XML; openpyxl does not parse other parts as XML either."""
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = _refuse_doctype
        parser.StartElementHandler = self._start
        self._before = self._since = self._total
        try:
            while piece := opened.read(_PIECE):
                check_cancelled()
                parser.Parse(piece)
        except expat.ExpatError:
            pass
        self._counts[name] = self._total - self._before
        if name in _WHOLE or name.endswith(".rels"):
            self._check_whole(name)

    def check_workbook(self) -> None:
        """Raise TooLargeError where a part that lists the sheets has too many elements."""
        for name in self._workbooks & self._counts.keys():
            self._check_whole(name)

    def _check_whole(self, name: str) -> None:
        count, maximum = self._counts[name], MAX_ELEMENTS_TOGETHER
        if count > maximum:
            raise TooLargeError(f"{name}: expected at most {maximum:,} elements, got {count:,}.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._total += 1
        local = name.rpartition(":")[2]
        if local in _RESETS:
            self._since = self._total
        elif self._total - self._since > MAX_ELEMENTS_TOGETHER:
            raise TooLargeError(f"Expected rows of at most {MAX_ELEMENTS_TOGETHER:,} elements, got more.")
        elif local == "Override" and "main+xml" in attributes.get("ContentType", ""):
            self._workbooks.add(attributes.get("PartName", "").lstrip("/"))
        elif local == "Relationship" and "chartsheet" in attributes.get("Type", ""):
            raise InvalidDataError("The workbook has a chart sheet: save only the sheet with the table.")
        if self._total > MAX_ELEMENTS:
            raise TooLargeError(f"Expected at most {MAX_ELEMENTS:,} elements, got more; save it as CSV.")


def _refuse_doctype(*_: object) -> None:
    raise MalformedBodyError("A part of the workbook declares a document type, which is not allowed.")
