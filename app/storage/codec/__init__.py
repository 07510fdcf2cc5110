"""Blocks, versions, trails as bytes and back, exact to the bit: a documented format with a version, never pickle."""

from app.storage.codec.blocks import decode_block, encode_block
from app.storage.codec.frame import UnreadableBytesError
from app.storage.codec.trails import decode_trail, encode_trail
from app.storage.codec.versions import decode_predictor, encode_predictor

__all__ = [
    "UnreadableBytesError",
    "decode_block",
    "decode_predictor",
    "decode_trail",
    "encode_block",
    "encode_predictor",
    "encode_trail",
]
