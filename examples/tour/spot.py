"""`python -m examples.tour.spot` writes spot.png: a spot, and stripes in the lower half."""

from pathlib import Path

import numpy as np
from PIL import Image

FILE = Path(__file__).with_name("spot.png")


def image() -> Image.Image:
    """48 lines of 64 pixels, as docs/how-to/images.md makes them."""
    y, x = np.mgrid[:48, :64]
    shades = 120 + 80 * np.exp(-((x - 20) ** 2 + (y - 14) ** 2) / 50) + 40 * (y > 28) * np.sin(0.6 * x)
    return Image.fromarray(np.round(shades).astype(np.uint8))


if __name__ == "__main__":
    image().save(FILE)
