"""Blocks and predictors as bytes and back, exact to the bit: a documented format with a version, never pickle."""

from app.storage.codec.blocks import decode_block, encode_block
from app.storage.codec.frame import UnreadableBytesError
from app.storage.codec.predictors import decode_predictor, encode_predictor

__all__ = ["UnreadableBytesError", "decode_block", "decode_predictor", "encode_block", "encode_predictor"]
