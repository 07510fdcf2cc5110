"""Predictions for rows in any format, told in any: what the hot path, JSON for JSON, has not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive

from app.api.answer_files import check_writable
from app.api.answers import prediction_lines, predictions_json
from app.api.dependencies import content_encoding_of
from app.api.expanding import expanded
from app.api.negotiation import media_type_of, response_format, row_format_of
from app.api.predict_query import Pairs, asked_in
from app.api.predicting import Asked, Breathe, Content, Predicting, answered, asked_in_json, wanted_of
from app.api.schemas.requests import PredictOptions
from app.formats.expected import Expected, ReadRows
from app.formats.faults import errors_by_row, faulty_rows
from app.formats.flat_table import FlatTable
from app.formats.format import Format, RowFormat, WritableFormat
from app.services.answering import (
    Answer,
    ServedVersion,
    flat_columns,
    outputs_asked,
    outputs_of,
    rows_of,
    version_metadata,
)
from app.services.counting import CountedRequest, Rows
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.references import Reference


@dataclass(frozen=True)
class Exchange:
    """The formats of a body and of its answer, the body's type and encoding, and the URL's query."""

    body: Format
    media_type: str
    encoding: str
    answer: WritableFormat
    query: Pairs

    @classmethod
    def of(cls, request: Request) -> "Exchange":
        """What a request's headers say; raises 406 and 415."""
        headers = request.headers
        accept, content_type = headers.getlist("accept"), headers.get("content-type", "")
        answer = response_format(",".join(accept) if accept else None)
        body = row_format_of(content_type)
        encoding = content_encoding_of(request)  # refused before the body is read
        query = () if body.is_document else tuple(request.query_params.multi_items())
        return cls(body, media_type_of(content_type), encoding, answer, query)

    @property
    def is_light(self) -> bool:
        """Whether nothing has to be imported or unpacked for it."""
        return not self.encoding and self.body.is_light and self.answer.is_light

    @property
    def is_by_lines(self) -> bool:
        """Whether answers can leave while rows still come."""
        return self.body is self.answer and isinstance(self.body, RowFormat) and self.body.streams_lines


async def exchange(
    predicting: Predicting, owner: str, reference: Reference, body: bytes, wanted: Exchange, receive: Receive
) -> Response:
    """The answer to a body that has come whole; raises what the hot path does."""
    served = await predicting.served(owner, reference)
    with CountedRequest(served.counts) as counted:
        call = partial(exchanged, served, body, wanted, predicting, counted)
        content = await predicting.told(served, body, call, receive, inline=wanted.is_light)
    return response_of(content, wanted.answer.media_type, told_of(served))


def response_of(content: Content, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """With its length where that is known."""
    if isinstance(content, bytes):
        return Response(content, media_type=media_type, headers=headers)
    return StreamingResponse(content, media_type=media_type, headers=headers)


def told_of(served: ServedVersion) -> dict[str, str]:
    """Which version it was that answered, where the answer itself has no room to say so."""
    version = served.version
    return {"Link": f'</v1/models/{quote(version.model, safe="")}/versions/{version.number}>; rel="describedby"'}


def exchanged(
    served: ServedVersion,
    body: bytes,
    wanted: Exchange,
    limits: Predicting,
    counted: Rows,
    breathe: Breathe,
) -> Iterator[bytes]:
    """Predictions for the rows in a body, made at once and told in pieces; `breathe` is called now and then."""
    body = expanded(body, wanted.encoding, limits.most_bytes)
    asked = _asked(served, body, wanted, limits, breathe)
    breathe()
    return _told(served, asked, wanted.answer, limits.most_rows, counted)


@dataclass(frozen=True, eq=False)
class _Predictions:
    """Predictions in the shape that a format needs."""

    served: ServedVersion
    asked: Asked
    found: Answer
    faults: Sequence[Fault]

    def flat(self) -> FlatTable:
        """A column for each number and label; where bad rows are not refused, `error` says what is wrong with them."""
        errors = None if self.asked.refuses else errors_by_row(self.faults)
        columns, faulty = flat_columns(self.found, self.asked.outputs), faulty_rows(rows_of(self.found), self.faults)
        escapes = self.asked.escapes_formulas
        return FlatTable(columns, faulty, errors, version_metadata(self.served.version), escapes_formulas=escapes)

    def document(self) -> Iterator[bytes]:
        """With the model and the version."""
        return predictions_json(self.served, self.found, outputs=self.asked.outputs, faults=self.faults)

    def lines(self) -> Iterator[bytes]:
        """A prediction on each line."""
        return prediction_lines(self.served, self.found, outputs=self.asked.outputs, faults=self.faults)


def _told(
    served: ServedVersion, asked: Asked, answer: WritableFormat, most_rows: int, counted: Rows
) -> Iterator[bytes]:
    """Predictions as they were asked for, in a format."""
    every = outputs_of(served.version)
    check_writable(answer, asked.wanted, None if asked.outputs == every else asked.outputs)
    found, faults = answered(served, asked, most_rows, counted)
    return answer.write(_Predictions(served, asked, found, faults))


def expected_of(served: ServedVersion, limits: Predicting) -> Expected:
    """What rows for this version must hold."""
    noise = served.answering.noise_column
    return Expected(served.columns, noise, served.not_read, limits.most_rows, limits.most_bytes)


def asked_by(served: ServedVersion, rows: ReadRows, options: PredictOptions) -> Asked:
    """Predictions of rows that came without room for options."""
    outputs, refuses = outputs_asked(served.version, options.outputs), options.on_error == "fail"
    escapes = options.csv_escape_formulas
    return Asked(rows.block, rows.misfits, outputs, wanted_of(options), refuses, rows.lines, escapes)


def _asked(served: ServedVersion, body: bytes, wanted: Exchange, limits: Predicting, breathe: Breathe) -> Asked:
    if not isinstance(wanted.body, RowFormat):
        return asked_in_json(served, body, breathe, limits.most_rows)
    asked = asked_in(wanted.query, wanted.body.row_options, wanted.media_type)
    outputs_asked(served.version, asked.options.outputs)  # refused before the rows are read
    expected, strict = expected_of(served, limits), asked.options.on_error == "fail"
    return asked_by(served, wanted.body.read_rows(body, asked.read, expected, strict=strict), asked.options)
