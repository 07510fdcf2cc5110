"""Wavelet shrinkage as a user of PyWavelets would do it: orthogonal wavelets on the circle, the universal threshold.

[DONOHO1994]; averaged over all shifts of the signal [COIFMAN1995] (Coifman & Donoho, Translation-invariant de-noising,
Wavelets and Statistics) it is the undecimated transform with hard thresholds.
"""

from time import process_time

import numpy as np

from benchmarks.files import Split
from benchmarks.signals.dictionaries import Denoised
from relevance_bayes.core.types import Array

WAVELETS = ("haar", "db4", "sym8")
"""Of these the one that is best in the mean of all draws is shown: chosen by the truth, in their favour."""

COARSEST = 5
"""Coefficients of the 2^5 widest functions are left as they are: their low-resolution cutoff [DONOHO1994]."""

NORMAL_MAD = 0.6745
"""The median of |z|, z normal."""


def shrunk(split: Split, wavelet: str, *, noise_sd: float | None, every_shift: bool) -> Denoised:
    """Soft thresholds at sd sqrt(2 log N) of one transform, or hard ones averaged over every shift.

    Without `noise_sd` it is the median size of the finest coefficients over .6745.
    """
    import pywt

    start = process_time()
    t = split.t
    levels = int(np.log2(len(t))) - COARSEST
    finest = np.asarray(pywt.wavedec(t, wavelet, mode="periodization", level=1)[-1], np.float64)
    sd = float(np.median(np.abs(finest))) / NORMAL_MAD if noise_sd is None else noise_sd
    threshold = sd * float(np.sqrt(2.0 * np.log(len(t))))
    if every_shift:
        parts = [
            (coarse, pywt.threshold(detail, threshold, "hard")) for coarse, detail in pywt.swt(t, wavelet, level=levels)
        ]
        mean, kept = np.asarray(pywt.iswt(parts, wavelet), np.float64), len(t)
    else:
        coarse, *details = pywt.wavedec(t, wavelet, mode="periodization", level=levels)
        soft = [pywt.threshold(detail, threshold, "soft") for detail in details]
        mean = np.asarray(pywt.waverec([coarse, *soft], wavelet, mode="periodization"), np.float64)
        kept = len(coarse) + sum(int(np.count_nonzero(detail)) for detail in soft)
    return Denoised(mean, None, kept, process_time() - start)


def largest(values: Array, wavelet: str, kept: int) -> Array:
    """A signal (N,) from its `kept` greatest coefficients alone."""
    import pywt

    levels = pywt.dwt_max_level(len(values), wavelet)
    coefficients, places = pywt.coeffs_to_array(pywt.wavedec(values, wavelet, mode="periodization", level=levels))
    left = np.zeros_like(coefficients)
    maximum = np.argsort(-np.abs(coefficients), kind="stable")[:kept]
    left[maximum] = coefficients[maximum]
    back = pywt.array_to_coeffs(left, places, output_format="wavedec")
    return np.asarray(pywt.waverec(back, wavelet, mode="periodization"), np.float64)
