"""The routes of datasets: upload, read with rows, delete."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import TypeAdapter

from app.datasets.ingest import Ingest
from app.datasets.records import Dataset, Received
from app.datasets.service import Datasets, Row
from app.datasets.uploads import (
    ReceivedBody,
    dataset_name,
    declared_kinds,
    open_table,
    read_until_consistent,
    received,
)
from app.formats import TABLE_FORMATS, listed
from app.formats.format import MAX_SKIPPED_ROWS, ReadOptions
from app.formats.images import image_bytes
from app.http.conditional_requests import NOT_MODIFIED, TAGGED, UNCHANGING, conditional_response
from app.http.dependencies import Owner, ServicesDependency, identifier, limits_of
from app.http.disconnection import run_for_client
from app.http.idempotency import Idempotency, Key, named, once
from app.http.idempotency_records import Keyed, StoredResponse
from app.http.lists import DatasetsQuery, Limit
from app.http.negotiation import FORM, AcceptsJson, header_of, image_media_type, to_json
from app.http.openapi import IMAGE_CONTENT, contents, described, problems
from app.malloc import release_memory
from relevance_bayes.records import datasets as records
from relevance_bayes.records.datasets import Column, DatasetIn
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.json import Page
from relevance_bayes.records.values import CategoryCount, ColumnKind, DecimalMark, TextEncoding, ThousandsMark
from relevance_bayes.tables.columns import ColumnSummary
from relevance_bayes.tables.kinds import iso_8601
from relevance_bayes.tables.moments import LEVELS
from relevance_bayes.tasks.images.request import peak_of

DATASET_IN: TypeAdapter[DatasetIn] = TypeAdapter(DatasetIn)
"""The three forms of a table, only for OpenAPI: app.formats reads them."""

_BYTES = {"type": "string", "format": "binary"}
_FORM = {"schema": {"type": "object", "required": ["file"], "properties": {"file": _BYTES}}}
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/DatasetIn"}},
            **contents(TABLE_FORMATS),
            FORM: _FORM,
        },
    }
}

_DESCRIPTION = f"""Upload a table or an image as {listed(TABLE_FORMATS)}.

The kinds of the columns are inferred from the first 1,000 rows of a table. PNG and npy are images: one row for each
pixel, line by line, with its `row`, `column` and `intensity`. Bodies may be compressed with gzip, deflate or zstd."""

Name = Annotated[
    str | None, Query(description='A printable text of up to 200 characters. Default: the file\'s name, or "dataset".')
]
Delimiter = Annotated[str | None, Query(description=described("delimiter"))]
Decimal = Annotated[DecimalMark | None, Query(description=described("decimal"))]
Thousands = Annotated[ThousandsMark | None, Query(description=described("thousands"))]
DateFormat = Annotated[str | None, Query(description=described("date_format"))]
Header = Annotated[
    bool | None,
    Query(
        description="CSV: whether the first line has column names, also as `Content-Type: text/csv; header=absent`. "
        "Default: detected."
    ),
]
Sheet = Annotated[str | None, Query(description=described("sheet"))]
MissingValues = Annotated[list[str] | None, Query(description=described("missing_values"))]
Encoding = Annotated[TextEncoding | None, Query(description=described("encoding"))]
SkipRows = Annotated[int | None, Query(ge=0, le=MAX_SKIPPED_ROWS, description=described("skip_rows"))]
Kinds = Annotated[
    list[str],
    Query(
        description="NAME:KIND, once for each column whose kind is not to be inferred: number, boolean, category "
        "or timestamp, as in `?kinds=zip:category&kinds=visits:number`.",
        default_factory=list,
    ),
]
Reuse = Annotated[
    bool,
    Query(
        description="Return the dataset of this name with the same columns and rows, where there is one (200), in the "
        "place of a new one."
    ),
]
DatasetId = Annotated[str, Path(description="The dataset's id.")]
AfterRow = Annotated[int | None, Query(ge=0, le=2**53, description="Return only rows with greater numbers.")]
Sample = Annotated[
    int | None,
    Query(ge=1, le=1000, description="Return so many rows, evenly spaced over the whole table, in place of a page."),
]

router = APIRouter(prefix="/v1/datasets", tags=["Datasets"], dependencies=[AcceptsJson])


@router.post(
    "",
    status_code=201,
    summary="Upload a table or an image",
    description=_DESCRIPTION,
    response_model=records.Dataset,
    openapi_extra=BODY,
    responses={
        200: {"model": records.Dataset, "description": "With `reuse`: the dataset that the upload repeats."},
        **problems(400, 406, 409, 413, 415, 422),
    },
)
async def upload(
    request: Request,
    owner: Owner,
    services: ServicesDependency,
    key: Key,
    kinds: Kinds,
    name: Name = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    date_format: DateFormat = None,
    header: Header = None,
    sheet: Sheet = None,
    missing_values: MissingValues = None,
    encoding: Encoding = None,
    skip_rows: SkipRows = None,
    reuse: Reuse = False,
) -> Response:
    """Store a table, whose column kinds are inferred from its first 1,000 rows, or an image."""
    options = ReadOptions(
        delimiter,
        decimal,
        header_of(request.headers.get("content-type", "")) if header is None else header,
        sheet,
        thousands,
        date_format,
        None if missing_values is None else tuple(missing_values),
        encoding,
        skip_rows,
    )
    declared = declared_kinds(kinds)
    limits = limits_of(request)
    dataset_name(name, None)  # refused before the body is read

    def store(body: ReceivedBody, keyed: Keyed[Received] | None) -> Received:
        called = dataset_name(name, body.file_name)

        def receive(revised: Mapping[str, ColumnKind]) -> Received:
            table = open_table(body, options, declared=declared, limits=limits, revised=revised)
            return services[Ingest].receive(owner, called, table, reuse=reuse, keyed=keyed)

        try:
            return read_until_consistent(receive)
        finally:
            release_memory()

    async with received(request, limits) as body:
        # The response too is encoded off the event loop: with thousands of columns it takes long.
        required = named(request, owner, key, *body.content)
        return await run_for_client(
            request.receive, once, services[Idempotency], required, _response, partial(store, body)
        )


def _response(received: Received) -> StoredResponse:
    dataset = received.dataset
    headers = (("Location", f"/v1/datasets/{dataset.id}"), ("Content-Type", "application/json"))
    return StoredResponse(201 if received.is_new else 200, headers, to_json(dataset_record(dataset)))


@router.get("", summary="List datasets", responses=problems(406, 422))
def datasets(
    owner: Owner, services: ServicesDependency, query: Annotated[DatasetsQuery, Query()]
) -> Page[records.Dataset]:
    """List datasets by age."""
    page = services[Datasets].page(owner, query.part, name=query.name)
    return Page.of([dataset_record(dataset) for dataset in page.items], page.next)


@router.get(
    "/{dataset_id}",
    summary="Get a dataset",
    response_model=records.Dataset,
    responses={200: TAGGED, 304: NOT_MODIFIED, **problems(404, 406)},
)
def dataset(dataset_id: DatasetId, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Get a dataset with statistics of its columns; it never changes."""
    found = services[Datasets].get(owner, identifier(dataset_id, "dataset"))
    return conditional_response(request, to_json(dataset_record(found)), cache_control=UNCHANGING)


@router.get("/{dataset_id}/rows", summary="List a dataset's rows", responses=problems(404, 406, 422))
def rows(
    dataset_id: DatasetId,
    owner: Owner,
    services: ServicesDependency,
    limit: Limit = 100,
    after: AfterRow = None,
    sample: Sample = None,
) -> Page[records.DatasetRow]:
    """List rows in the table's order, with their numbers from 0; fewer than `limit` where rows are wide.

    With `sample` they are spread evenly over the table, and all in one response.
    """
    required, first = identifier(dataset_id, "dataset"), 0 if after is None else after + 1
    if sample is not None:
        if after is not None:
            detail = "Expected `sample` or `after`, got both: a sample has no pages."
            raise InvalidRequestError(detail, [Fault(detail, parameter="after")])
        return Page.of([_row(row) for row in services[Datasets].sample(owner, required, size=sample)], None)
    end = services[Datasets].get(owner, required).rows
    found = services[Datasets].rows(owner, required, limit=limit, first=first)
    following = str(found[-1].number) if found and found[-1].number + 1 < end else None
    return Page.of([_row(row) for row in found], following)


def _row(row: Row) -> records.DatasetRow:
    return records.DatasetRow(row.number, row.cells)


@router.delete("/{dataset_id}", status_code=204, summary="Delete a dataset", responses=problems(404, 406, 409))
def delete(dataset_id: DatasetId, owner: Owner, services: ServicesDependency) -> None:
    """Delete a dataset that no unfinished job needs; versions trained on it stay."""
    services[Datasets].delete(owner, identifier(dataset_id, "dataset"))


image_router = APIRouter(prefix="/v1/datasets", tags=["Datasets"])


@image_router.get(
    "/{dataset_id}/image",
    summary="Get the image of a dataset",
    response_class=Response,
    responses={
        200: {"description": "All pixels.", "content": IMAGE_CONTENT, **TAGGED},
        304: NOT_MODIFIED,
        **problems(404, 406),
    },
)
def image(dataset_id: DatasetId, owner: Owner, services: ServicesDependency, request: Request) -> Response:
    """Return all pixels of an uploaded image as PNG or, if `Accept` prefers it, as npy, which is exact.

    A PNG has 8 bits: from black at 0 to white at 1 if the image's intensities are from 0 to 1, else over its own
    range. A dataset that was uploaded as a table has no image.
    """
    media_type = image_media_type(request.headers.get("accept"))
    pixels = services[Datasets].pixels(owner, identifier(dataset_id, "dataset"))
    content = image_bytes(pixels, media_type, peak=peak_of(float(pixels.min()), float(pixels.max())))
    return conditional_response(request, content, cache_control=UNCHANGING, media_type=media_type, vary="Accept")


_COLUMN: TypeAdapter[Column] = TypeAdapter(Column)
_DATASET: TypeAdapter[records.Dataset] = TypeAdapter(records.Dataset)


def column_record(column: ColumnSummary, rows: int) -> Column:
    """Return a column of a table with so many rows for a response, by its kind."""

    def shown(value: float | None) -> float | str | None:
        return iso_8601(value) if column.kind == "timestamp" and value is not None else value

    counts = tuple(CategoryCount(label, count) for label, count in column.categories)
    own = {
        "min": shown(column.minimum),
        "mean": shown(column.mean),
        "max": shown(column.maximum),
        "quantiles": tuple(
            {"level": level, "value": shown(value)} for level, value in zip(LEVELS, column.quantiles, strict=False)
        ),
        "categories": counts,
        "other": rows - column.missing - sum(one.count for one in counts),
    }
    return _COLUMN.validate_python({**vars(column), **own})


def dataset_record(dataset: Dataset) -> records.Dataset:
    """Return a dataset for a response."""
    own = {
        "id": str(dataset.id),
        "columns": tuple(column_record(column, dataset.rows) for column in dataset.columns),
    }
    return _DATASET.validate_python({**vars(dataset), **own})
