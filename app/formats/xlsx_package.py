"""Checks of an xlsx file, a zip of XML, before it is parsed: few bytes could claim gigabytes."""

import zipfile
from collections.abc import Mapping
from typing import IO
from xml.parsers import expat

from app.errors import MalformedBodyError, TooLargeError
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.tasks.cancellation import check_cancelled

MAX_PARTS = 10_000
MAX_BYTES = 2**27
"""The maximum decompressed size of all parts."""

MAX_ELEMENTS = 3_000_000
"""The maximum number of elements of all parts; a cell with a value has two of them."""

MAX_ELEMENTS_TOGETHER = 100_000
"""The maximum number of elements of a row, which has at most 16,384 cells, and of a part other than a sheet: these
become objects all at once."""

MAX_ATTRIBUTE_BYTES_TOGETHER = 2**25
"""The maximum size of the attributes of a row, and of a part other than a sheet, BYTES_OF_AN_ATTRIBUTE for each."""

BYTES_OF_AN_ATTRIBUTE = 50
"""The memory that an attribute takes beside its characters."""

MAX_TOKEN_BYTES = 2**18
"""The maximum size of a tag, a comment or an instruction. A parser begins one anew with each piece of a file, so that a
tag of 100 MB, which 100 kB hold compressed, takes a minute."""

MAX_CELLS_LISTED = 10
"""The number of cells of a part with formulas that were never computed that are listed."""

_PIECE = 2**16
_RESETS = frozenset({"row", "si"})
"""Elements of sheets and of shared strings that are parsed one at a time."""

_WHOLE = frozenset({"[Content_Types].xml", "xl/styles.xml", "docProps/core.xml", "docProps/custom.xml"})
_PACKINGS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


def check_package(archive: zipfile.ZipFile) -> Mapping[str, tuple[str, ...]]:
    """Return the cells whose formulas were never computed, by part.

    Raises TooLargeError, MalformedBodyError or InvalidDataError for a file that is not to be parsed.
    Refused are parts that decompress to more than `MAX_BYTES` together or have too many elements, long tags or too many
    attributes; document types, which declare entities; and chart sheets. Raises zipfile.BadZipFile, zlib.error and
    EOFError for a corrupt file.
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
    return {name: tuple(cells) for name, cells in scan.uncomputed.items()}


class _Scan:
    """A counter of elements."""

    def __init__(self) -> None:
        self._total = 0
        self._counts: dict[str, int] = {}
        self._attributes: dict[str, int] = {}
        self._workbooks: set[str] = set()
        self._before = self._since = 0
        self._attribute_bytes = self._attribute_bytes_of_part = 0
        self._parser = expat.ParserCreate()
        self._name = ""
        self._row = 0
        self._cell = ("", "")
        self._lacks_value = False
        self.uncomputed: dict[str, list[str]] = {}

    def part(self, name: str, opened: IO[bytes]) -> None:
        """Count the elements of a part as far as it is XML; openpyxl does not parse other parts as XML either."""
        self._parser = parser = expat.ParserCreate()
        self._name, self._row, self._lacks_value = name, 0, False
        parser.StartDoctypeDeclHandler = _refuse_doctype
        parser.StartElementHandler = self._start
        self._before = self._since = self._total
        self._attribute_bytes = self._attribute_bytes_of_part = fed = 0
        try:
            while piece := opened.read(_PIECE):
                check_cancelled()
                parser.Parse(piece)
                fed += len(piece)
                if fed - parser.CurrentByteIndex > MAX_TOKEN_BYTES:  # it has begun a token and not seen its end
                    raise TooLargeError(f"{name}: expected tags and comments of at most {MAX_TOKEN_BYTES:,} bytes.")
        except expat.ExpatError:
            pass
        self._end_cell()
        self._counts[name] = self._total - self._before
        self._attributes[name] = self._attribute_bytes_of_part
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
        if self._attributes[name] > MAX_ATTRIBUTE_BYTES_TOGETHER:
            raise TooLargeError(f"{name}: expected fewer or shorter attributes.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._total += 1
        size = sum(BYTES_OF_AN_ATTRIBUTE + len(value) for value in attributes.values())
        self._attribute_bytes += size
        self._attribute_bytes_of_part += size
        local = name.rpartition(":")[2]
        if local == "c":
            self._end_cell()
            self._cell = attributes.get("r", f"a cell of row {self._row}"), attributes.get("t", "")
        elif local == "f":
            # A formula whose result is an empty text has the type str.
            self._lacks_value = self._cell[1] != "str"
        elif local == "v" and self._lacks_value:
            self._parser.CharacterDataHandler = self._has_value
        if local in _RESETS:
            self._end_cell()
            self._row += 1
            self._since, self._attribute_bytes = self._total, 0
        elif self._attribute_bytes > MAX_ATTRIBUTE_BYTES_TOGETHER:
            raise TooLargeError(f"{self._name}: expected rows with fewer or shorter attributes.")
        elif self._total - self._since > MAX_ELEMENTS_TOGETHER:
            raise TooLargeError(f"Expected rows of at most {MAX_ELEMENTS_TOGETHER:,} elements, got more.")
        elif local == "Override" and "main+xml" in attributes.get("ContentType", ""):
            self._workbooks.add(attributes.get("PartName", "").lstrip("/"))
        elif local == "Relationship" and "chartsheet" in attributes.get("Type", ""):
            raise InvalidDataError("The workbook has a chart sheet: save only the sheet with the table.")
        if self._total > MAX_ELEMENTS:
            raise TooLargeError(f"Expected at most {MAX_ELEMENTS:,} elements, got more; save it as CSV.")

    def _has_value(self, text: str) -> None:
        """Take the text of a formula's value, which is computed unless it is empty."""
        if text.strip():
            self._lacks_value = False
            self._parser.CharacterDataHandler = None

    def _end_cell(self) -> None:
        """List the last cell if it has a formula and no value."""
        if self._lacks_value:
            self._lacks_value = False
            self._parser.CharacterDataHandler = None
            if len(listed := self.uncomputed.setdefault(self._name, [])) <= MAX_CELLS_LISTED:
                listed.append(self._cell[0])


def _refuse_doctype(*_: object) -> None:
    raise MalformedBodyError("A part of the workbook declares a document type, which is not allowed.")
