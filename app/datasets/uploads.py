"""Uploads: from the request's body to a spooled file, and from there to a stream of blocks."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TypeVar, get_args

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import shown
from app.formats.format import ReadOptions, TableFormat, TableLimits
from app.formats.spool import SpoolFile, spooled
from app.formats.streams import MAX_NAME_LENGTH, ReadAgainError, TableStream, is_plain, within
from app.http.content_encodings import Decompressor
from app.http.dependencies import RequestLimits
from app.http.negotiation import FORM, media_type_of, table_format_of
from relevance_bayes.records.errors import Fault, InvalidDataError, InvalidRequestError
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.cancellation import check_cancelled


class _OneFile:
    """The parser of a form with one file: `feed` takes the body in pieces and returns the bytes of the file."""

    def __init__(self, content_type: str) -> None:
        _, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if not boundary:
            raise MalformedBodyError("The Content-Type of the form has no boundary.")
        self.media_type: str | None = None
        self.name: str | None = None
        self._found = False
        self._ended = False
        self._pieces: list[bytes] = []
        self._headers: dict[str, bytes] = {}
        self._header = self._value = b""
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin_part,
                    "on_header_field": self._read_header,
                    "on_header_value": self._read_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._end_headers,
                    "on_part_data": self._read_data,
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise MalformedBodyError(f"The form can't be read: {error}.") from None

    @property
    def has_file(self) -> bool:
        """Return whether the file has begun, and its type and name are known."""
        return self._found

    def feed(self, piece: bytes) -> bytes:
        """Return the bytes of the file in the next piece of the body.

        Raises MalformedBodyError, and InvalidRequestError for a second file or another field.
        """
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise MalformedBodyError(f"The form can't be read: {error}.") from None
        data, self._pieces = b"".join(self._pieces), []
        return data

    def finish(self) -> None:
        """Raise MalformedBodyError where the form is incomplete, InvalidRequestError where it has no file."""
        if not self._ended:
            raise MalformedBodyError("The form is incomplete: expected a final boundary.")
        if not self._found:
            raise InvalidRequestError("The form has no file: send it as a part with a filename.")

    def _begin_part(self) -> None:
        self._headers = {}

    def _read_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _read_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = self._value
        self._header = self._value = b""

    def _end_headers(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        name = options.get(b"filename")
        if name is None:
            field = options.get(b"name", b"").decode(errors="replace")
            raise InvalidRequestError(
                f"Expected only a file in the form, got the field {field!r}; send options as query parameters."
            )
        if self._found:
            raise InvalidRequestError("Expected one file in the form, got more; send one dataset in each request.")
        self._found = True
        self.name = name.decode(errors="replace")
        self.media_type = self._headers.get("content-type", b"").decode("latin-1") or None

    def _read_data(self, data: bytes, start: int, end: int) -> None:
        self._pieces.append(data[start:end])

    def _end(self) -> None:
        self._ended = True


KINDS: Mapping[str, ColumnKind] = {kind: kind for kind in get_args(ColumnKind)}
UNNAMED = "dataset"


@dataclass(frozen=True)
class ReceivedBody:
    """A completely received body."""

    file: SpoolFile
    format: TableFormat
    media_type: str
    file_name: str | None

    @property
    def content(self) -> tuple[bytes, ...]:
        """Return what identifies the upload's content: the file's name and type and its bytes, but no form boundary."""
        return self.media_type.encode(), (self.file_name or "").encode(), self.file.digest()


@asynccontextmanager
async def received(request: Request, limits: RequestLimits) -> AsyncIterator[ReceivedBody]:
    """Receive the body into a spooled file, which exists as long as the context is open.

    Raises HTTPException (415), TooLargeError before more than the limit is read, MalformedBodyError for an
    invalid form.
    """
    content_type = request.headers.get("content-type", "")
    decompressor = Decompressor(",".join(request.headers.getlist("content-encoding")), limits.max_upload_bytes)
    form = _OneFile(content_type) if media_type_of(content_type) == FORM else None
    found = None if form is not None else table_format_of(content_type)
    async with spooled(limits.spool_directory, max_bytes=limits.max_upload_bytes) as file:
        if found is not None and found.is_read_whole:
            file.allow(limits.max_body_bytes)
        announced = request.headers.get("content-length", "")
        file.refuse_above(int(announced) if announced.isdecimal() else 0)
        try:
            if form is None:
                async for piece in _unpacked(request, decompressor, limits):
                    await file.write(piece)
            else:
                pieces = _unpacked(request, decompressor, limits)
                found, content_type = await _take_apart(pieces, form, file, limits)
        except ClientDisconnect:
            raise MalformedBodyError("The connection ended before the body did.") from None
        await file.flush()
        assert found is not None
        yield ReceivedBody(file, found, media_type_of(content_type), form.name if form is not None else None)


async def _unpacked(request: Request, decompressor: Decompressor, limits: RequestLimits) -> AsyncIterator[bytes]:
    """Decompress the pieces of the body; raises TooLargeError where they exceed the limit."""
    come = 0
    async for piece in request.stream():
        come += len(piece)
        if come > limits.max_upload_bytes:
            raise TooLargeError(f"The body is larger than {limits.max_upload_bytes:,} bytes.")
        for unpacked in decompressor.feed(piece):
            yield unpacked
    decompressor.finish()


async def _take_apart(
    pieces: AsyncIterator[bytes], form: _OneFile, file: SpoolFile, limits: RequestLimits
) -> tuple[TableFormat, str]:
    """Write the form's file; return its format, and its media type in the form."""
    found: TableFormat | None = None
    async for piece in pieces:
        data = form.feed(piece)
        if found is None and form.has_file:
            found = table_format_of(form.media_type or "", form.name)
            if found.is_read_whole:
                file.allow(limits.max_body_bytes)
        await file.write(data)
    form.finish()
    assert found is not None
    return found, form.media_type or ""


T = TypeVar("T")

MAX_REVISIONS = 8
"""The maximum number of times that a table is read again for kinds that later rows contradict."""


def read_until_consistent(read: Callable[[Mapping[str, ColumnKind]], T]) -> T:
    """Return what `read` returns for the revised kinds of columns, at first none.

    Where a later row contradicts a kind that was inferred from the first ones, it is called again with another kind.
    Raises InvalidDataError where kinds are contradicted again and again.
    """
    revised: dict[str, ColumnKind] = {}
    for _ in range(MAX_REVISIONS):
        try:
            return read(revised)
        except ReadAgainError as contradicted:
            revised = {**revised, **contradicted.kinds}
    names = ", ".join(map(shown, list(revised)[:3]))
    raise InvalidDataError(
        f"Later rows contradict the kinds of the columns {names}, ...: declare them (kinds=NAME:KIND)."
    )


def open_table(
    upload: ReceivedBody,
    options: ReadOptions,
    *,
    declared: Mapping[str, ColumnKind],
    limits: RequestLimits,
    revised: Mapping[str, ColumnKind] | None = None,
) -> TableStream:
    """Return the upload as a stream of blocks within the limits; blocks the thread, raises what the formats raise.

    `revised` are the kinds of columns that later rows contradicted.
    """
    maximum = TableLimits(limits.max_columns, limits.max_rows, limits.max_body_bytes, limits.max_upload_bytes)
    options = replace(options, media_type=upload.media_type, revised=revised or {})
    table = upload.format.read_table(upload.file, options, declared=declared, limits=maximum)
    # A cell takes at least one byte of JSON or CSV, so that only compressed columns can exceed the limit.
    blocks = within(table.blocks, max_rows=limits.max_rows, max_cells=limits.max_upload_bytes)
    return replace(table, blocks=_until_cancelled(blocks))


def _until_cancelled(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the blocks; raises WorkCancelledError once the client has disconnected."""
    for block in blocks:
        check_cancelled()
        yield block
    check_cancelled()  # checked before the dataset is made visible


def declared_kinds(texts: Sequence[str]) -> dict[str, ColumnKind]:
    """Return kinds by column from texts NAME:KIND, split at the last colon; raises InvalidRequestError."""
    declared: dict[str, ColumnKind] = {}
    for text in texts:
        name, colon, kind = text.rpartition(":")
        if not colon or not name or kind not in KINDS:
            detail = (
                f"Expected kinds=NAME:KIND, once for each column, KIND one of {', '.join(KINDS)}; got {shown(text)}."
            )
            raise InvalidRequestError(detail, [Fault(detail, parameter="kinds")])
        if declared.get(name, kind) != kind:
            fault = Fault("Expected one kind, got two.", parameter="kinds", column=name)
            raise InvalidRequestError(f"Expected one kind for the column {shown(name)}, got two.", [fault])
        declared[name] = KINDS[kind]
    return declared


def dataset_name(name: str | None, file_name: str | None) -> str:
    """Return the given name, else the file's without its suffix, else "dataset"; raises InvalidRequestError."""
    if name is None:
        stem = PurePosixPath((file_name or "").replace("\\", "/")).stem
        return "".join(filter(is_plain, stem)).strip()[:MAX_NAME_LENGTH] or UNNAMED
    if not name.strip() or len(name) > MAX_NAME_LENGTH or not is_plain(name):
        detail = f"Expected a name of 1 to {MAX_NAME_LENGTH} characters without control characters, got {shown(name)}."
        raise InvalidRequestError(detail, [Fault(detail, parameter="name")])
    return name
