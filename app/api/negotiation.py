"""What comes in and what may go out: media types."""

from typing import Literal

from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request

Format = Literal["json", "csv", "parquet", "png", "npy"]

MEDIA_TYPES: dict[str, Format] = {
    "application/json": "json",
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
    "csv": "csv",
    "tsv": "csv",
    "parquet": "parquet",
    "pq": "parquet",
    "png": "png",
    "npy": "npy",
}

TEXTS: frozenset[Format] = frozenset({"json", "csv"})

FORM = "multipart/form-data"
EXPECTED = (
    "application/json, text/csv, application/vnd.apache.parquet, image/png, application/x-npy, or multipart/form-data "
    "with such a file"
)
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


def _charset(content_type: str) -> str:
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return ""


def accepts(accept: str | None, media_type: str) -> bool:
    """Whether an Accept header (None: there is none) lets the answer be of this type."""
    if accept is None or not accept.strip():
        return True
    weights: dict[str, bool] = {}
    for offer in accept.split(","):
        offered, *parameters = (part.strip().lower() for part in offer.split(";"))
        weights[offered] = not any(_is_zero(parameter) for parameter in parameters)
    for wider in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        if wider in weights:
            return weights[wider]
    return False


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


def _is_zero(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip() == "q" and value.strip().rstrip("0").rstrip(".") in {"", "0"}


def require_json_accept(request: Request) -> None:
    """Raise 406 where the caller can't take JSON."""
    accept = request.headers.getlist("accept")
    if not accepts_json(",".join(accept) if accept else None):
        raise HTTPException(406, "The answer can only be application/json, which the Accept header leaves out.")


async def _require_json_accept(request: Request) -> None:
    require_json_accept(request)


AcceptsJson = Depends(_require_json_accept)
"""For routes that answer in JSON alone: 406 where the caller can't take it."""
