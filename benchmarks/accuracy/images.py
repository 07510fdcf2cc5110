"""The picture of an image's code: the image, its reconstruction by functions, their places, and the error."""

from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
from matplotlib.axes import Axes

from benchmarks.accuracy.canvas import BLUE, GREEN, MUTED, ORANGE, canvas
from benchmarks.images.peers import max_cosines, max_wavelets
from benchmarks.images.sources import SIDE, photograph
from benchmarks.images.tables import coded
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.images.code import ImageCode, decode, psnr

KEPT = 1_500

ROOT_TO_POINTS = 2.2
"""A marker's diameter in points for the root of a span."""


def draw_image() -> Path:
    """The flower without noise."""
    image = photograph("flower.jpg", SIDE)
    code, _ = coded(image, KEPT)
    title = f"{code.functions:,} functions, {psnr(code.error):.1f} dB"
    titles = (f"{SIDE} x {SIDE} pixels", title, "places of the functions", "error by number of functions")
    drawing = canvas((16.0, 5.0), "An image encoded by few Gabor wavelets", titles, shared=False)
    original, decoded, places, errors = drawing.panels
    for axes, shown in ((original, image), (decoded, decode(code))):
        axes.imshow(shown, cmap="gray", vmin=0.0, vmax=255.0)
    _draw_places(places, image, code)
    for axes in (original, decoded, places):
        axes.set(xticks=[], yticks=[])
    _draw_errors(errors, image, code)
    return drawing.save("images")


def _draw_places(axes: Axes, image: Array, code: ImageCode) -> None:
    axes.imshow(image, cmap="gray", vmin=0.0, vmax=255.0, alpha=0.35)
    wavelets = code.wavelets
    for span, colour in zip(sorted(set(wavelets.spans.tolist())), (BLUE, GREEN, ORANGE, MUTED), strict=False):
        some = wavelets.centres[wavelets.spans == span]
        label = f"scale of {span:g} pixels: {len(some)}"
        size = ROOT_TO_POINTS * np.sqrt(span)
        axes.plot(some[:, 1], some[:, 0], "o", color=colour, mfc="none", ms=size, mew=0.6, label=label)


def _draw_errors(axes: Axes, image: Array, code: ImageCode) -> None:
    numbers, found = zip(*code.path, strict=True)
    axes.plot(numbers, [psnr(error) for error in found], color=BLUE, lw=2, label="sparse Gabor wavelets")
    kept = np.unique(np.geomspace(30, KEPT, 12).astype(int)).tolist()
    for label, peer, colour, marker in (
        ("largest wavelet coefficients", max_wavelets, ORANGE, "D-"),
        ("largest cosine coefficients, 8 x 8 pixels", max_cosines, GREEN, "s-"),
    ):
        with catch_warnings():
            simplefilter("ignore")  # of levels so wide that all their coefficients see the border
            missed = [float(np.sqrt(np.mean((peer(image, number) - image) ** 2))) for number in kept]
        axes.plot(kept, [psnr(error) for error in missed], marker, color=colour, ms=4, label=label)
    axes.set(xlabel="functions or coefficients", ylabel="PSNR, dB")
