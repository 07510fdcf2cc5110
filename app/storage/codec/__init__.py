"""Blocks, versions, logs of fits as bytes and back, exact to the bit: a documented format with a version, never
pickle."""

from app.storage.codec.blocks import decode_block, encode_block
from app.storage.codec.fit_logs import decode_fit_log, encode_fit_log
from app.storage.codec.frame import UnreadableBytesError
from app.storage.codec.versions import decode_predictor, encode_predictor

__all__ = [
    "UnreadableBytesError",
    "decode_block",
    "decode_fit_log",
    "decode_predictor",
    "encode_block",
    "encode_fit_log",
    "encode_predictor",
]
