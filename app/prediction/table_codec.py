"""Predictions for rows in any format in any other: what JSON for JSON, the commonest, does without."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from app.formats.expected import Expected, ReadRows
from app.formats.faults import errors_by_row, faulty_rows
from app.formats.flat_table import FlatTable
from app.formats.format import Format, RowFormat, WritableFormat
from app.http.decompression import expanded
from app.http.dependencies import content_encoding_of
from app.http.negotiation import media_type_of, response_format, row_format_of
from app.prediction import PredictRequest, ServedVersion, outputs_of, requested_outputs, version_metadata
from app.prediction.format_checks import check_writable
from app.prediction.json_codec import JsonCodec, check_rows, options_of
from app.prediction.query import Pairs, read_query
from app.prediction.render import prediction_lines, predictions_json
from app.prediction.runner import Content, YieldGil, is_quick, no_yield
from app.prediction.schemas.predict import PredictOptionsIn
from app.tasks.prediction import Prediction
from relevance_bayes.tables.columns import block_rows


@dataclass(frozen=True)
class ContentNegotiation:
    """The formats of a body and of its response, the body's type and encoding, and the URL's query."""

    body: Format
    media_type: str
    encoding: str
    response: WritableFormat
    query: Pairs

    @classmethod
    def of(cls, request: Request) -> "ContentNegotiation":
        """As a request's headers say; raises 406 and 415."""
        headers = request.headers
        accept, content_type = headers.getlist("accept"), headers.get("content-type", "")
        response = response_format(",".join(accept) if accept else None)
        body = row_format_of(content_type)
        encoding = content_encoding_of(request)  # refused before the body is read
        query = () if body.is_document else tuple(request.query_params.multi_items())
        return cls(body, media_type_of(content_type), encoding, response, query)

    @property
    def is_light(self) -> bool:
        """Return whether nothing has to be imported or unpacked for it."""
        return not self.encoding and self.body.is_light and self.response.is_light

    @property
    def is_by_lines(self) -> bool:
        """Return whether predictions can leave while rows still come."""
        return self.body is self.response and isinstance(self.body, RowFormat) and self.body.streams_lines


@dataclass(frozen=True, eq=False)
class TableCodec:
    """A body that has come whole, of at most `max_rows` and, unpacked, `max_bytes`."""

    body: bytes
    negotiated: ContentNegotiation
    max_rows: int
    max_bytes: int

    def read_inline(self, served: ServedVersion) -> PredictRequest | None:
        """Small bodies in formats that need no large library."""
        return self.read(served, no_yield) if self.negotiated.is_light and self.is_small(served) else None

    def is_small(self, served: ServedVersion) -> bool:
        """As it was sent, packed or not."""
        return is_quick(served, self.body)

    def read(self, served: ServedVersion, yield_gil: YieldGil) -> PredictRequest:
        """Raises what is wrong with the body, and InvalidRequestError for what its response has no room for."""
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
        requested_outputs(served.version, requested.options.outputs)  # refused before the rows are read
        expected, strict = expected_of(served, self.max_rows, self.max_bytes), requested.options.on_error == "fail"
        return request_of(
            served, negotiated.body.read_rows(body, requested.read, expected, strict=strict), requested.options
        )

    def render(self, served: ServedVersion, request: PredictRequest, prediction: Prediction) -> Iterator[bytes]:
        """In the format of the response."""
        return self.negotiated.response.write(_Predictions(served, request, prediction))


@dataclass(frozen=True, eq=False)
class _Predictions:
    """Predictions in the shape that a format needs."""

    served: ServedVersion
    request: PredictRequest
    found: Prediction

    def flat(self) -> FlatTable:
        """A column for each number and label; where bad rows are not refused, `error` says what is wrong with them."""
        found, faults = self.found, self.found.faults
        errors = None if self.request.refuses else errors_by_row(faults)
        columns, faulty = found.columns(self.request.outputs), faulty_rows(found.rows, faults)
        escapes = self.request.escapes_formulas
        return FlatTable(columns, faulty, errors, version_metadata(self.served.version), escapes_formulas=escapes)

    def document(self) -> Iterator[bytes]:
        """With the model and the version."""
        return predictions_json(self.served, self.found, outputs=self.request.outputs)

    def lines(self) -> Iterator[bytes]:
        """A prediction on each line."""
        return prediction_lines(self.served, self.found, outputs=self.request.outputs)


def expected_of(served: ServedVersion, max_rows: int, max_bytes: int) -> Expected:
    """Return what rows for this version must hold."""
    return Expected(served.columns, served.model.noise_column, served.not_read, max_rows, max_bytes)


def request_of(served: ServedVersion, rows: ReadRows, options: PredictOptionsIn) -> PredictRequest:
    """The request of rows that came without room for options."""
    outputs, refuses = requested_outputs(served.version, options.outputs), options.on_error == "fail"
    escapes = options.csv_escape_formulas
    return PredictRequest(rows.block, options_of(options), outputs, rows.cell_faults, refuses, rows.lines, escapes)


def response_of(content: Content, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """With its length where that is known."""
    if isinstance(content, bytes):
        return Response(content, media_type=media_type, headers=headers)
    return StreamingResponse(content, media_type=media_type, headers=headers)


def version_link(served: ServedVersion) -> dict[str, str]:
    """The header that says which version predicted, where the response itself has no room for it."""
    version = served.version
    return {"Link": f'</v1/models/{quote(version.model, safe="")}/versions/{version.number}>; rel="describedby"'}
