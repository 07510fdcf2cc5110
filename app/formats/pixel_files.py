"""Files of images: pixels as PNG or npy."""

import io
from typing import Literal, TypeAlias, get_args

import numpy as np

from relevance_bayes.core.types import Array

ImageMediaType: TypeAlias = Literal["image/png", "application/x-npy"]
IMAGE_MEDIA_TYPES: tuple[ImageMediaType, ...] = get_args(ImageMediaType)


def image_bytes(pixels: Array, media_type: ImageMediaType, *, peak: float) -> bytes:
    """Return pixels (height, width) as PNG in 8 bits, or as npy, exactly.

    Black and white are 0 and 1 where `peak` is 1, else the least and the greatest intensity.
    """
    sink = io.BytesIO()
    if media_type == "application/x-npy":
        np.save(sink, pixels, allow_pickle=False)
        return sink.getvalue()
    from PIL import Image  # here, because most processes never draw one

    black, white = (0.0, 1.0) if peak == 1.0 else (float(pixels.min()), float(pixels.max()))
    halves = 0.5 * pixels - 0.5 * black  # a difference of the greatest numbers is no float64
    shades = np.clip(halves / ((0.5 * white - 0.5 * black) or 1.0), 0.0, 1.0) * 255.0
    Image.fromarray(shades.round().astype(np.uint8)).save(sink, "PNG")
    return sink.getvalue()
