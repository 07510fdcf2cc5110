"""A dataset on its way in: from the request's body to a file on disk, and from there to a stream of blocks."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import get_args

from starlette.requests import ClientDisconnect, Request

from app.api.dependencies import Limits
from app.api.expanding import Expander
from app.api.formats.csv_dialect import CsvOptions
from app.api.formats.json_table import json_stream
from app.api.formats.line_stream import open_lines
from app.api.formats.misfits import shown
from app.api.formats.multipart import OneFile
from app.api.formats.spool import SpoolFile, spooled
from app.api.formats.streams import LONGEST_NAME, TableStream, is_plain, within
from app.api.negotiation import FORM, Format, format_of, media_type_of
from app.domain.errors import Fault, InvalidRequestError, MalformedBodyError, TooLargeError
from app.domain.tables import Block, ColumnKind
from app.services.cancellation import check_cancelled

KINDS: Mapping[str, ColumnKind] = {kind: kind for kind in get_args(ColumnKind)}
UNNAMED = "dataset"

MOST_PIXELS = 2**22
"""Of an image, which is unpacked in memory: 32 MiB of numbers."""


@dataclass(frozen=True)
class Upload:
    """A body that has come whole."""

    file: SpoolFile
    format: Format
    media_type: str
    file_name: str | None

    @property
    def content(self) -> tuple[bytes, ...]:
        """What tells it from other uploads: a form's boundary is not among it, the file's name and type are."""
        return self.media_type.encode(), (self.file_name or "").encode(), self.file.digest()


@asynccontextmanager
async def received(request: Request, limits: Limits) -> AsyncIterator[Upload]:
    """The body on disk, as long as the context lasts.

    Raises 415 for what no dataset comes in, TooLargeError before more than the limit is read, MalformedBodyError for a
    broken form.
    """
    content_type = request.headers.get("content-type", "")
    expander = Expander(",".join(request.headers.getlist("content-encoding")), limits.max_upload_bytes)
    form = OneFile(content_type) if media_type_of(content_type) == FORM else None
    found = None if form is not None else format_of(content_type)
    async with spooled(limits.spool_directory, most_bytes=limits.max_upload_bytes) as file:
        if found == "json":
            file.allow(limits.max_body_bytes)
        announced = request.headers.get("content-length", "")
        file.refuse_above(int(announced) if announced.isdecimal() else 0)
        try:
            if form is None:
                async for piece in _unpacked(request, expander, limits):
                    await file.write(piece)
            else:
                pieces = _unpacked(request, expander, limits)
                found, content_type = await _take_apart(pieces, form, file, limits)
        except ClientDisconnect:
            raise MalformedBodyError("The connection ended before the body did.") from None
        await file.flush()
        assert found is not None
        yield Upload(file, found, media_type_of(content_type), form.name if form is not None else None)


async def _unpacked(request: Request, expander: Expander, limits: Limits) -> AsyncIterator[bytes]:
    """The body's pieces as they were before they were packed; raises TooLargeError also where there are too many."""
    come = 0
    async for piece in request.stream():
        come += len(piece)
        if come > limits.max_upload_bytes:
            raise TooLargeError(f"The body is larger than {limits.max_upload_bytes:,} bytes.")
        for unpacked in expander.feed(piece):
            yield unpacked
    expander.finish()


async def _take_apart(
    pieces: AsyncIterator[bytes], form: OneFile, file: SpoolFile, limits: Limits
) -> tuple[Format, str]:
    """Write the form's file; its format, and its type as the form has it."""
    found: Format | None = None
    async for piece in pieces:
        data = form.feed(piece)
        if found is None and form.found:
            found = format_of(form.media_type or "", form.name)
            if found == "json":
                file.allow(limits.max_body_bytes)
        await file.write(data)
    form.finish()
    assert found is not None
    return found, form.media_type or ""


def open_table(
    upload: Upload, options: CsvOptions, *, declared: Mapping[str, ColumnKind], limits: Limits
) -> TableStream:
    """The upload as a stream of blocks that keeps to the limits; blocks the thread, raises what the formats raise."""
    table = _open(upload, options, declared, limits)
    # A cell takes at least one byte of JSON or CSV, so that only Parquet can come to so many.
    blocks = within(table.blocks, most_rows=limits.max_rows, most_cells=limits.max_upload_bytes)
    return replace(table, blocks=_until_cancelled(blocks))


def _until_cancelled(blocks: Iterator[Block]) -> Iterator[Block]:
    """The same blocks, ended by WorkCancelledError where the client has left."""
    for block in blocks:
        check_cancelled()
        yield block
    check_cancelled()  # what follows the last block makes the dataset visible


def _open(upload: Upload, options: CsvOptions, declared: Mapping[str, ColumnKind], limits: Limits) -> TableStream:
    most_columns = limits.max_columns
    match upload.format:
        case "json":
            return json_stream(upload.file.read(), declared=declared, most_columns=most_columns)
        case "ndjson":
            most_bytes = limits.max_body_bytes
            return open_lines(upload.file, declared=declared, most_columns=most_columns, most_bytes=most_bytes)
        case "arrow":
            from app.api.formats.arrow_stream import open_arrow

            return open_arrow(upload.file, declared=declared, most_columns=most_columns)
        case "csv":
            # Arrow is imported where it is needed: a process that only predicts does without its 60 MB.
            from app.api.formats.csv_stream import open_csv

            if upload.media_type == "text/tab-separated-values" and options.delimiter is None:
                options = replace(options, delimiter="\t")
            return open_csv(upload.file, options, declared=declared, most_columns=most_columns)
        case "parquet":
            from app.api.formats.parquet_stream import open_parquet

            return open_parquet(upload.file, declared=declared, most_columns=most_columns, most_rows=limits.max_rows)
        case "png" | "npy":
            if declared:
                detail = "An image has no columns whose kinds could be declared."
                raise InvalidRequestError(detail, [Fault(detail, parameter="kinds")])
            from app.api.formats.images import open_image

            return open_image(upload.file, upload.format, most_pixels=min(limits.max_rows, MOST_PIXELS))


def declared_kinds(texts: Sequence[str]) -> dict[str, ColumnKind]:
    """Kinds by column from texts NAME:KIND, divided at the last colon; raises InvalidRequestError."""
    declared: dict[str, ColumnKind] = {}
    for text in texts:
        name, colon, kind = text.rpartition(":")
        if not colon or not name or kind not in KINDS:
            detail = (
                f"Expected kinds=NAME:KIND, once for each column, KIND one of {', '.join(KINDS)}; got {shown(text)}."
            )
            raise InvalidRequestError(detail, [Fault(detail, parameter="kinds")])
        if declared.get(name, kind) != kind:
            fault = Fault("Two kinds.", parameter="kinds", column=name)
            raise InvalidRequestError(f"Two kinds are declared for the column {shown(name)}.", [fault])
        declared[name] = KINDS[kind]
    return declared


def dataset_name(name: str | None, file_name: str | None) -> str:
    """The name asked for, else the file's without its ending, else "dataset"; raises InvalidRequestError."""
    if name is None:
        stem = PurePosixPath((file_name or "").replace("\\", "/")).stem
        return "".join(filter(is_plain, stem)).strip()[:LONGEST_NAME] or UNNAMED
    if not name.strip() or len(name) > LONGEST_NAME or not is_plain(name):
        detail = f"A dataset's name has 1 to {LONGEST_NAME} characters and no control characters; got {shown(name)}."
        raise InvalidRequestError(detail, [Fault(detail, parameter="name")])
    return name
