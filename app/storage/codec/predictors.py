"""Predictors as bytes: records of encodings and sparse models; not compressed, so that bytes can be compared."""

from typing import get_args

from app.domain.models import Predictor
from app.storage.codec.frame import Content, Stored, UnreadableBytesError, read, write
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
    predictor = READER.unpack(value, arrays)
    if not isinstance(predictor, KINDS):
        raise UnreadableBytesError(f"expected a predictor, got {type(predictor).__name__}")
    return predictor
