"""Predictions for rows in any format in any format."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from app.formats.cells import Expected, ReadRows
from app.formats.format import Format, RowFormat, WritableFormat
from app.formats.streams import FlatTable, errors_by_row, faulty_rows
from app.http.content_encodings import expanded
from app.http.dependencies import content_encoding_of
from app.http.negotiation import media_type_of, response_format, row_format_of
from app.prediction import PredictRequest, ServedVersion, outputs_of, requested_outputs, version_metadata
from app.prediction.json_codec import JsonCodec, check_rows, options_of, prediction_lines, predictions_json
from app.prediction.predict import row_ids_of, with_row_ids
from app.prediction.runner import Content, YieldGil, is_quick, no_yield
from app.prediction.schemas import Pairs, read_query
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.predictions import PredictOptionsIn
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tasks.prediction import PredictOptions, RowPredictions


def check_writable(response: WritableFormat, options: PredictOptions, outputs: Sequence[str] | None) -> None:
    """Raise InvalidRequestError for options and `outputs` that the format cannot represent."""
    given = {
        "covariance": options.covariance and not response.is_document,
        "explain": options.explain is not None and not response.is_nested,
    }
    faults = [
        Fault(f"A response in {response.name} has no `{name}`: request JSON.", pointer=f"/{name}")
        for name, is_given in given.items()
        if is_given
    ]
    faults += [
        Fault(
            f"A response in {response.name} has numbers alone: use `probabilities` instead.",
            pointer=f"/outputs/{place}",
        )
        for place, output in enumerate(outputs or ())
        if output == "label" and not response.has_texts
    ]
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)


@dataclass(frozen=True)
class ContentNegotiation:
    """The formats of a body and of its response, the body's media type and encoding, and the URL's query."""

    body: Format
    media_type: str
    encoding: str
    response: WritableFormat
    query: Pairs

    @classmethod
    def of(cls, request: Request) -> "ContentNegotiation":
        """Return the formats from a request's headers; raises 406 and 415."""
        headers = request.headers
        accept, content_type = headers.getlist("accept"), headers.get("content-type", "")
        response = response_format(",".join(accept) if accept else None)
        body = row_format_of(content_type)
        encoding = content_encoding_of(request)  # raises before the body is read
        query = () if body.is_document else tuple(request.query_params.multi_items())
        return cls(body, media_type_of(content_type), encoding, response, query)

    @property
    def is_light(self) -> bool:
        """Return whether no library has to be imported and no body decompressed."""
        return not self.encoding and self.body.is_light and self.response.is_light

    @property
    def is_by_lines(self) -> bool:
        """Return whether predictions can be streamed while rows are received."""
        return self.body is self.response and isinstance(self.body, RowFormat) and self.body.streams_lines


@dataclass(frozen=True, eq=False)
class TableCodec:
    """The codec of a complete body, of at most `max_rows` and `max_bytes` once decompressed."""

    body: bytes
    negotiated: ContentNegotiation
    max_rows: int
    max_bytes: int

    def read_inline(self, served: ServedVersion) -> PredictRequest | None:
        """Read a small body in a format that needs no large library."""
        return self.read(served, no_yield) if self.negotiated.is_light and self.is_small(served) else None

    def is_small(self, served: ServedVersion) -> bool:
        """Return whether the body, possibly compressed, is small."""
        return is_quick(served, self.body)

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Read the body; raises what is wrong with it, and InvalidRequestError for options its response can't
        represent."""
        request = self._read(served, yield_gil)
        yield_gil()
        outputs = None if request.outputs == outputs_of(served.version) else request.outputs
        check_writable(self.negotiated.response, request.options, outputs)
        check_rows(block_rows(request.block), self.max_rows)
        return request

    def _read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        negotiated = self.negotiated
        body = expanded(self.body, negotiated.encoding, self.max_bytes)
        if not isinstance(negotiated.body, RowFormat):
            return JsonCodec(body, self.max_rows).read(served, yield_gil)
        requested = read_query(negotiated.query, negotiated.body.row_options, negotiated.media_type)
        requested_outputs(served.version, requested.options.outputs)  # raises before the rows are read
        expected = expected_of(served, self.max_rows, self.max_bytes, requested.options)
        strict = requested.options.on_error == "fail"
        return request_of(
            served, negotiated.body.read_rows(body, requested.read, expected, strict=strict), requested.options
        )

    def render(self, served: ServedVersion, request: PredictRequest, prediction: RowPredictions) -> Iterator[bytes]:
        """Yield the response in its format."""
        return self.negotiated.response.write(_Predictions(served, request, prediction))


@dataclass(frozen=True, eq=False)
class _Predictions:
    """Predictions in the shapes that formats need."""

    served: ServedVersion
    request: PredictRequest
    found: RowPredictions

    def flat(self) -> FlatTable:
        """Return a column for each number and label, and with `on_error` "per_row" a column `error`."""
        found, faults = self.found, self.found.faults
        errors = None if self.request.refuses else errors_by_row(faults)
        columns, faulty = found.columns(self.request.outputs), faulty_rows(found.rows, faults)
        escapes = self.request.escapes_formulas
        return FlatTable(columns, faulty, errors, version_metadata(self.served.version), escapes_formulas=escapes)

    def document(self) -> Iterator[bytes]:
        """Yield a document with the model and the version."""
        return predictions_json(self.served, self.found, outputs=self.request.outputs)

    def lines(self) -> Iterator[bytes]:
        """Yield predictions, one a line."""
        return prediction_lines(self.served, self.found, outputs=self.request.outputs)


def expected_of(served: ServedVersion, max_rows: int, max_bytes: int, options: PredictOptionsIn) -> Expected:
    """Return the columns and limits of rows for this version; raises InvalidRequestError for row ids in an input."""
    columns, noise = served.columns, served.model.noise_column
    if options.row_id_column is not None:
        columns = with_row_ids(columns, options.row_id_column)
    forms = {one.name: one.form for one in served.version.report.plan.inputs if one.form is not None}
    return Expected(columns, noise, served.not_read, max_rows, max_bytes, forms)


def request_of(served: ServedVersion, rows: ReadRows, options: PredictOptionsIn) -> PredictRequest:
    """Return the request for rows in a format without options."""
    outputs, refuses = requested_outputs(served.version, options.outputs), options.on_error == "fail"
    escapes = options.csv_escape_formulas
    block, row_ids = row_ids_of(rows.block, options.row_ids)
    return PredictRequest(
        block, options_of(options), outputs, rows.cell_faults, refuses, rows.lines, escapes, row_ids=row_ids
    )


def response_of(content: Content, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response, with Content-Length where it is known."""
    if isinstance(content, bytes):
        return Response(content, media_type=media_type, headers=headers)
    return StreamingResponse(content, media_type=media_type, headers=headers)


def version_link(served: ServedVersion) -> dict[str, str]:
    """Return the header that identifies the version, for formats without metadata."""
    version = served.version
    return {"Link": f'</v1/models/{quote(version.model, safe="")}/versions/{version.number}>; rel="describedby"'}
