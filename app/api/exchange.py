"""Predictions for rows in any format, told in any: what the hot path, JSON for JSON, has not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive

from app.answers.files import Written, predictions_file
from app.api.answer_files import check_writable
from app.api.answers import prediction_lines, predictions_json
from app.api.dependencies import content_encoding_of
from app.api.expanding import expanded
from app.api.formats.csv_dialect import CsvOptions
from app.api.formats.expected import Expected, ReadRows
from app.api.formats.line_rows import lines_of, read_lines
from app.api.formats.npy_rows import read_npy
from app.api.negotiation import ROW_TYPES, RowFormat, answer_type, media_type_of, row_format_of
from app.api.predict_query import Pairs, asked_in
from app.api.predicting import Asked, Breathe, Content, Predicting, answered, asked_in_json, wanted_of
from app.api.schemas.requests import PredictOptions
from app.domain.references import Reference
from app.services.answering import ServedVersion, outputs_asked, outputs_of
from app.services.counting import CountedRequest, Rows

LIGHT: frozenset[RowFormat] = frozenset({"json", "ndjson", "npy"})
"""Formats that do without Arrow, whose first import takes its time."""


@dataclass(frozen=True)
class Exchange:
    """What a body is in, by its type and encoding; by which type its answer is told; and the URL's query."""

    body: RowFormat
    media_type: str
    encoding: str
    answer_type: str
    query: Pairs

    @classmethod
    def of(cls, request: Request) -> "Exchange":
        """What a request's headers say; raises 406 and 415."""
        headers = request.headers
        accept, content_type = headers.getlist("accept"), headers.get("content-type", "")
        answer = answer_type(",".join(accept) if accept else None)
        body = row_format_of(content_type)
        encoding = content_encoding_of(request)  # refused before the body is read
        query = () if body == "json" else tuple(request.query_params.multi_items())
        return cls(body, media_type_of(content_type), encoding, answer, query)

    @property
    def answer(self) -> RowFormat:
        """The answer's format."""
        return ROW_TYPES[self.answer_type]

    @property
    def is_light(self) -> bool:
        """Whether nothing has to be imported or unpacked for it."""
        return not self.encoding and {self.body, self.answer} <= LIGHT

    @property
    def is_by_lines(self) -> bool:
        """Whether answers can leave while rows still come."""
        return self.body == self.answer == "ndjson"


async def exchange(
    predicting: Predicting, owner: str, reference: Reference, body: bytes, wanted: Exchange, receive: Receive
) -> Response:
    """The answer to a body that has come whole; raises what the hot path does."""
    served = await predicting.served(owner, reference)
    with CountedRequest(served.counts) as counted:
        call = partial(exchanged, served, body, wanted, predicting, counted)
        content = await predicting.told(served, body, call, receive, inline=wanted.is_light)
    return response_of(content, wanted.answer_type, told_of(served))


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


def _told(served: ServedVersion, asked: Asked, answer: RowFormat, most_rows: int, counted: Rows) -> Iterator[bytes]:
    """Predictions as they were asked for, in a format."""
    every = outputs_of(served.version)
    check_writable(answer, asked.wanted, None if asked.outputs == every else asked.outputs)
    found, faults = answered(served, asked, most_rows, counted)
    match answer:
        case "json":
            return predictions_json(served, found, outputs=asked.outputs, faults=faults)
        case "ndjson":
            return prediction_lines(served, found, outputs=asked.outputs, faults=faults)
        case _:
            told = Written(asked.outputs, not asked.refuses, asked.escapes_formulas)
            return predictions_file(answer, served.version, found, told, faults)


def expected_of(served: ServedVersion, limits: Predicting) -> Expected:
    """What rows for this version must hold."""
    noise = served.answering.noise_column
    return Expected(served.columns, noise, served.not_read, limits.most_rows, limits.most_bytes)


def asked_by(served: ServedVersion, rows: ReadRows, options: PredictOptions, lines: Sequence[int] = ()) -> Asked:
    """Predictions of rows that came without room for options; `lines` on which these stand, where they do."""
    outputs, refuses = outputs_asked(served.version, options.outputs), options.on_error == "fail"
    escapes = options.csv_escape_formulas
    return Asked(rows.block, rows.misfits, outputs, wanted_of(options), refuses, tuple(lines), escapes)


def _asked(served: ServedVersion, body: bytes, wanted: Exchange, limits: Predicting, breathe: Breathe) -> Asked:
    if wanted.body == "json":
        return asked_in_json(served, body, breathe, limits.most_rows)
    asked = asked_in(wanted.query, csv=wanted.body == "csv")
    outputs_asked(served.version, asked.options.outputs)  # refused before the rows are read
    expected = expected_of(served, limits)
    match wanted.body:
        case "ndjson":
            lines = lines_of(body, limits.most_rows)
            rows = read_lines(lines, expected, strict=asked.options.on_error == "fail")
            return asked_by(served, rows, asked.options, [line.number for line in lines])
        case "npy":
            rows = read_npy(body, expected)
        case "csv":
            # Arrow is imported where it is needed: a process that only predicts does without its 60 MB.
            from app.api.formats.csv_rows import read_csv

            by_tabs = wanted.media_type == "text/tab-separated-values" and asked.csv.delimiter is None
            rows = read_csv(body, CsvOptions("\t", asked.csv.decimal) if by_tabs else asked.csv, expected)
        case "arrow":
            from app.api.formats.arrow_rows import read_arrow

            rows = read_arrow(body, expected)
        case "parquet":
            from app.api.formats.parquet_rows import read_parquet

            rows = read_parquet(body, expected)
        case _:
            assert_never(wanted.body)
    return asked_by(served, rows, asked.options)
