"""Predictors as bytes: records of encodings and sparse models; not compressed, so that bytes can be compared."""

from typing import get_args

from app.domain.models import Predictor
from app.storage.codec.frame import Content, Json, Stored, UnreadableBytesError, read, write
from app.storage.codec.records import pack, reader_of

KINDS: tuple[type[Predictor], ...] = get_args(Predictor)
READER = reader_of(*KINDS, renamed={"Predictor": "SupervisedPredictor"})


def encode_predictor(predictor: Predictor) -> bytes:
    """A predictor as bytes: the same bytes for the same predictor."""
    arrays: list[Stored] = []
    value = pack(predictor, arrays)
    return write(Content.PREDICTOR, value, arrays, compressible=False)


def decode_predictor(data: bytes) -> Predictor:
    """A predictor from its bytes; raises UnreadableBytesError."""
    value, arrays = read(Content.PREDICTOR, data)
    predictor = READER.unpack(_current(value), arrays)
    if not isinstance(predictor, KINDS):
        raise UnreadableBytesError(f"expected a predictor, got {type(predictor).__name__}")
    return predictor


def _current(value: Json) -> Json:
    """With a `temperature` of 1/s where a one-against-rest likelihood had a `sharpness` s before."""
    match value:
        case {"record": "OneAgainstRest", "fields": {"sharpness": sharpness, "classes": classes, "type": kind}}:
            temperature = 1.0 / sharpness if isinstance(sharpness, int | float) else sharpness
            return {
                "record": "OneAgainstRest",
                "fields": {"classes": classes, "temperature": temperature, "type": kind},
            }
        case {"record": str(name), "fields": dict(fields)}:
            return {"record": name, "fields": {field: _current(inner) for field, inner in fields.items()}}
        case _:
            return value
