"""The quality of codes by the number of functions, and denoising."""

from dataclasses import dataclass
from math import log
from time import process_time
from warnings import catch_warnings, simplefilter

import numpy as np

from benchmarks.files import NotRun
from benchmarks.generators import ACCURACY_SEED
from benchmarks.images.peers import file_bytes, max_cosines, max_wavelets, quantised, shrunk
from benchmarks.images.sources import SIDE, SOURCES
from benchmarks.options import Options
from benchmarks.report import Table, not_run
from relevance_bayes.core.inference.evidence import log_choices
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.images.code import ImageCode, decode, psnr
from relevance_bayes.tasks.images.encoding import steps

KEPT = (100, 300, 1_000, 3_000)

WEIGHT_BITS = 8
"""The assumed size of a quantised weight."""

NOISE_SD = 20.0
NOISY_SIDE = 128

CODE_HEADER = (
    "image", "functions", "ours", "wavelets", "8 x 8 cosines", "JPEG's, quantised", "CPU s", "our bytes", "JPEG file"
)  # fmt: skip

CODE_NOTES = (
    (
        "PSNR in dB, peak 255, at as many functions or coefficients, the constant counted; ours on the way to the "
        "last, before all weights are found together. Flower and temple: the middle of scikit-learn's photographs, "
        "256 x 256, grey. Wavelets: the greatest coefficients of bior4.4, JPEG 2000's, five levels. Cosines: the "
        "greatest of all blocks; quantised by JPEG's table, scaled to leave so many, where the mean of each of 1,024 "
        "blocks is hard to do without."
    ),
    (
        "A function of ours approximates more than a coefficient and costs more: it is one of millions. Our bytes: "
        "log2 C(M, R) for which, and 8 bits a weight, reckoned and not written, what rounding costs not counted. JPEG "
        "file: Pillow's smallest that misses no more, in bytes. CPU seconds are ours; the peers take hundredths."
    ),
)

NOISE_HEADER = (
    "image",
    "noisy",
    "ours, noise learned",
    "sd found",
    "functions",
    "ours, known",
    "wavelets",
    "all shifts",
)

NOISE_NOTES = (
    (
        "PSNR to the truth in dB, the middle 128 x 128 pixels with noise of sd 20. Every function of ours pays its "
        "price. Wavelets: bior4.4, four levels, hard thresholds at 3 sds, the noise known; all shifts: averaged over "
        "all shifts of the image, which is no code."
    ),
)


@dataclass(frozen=True)
class Timed:
    """CPU seconds until so many functions were in."""

    functions: int
    seconds: float


def images(options: Options) -> list[Table]:
    """Codes, and cleaning."""
    with catch_warnings():
        simplefilter("ignore")  # of levels so wide that all their coefficients see the border
        return [_codes(options), _noisy(options)]


def coded(image: Array, kept: int) -> tuple[ImageCode, list[Timed]]:
    """A code of so many functions, and when it had how many."""
    start, timed = process_time(), []
    for step in steps(image, functions=kept):
        timed.append(Timed(step.functions, process_time() - start))
        if step.code is not None:
            return step.code, timed
    raise NotRun("no code")


def _codes(options: Options) -> Table:
    side, kept = (SIDE // 2, KEPT[:3]) if options.quick else (SIDE, KEPT)
    title, rows = f"Images of {side} x {side} pixels without noise", []
    try:
        for name, drawn in SOURCES.items():
            image = drawn(side)
            code, timed = coded(image, kept[-1])
            rows += [_row(name, image, code, timed, number) for number in kept]
    except NotRun as absent:
        return not_run(title, absent)
    return Table(title, CODE_HEADER, tuple(rows), CODE_NOTES)


def _row(name: str, image: Array, code: ImageCode, timed: list[Timed], number: int) -> tuple[str, ...]:
    error = dict(code.path)[number]
    peers = (max_wavelets(image, number), max_cosines(image, number), quantised(image, number))
    seconds = next(one.seconds for one in timed if one.functions >= number)
    bits = log_choices(code.candidates, number) / log(2.0) + WEIGHT_BITS * number
    size = file_bytes(image, error)
    return (
        name,
        f"{number:,}",
        f"{psnr(error):.2f}",
        *(f"{_psnr(one, image):.2f}" for one in peers),
        f"{seconds:.1f}",
        f"{bits / 8.0:,.0f}",
        "–" if size is None else f"{size:,}",
    )


def _noisy(options: Options) -> Table:
    title, rows = f"Images with noise of sd {NOISE_SD:g}", []
    try:
        for name, drawn in SOURCES.items():
            full, rim = drawn(SIDE), (SIDE - NOISY_SIDE) // 2
            image = full[rim:-rim, rim:-rim]
            noisy = image + NOISE_SD * np.random.default_rng(ACCURACY_SEED).normal(size=image.shape)
            learned, known = (_cleaned(noisy, sd) for sd in (None, NOISE_SD))
            peers = [shrunk(noisy, NOISE_SD, every_shift=shifts) for shifts in (False, True)]
            engines = (f"{_psnr(one, image):.2f}" for one in (decode(known), *peers))
            found = (f"{_psnr(decode(learned), image):.2f}", f"{learned.noise_sd:.1f}", f"{learned.functions:,}")
            rows.append((name, f"{_psnr(noisy, image):.2f}", *found, *engines))
    except NotRun as absent:
        return not_run(title, absent)
    return Table(title, NOISE_HEADER, tuple(rows), NOISE_NOTES)


def _cleaned(noisy: Array, noise_sd: float | None) -> ImageCode:
    *_, last = steps(noisy, noise_sd=noise_sd)
    if last.code is None:
        raise NotRun("no code")
    return last.code


def _psnr(values: Array, image: Array) -> float:
    return psnr(float(np.sqrt(np.mean((values - image) ** 2))))
