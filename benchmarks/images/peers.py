"""Codes of as many coefficients: cosines of 8 x 8 pixels as in JPEG, and wavelets."""

from io import BytesIO

import numpy as np
from scipy.fft import dctn, idctn

from relevance_bayes.core.types import Array

BLOCK = 8

WAVELETS, LEVELS = "bior4.4", 5
"""Those of JPEG 2000, as many levels as it has by default."""

BISECTIONS = 40


def quantised(image: Array, kept: int) -> Array:
    """Cosines divided by the luminance table of JPEG, rounded, at most so many of them not 0.

    The table is scaled finer than any quality allows if it takes that, in its favour; the mean of each block is among
    those that are kept.
    """
    cosines, table = _cosines(image - 128.0), _luminance()
    coarse, fine = 100.0, 1e-3
    for _ in range(BISECTIONS):
        scale = (coarse * fine) ** 0.5
        if np.count_nonzero(np.round(cosines / (scale * table))) > kept:
            fine = scale
        else:
            coarse = scale
    return 128.0 + _image(np.round(cosines / (coarse * table)) * coarse * table)


def max_cosines(image: Array, kept: int) -> Array:
    """The greatest cosines of blocks alone, as they are, and the mean of the image."""
    return np.asarray(image.mean() + _image(_largest(_cosines(image - image.mean()), kept - 1)))


def max_wavelets(image: Array, kept: int) -> Array:
    """The greatest coefficients of one transform alone, as they are, and the mean of the image."""
    import pywt

    mean = image.mean()
    coefficients, places = pywt.coeffs_to_array(
        pywt.wavedec2(image - mean, WAVELETS, mode="periodization", level=LEVELS)
    )
    back = pywt.array_to_coeffs(_largest(coefficients, kept - 1), places, output_format="wavedec2")
    return np.asarray(mean + pywt.waverec2(back, WAVELETS, mode="periodization"), np.float64)


def shrunk(image: Array, noise_sd: float, *, every_shift: bool) -> Array:
    """Hard thresholds of 3 noise sds, of one transform or averaged over all shifts."""
    import pywt

    mean, levels, threshold = image.mean(), LEVELS - 1, 3.0 * noise_sd
    if every_shift:
        coarse, *details = pywt.swt2(image - mean, WAVELETS, level=levels, trim_approx=True)
        kept = [coarse, *(_details(part, threshold) for part in details)]
        return np.asarray(mean + pywt.iswt2(kept, WAVELETS), np.float64)
    coarse, *details = pywt.wavedec2(image - mean, WAVELETS, mode="periodization", level=levels)
    kept = [coarse, *(_details(part, threshold) for part in details)]
    return np.asarray(mean + pywt.waverec2(kept, WAVELETS, mode="periodization"), np.float64)


def _details(part: tuple[Array, ...], threshold: float) -> tuple[Array, ...]:
    return tuple(np.where(np.abs(one) > threshold, one, 0.0) for one in part)


def file_bytes(image: Array, error: float) -> int | None:
    """The size of the smallest JPEG file that misses no more in root mean square; None where none is so good."""
    from PIL import Image

    pixels = np.clip(np.round(image), 0, 255).astype(np.uint8)
    for quality in range(1, 101):
        file = BytesIO()
        Image.fromarray(pixels).save(file, "JPEG", quality=quality, optimize=True)
        size = file.tell()
        decoded = np.asarray(Image.open(file), np.float64)
        if np.sqrt(np.mean((decoded - image) ** 2)) <= error:
            return size
    return None


def _luminance() -> Array:
    """The table that Pillow writes at quality 50, which scales it by 1."""
    from PIL import Image

    file = BytesIO()
    Image.new("L", (BLOCK, BLOCK)).save(file, "JPEG", quality=50)
    with Image.open(file) as image:
        tables: dict[int, list[int]] = getattr(image, "quantization")  # noqa: B009
    return np.array(tables[0], np.float64).reshape(BLOCK, 1, BLOCK)


def _cosines(image: Array) -> Array:
    height, width = image.shape
    blocks = image.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK)
    # In the order of the table: row in the block, block, column in the block.
    return np.asarray(dctn(blocks, axes=(1, 3), norm="ortho"))


def _image(cosines: Array) -> Array:
    rows, _, columns, _ = cosines.shape
    return np.asarray(idctn(cosines, axes=(1, 3), norm="ortho")).reshape(rows * BLOCK, columns * BLOCK)


def _largest(coefficients: Array, kept: int) -> Array:
    left = np.zeros(coefficients.size)
    order = np.argsort(-np.abs(coefficients).ravel(), kind="stable")[:kept]
    left[order] = coefficients.ravel()[order]
    return left.reshape(coefficients.shape)
