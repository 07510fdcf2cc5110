"""What comes in and what may go out: media types."""

import re
from collections.abc import Sequence
from typing import Literal

from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request

Format = Literal["json", "ndjson", "csv", "arrow", "parquet", "png", "npy"]

MEDIA_TYPES: dict[str, Format] = {
    "application/json": "json",
    "application/x-ndjson": "ndjson",
    "application/ndjson": "ndjson",
    "application/jsonl": "ndjson",
    "application/vnd.apache.arrow.stream": "arrow",
    "text/csv": "csv",
    "application/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/vnd.apache.parquet": "parquet",
    "application/x-parquet": "parquet",
    "image/png": "png",
    "application/x-npy": "npy",
}

ENDINGS: dict[str, Format] = {
    "json": "json",
    "ndjson": "ndjson",
    "jsonl": "ndjson",
    "arrow": "arrow",
    "arrows": "arrow",
    "csv": "csv",
    "tsv": "csv",
    "parquet": "parquet",
    "pq": "parquet",
    "png": "png",
    "npy": "npy",
}

TEXTS: frozenset[Format] = frozenset({"json", "ndjson", "csv"})

RowFormat = Literal["json", "ndjson", "csv", "arrow", "parquet", "npy"]
"""What rows to predict for come in, and what their predictions may go out in."""

ARROW = "application/vnd.apache.arrow.stream"
NDJSON = "application/x-ndjson"
ROW_TYPES: dict[str, RowFormat] = {
    "application/json": "json",
    NDJSON: "ndjson",
    "text/csv": "csv",
    ARROW: "arrow",
    "application/vnd.apache.parquet": "parquet",
    "application/x-npy": "npy",
}
"""The media types by which predictions are told; of those that are equally welcome, the first."""

OTHER_ROW_TYPES: dict[str, RowFormat] = {
    "application/ndjson": "ndjson",
    "application/jsonl": "ndjson",
    "application/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/x-parquet": "parquet",
}
"""By which rows come as well."""

EVENT_STREAM = "text/event-stream"
FORM = "multipart/form-data"
EXPECTED = (
    "application/json, application/x-ndjson, text/csv, application/vnd.apache.arrow.stream, "
    "application/vnd.apache.parquet, image/png, application/x-npy, or multipart/form-data with such a file"
)
_QUALITY = re.compile(r"[0-9]*\.?[0-9]*")
UTF_8 = frozenset({"", "utf-8", "utf8", "us-ascii"})


def media_type_of(content_type: str) -> str:
    """The bare media type of a Content-Type."""
    return content_type.partition(";")[0].strip().lower()


def format_of(content_type: str, file_name: str | None = None) -> Format:
    """The format of a body or a part, by its type, else by its file's ending; raises 415 for any other."""
    media_type = media_type_of(content_type)
    ending = (file_name or "").rpartition(".")[2].lower()
    found = MEDIA_TYPES.get(media_type) or ENDINGS.get(ending)
    if found is None:
        got = media_type or "no Content-Type"
        raise HTTPException(415, f"Expected {EXPECTED}; got {got}.")
    if found in TEXTS and (charset := _charset(content_type)) not in UTF_8:
        raise HTTPException(415, f"Expected UTF-8; got {charset}.")
    return found


def row_format_of(content_type: str) -> RowFormat:
    """The format of rows to predict for; raises 415 for any other, and for texts that are not UTF-8."""
    media_type = media_type_of(content_type)
    found = ROW_TYPES.get(media_type) or OTHER_ROW_TYPES.get(media_type)
    if found is None:
        raise HTTPException(415, f"Expected {', '.join(ROW_TYPES)}; got {media_type or 'no Content-Type'}.")
    if found in TEXTS and (charset := _charset(content_type)) not in UTF_8:
        raise HTTPException(415, f"Expected UTF-8; got {charset}.")
    return found


def answer_type(accept: str | None) -> str:
    """The type of ROW_TYPES by which predictions are told: the one that Accept weighs most; raises 406."""
    weights = {media_type: weight(accept, media_type) for media_type in ROW_TYPES}
    best = max(weights, key=weights.__getitem__)
    if not weights[best]:
        raise HTTPException(
            406, f"The answer can be {', '.join(ROW_TYPES)}, all of which the Accept header leaves out."
        )
    return best


def _charset(content_type: str) -> str:
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return ""


def accepts(accept: str | None, media_type: str) -> bool:
    """Whether an Accept header (None: there is none) lets the answer be of this type."""
    return weight(accept, media_type) > 0


def weight(accept: str | None, media_type: str) -> float:
    """How welcome an answer of this type is by an Accept header (None: there is none), from 0, not at all, to 1."""
    if accept is None or not accept.strip():
        return 1.0
    weights: dict[str, float] = {}
    for offer in accept.split(","):
        offered, *parameters = (part.strip().lower() for part in offer.split(";"))
        weights[offered] = min(map(_quality, parameters), default=1.0)
    for wider in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        if wider in weights:
            return weights[wider]
    return 0.0


def accepts_json(accept: str | None) -> bool:
    """Whether an Accept header (None: there is none) lets the answer be JSON."""
    return accepts(accept, "application/json")


def image_media_type(accept: str | None) -> Literal["image/png", "application/x-npy"]:
    """What an image goes out as: PNG where that will do; raises 406."""
    if accepts(accept, "image/png"):
        return "image/png"
    if accepts(accept, "application/x-npy"):
        return "application/x-npy"
    raise HTTPException(406, "The answer can be image/png or application/x-npy, which the Accept header leaves out.")


def _quality(parameter: str) -> float:
    """The value of a q; 1 for any other parameter, and for a q that is no number from 0 to 1."""
    name, _, value = parameter.partition("=")
    if name.strip() != "q" or not _QUALITY.fullmatch(value.strip()):
        return 1.0
    return min(float(f"0{value.strip()}"), 1.0)


def wants_events(accept: Sequence[str]) -> bool:
    """Whether to answer with a stream of events: where Accept has it above JSON; raises 406 where neither will do."""
    said = ",".join(accept) if accept else None
    events, json = weight(said, EVENT_STREAM), weight(said, "application/json")
    if events == json == 0:
        raise HTTPException(
            406, f"The answer can be application/json or {EVENT_STREAM}, which the Accept header leaves out."
        )
    return events > json


def require_json_accept(request: Request) -> None:
    """Raise 406 where the caller can't take JSON."""
    accept = request.headers.getlist("accept")
    if not accepts_json(",".join(accept) if accept else None):
        raise HTTPException(406, "The answer can only be application/json, which the Accept header leaves out.")


async def _require_json_accept(request: Request) -> None:
    require_json_accept(request)


AcceptsJson = Depends(_require_json_accept)
"""For routes that answer in JSON alone: 406 where the caller can't take it."""
