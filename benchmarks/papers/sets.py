"""The sets of the papers' tables: what is drawn, on what it is learned, and what the papers print."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from benchmarks.files import DataFolder, Split
from benchmarks.generators import curve_and_line_split, friedman_split, sinc_split, subset_of, waveform_split
from benchmarks.learning import RAW_HALF
from benchmarks.options import Options
from relevance_bayes.core.basis import Basis, Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth

Measure = Literal["rmse", "mse", "error"]


@dataclass(frozen=True)
class Printed:
    """The papers' figures of one machine; None where they have none."""

    error: float | None
    vectors: float | None


NOTHING = Printed(None, None)


@dataclass(frozen=True)
class PaperSet:
    """`split` of a draw, `draws` at most; errors are `times` the measure, written with `digits` digits.

    `basis` and `scaled` (whether inputs are standardised) are those of the papers' machine. `averaged`: it is one of
    those that the papers' normalised means are taken over.
    """

    name: str
    split: Callable[[int], Split]
    draws: int
    svm: Printed
    rvm: Printed
    measure: Measure
    times: float = 1.0
    digits: int = 2
    basis: tuple[Basis, ...] = (KernelBasis(), Bias())
    scaled: bool = True
    averaged: bool = True


ONE_FOR_EACH_INPUT = KernelBasis(width=EvidencePerInputWidth())
"""The eta-RVM [TIPPING2001, appendix C]."""

HALF = (RAW_HALF, Bias())


def regression(options: Options) -> list[PaperSet]:
    """[TIPPING2001, section 4.4], and 4.3."""
    draws = options.repeats

    def friedman(number: int, svm: Printed, rvm: Printed, digits: int) -> PaperSet:
        split = partial(friedman_split, number)
        return PaperSet(f"Friedman {number}", split, draws, svm, rvm, "mse", digits=digits)

    return [
        PaperSet(
            "sinc, Gaussian noise, 10 x RMSE",
            partial(sinc_split, "gaussian"),
            draws,
            Printed(0.378, 45.2),
            Printed(0.326, 6.7),
            "rmse",
            times=10.0,
            digits=3,
        ),
        PaperSet(
            "sinc, uniform noise, 10 x RMSE",
            partial(sinc_split, "uniform"),
            draws,
            Printed(0.215, 44.3),
            Printed(0.187, 7.0),
            "rmse",
            times=10.0,
            digits=3,
        ),
        friedman(1, Printed(2.92, 116.6), Printed(2.80, 59.4), 2),
        friedman(2, Printed(4140, 110.3), Printed(3505, 6.9), 0),
        friedman(3, Printed(0.0202, 106.5), Printed(0.0164, 11.5), 4),
        PaperSet(
            "Friedman 1, a width for each input",
            partial(friedman_split, 1),
            draws,
            NOTHING,
            Printed(0.27, 11.5),
            "mse",
            basis=(ONE_FOR_EACH_INPUT, Bias()),
            averaged=False,
        ),
        PaperSet(
            "sinc(x_1) + 0.1 x_2, the same and the inputs",
            curve_and_line_split,
            draws,
            Printed(0.0194, 75),
            Printed(0.0053, 8),
            "mse",
            digits=4,
            basis=(ONE_FOR_EACH_INPUT, Bias(), Inputs()),
            averaged=False,
        ),
    ]


def classification(options: Options) -> list[PaperSet]:
    """[TIPPING2001, sections 4.2 and 4.4], [TIPPING1999, section 5]."""
    folder, splits = options.data, options.splits

    def ripley(rows: int, svm: Printed, rvm: Printed) -> PaperSet:
        split = partial(_ripley, folder, rows)
        name = f"Ripley, {rows} of 250, r = 0.5"
        return _classes(name, split, options.repeats, svm, rvm, basis=HALF, scaled=False, averaged=False)

    def ida(name: str, svm: Printed, rvm: Printed) -> PaperSet:
        return _classes(name.replace("_", " "), partial(folder.ida, name), splits, svm, rvm)

    return [
        _classes("Pima", partial(_pima, folder), 1, Printed(100 * 67 / 332, 109), Printed(100 * 65 / 332, 4)),
        ida("banana", Printed(10.9, 135.2), Printed(10.8, 11.4)),
        ida("breast_cancer", Printed(26.9, 116.7), Printed(29.9, 6.3)),
        ida("titanic", Printed(22.1, 93.7), Printed(23.0, 65.3)),
        _classes("waveform", waveform_split, options.repeats, Printed(10.3, 146.4), Printed(10.9, 14.6)),
        ida("german", Printed(22.6, 411.2), Printed(22.2, 12.5)),
        ida("image", Printed(3.0, 166.6), Printed(3.9, 34.6)),
        ripley(100, Printed(10.6, 38), Printed(9.3, 4)),
        ripley(200, Printed(9.48, 44), Printed(9.32, 3)),
    ]


def _classes(
    name: str,
    split: Callable[[int], Split],
    draws: int,
    svm: Printed,
    rvm: Printed,
    *,
    basis: tuple[Basis, ...] = (KernelBasis(), Bias()),
    scaled: bool = True,
    averaged: bool = True,
) -> PaperSet:
    return PaperSet(name, split, draws, svm, rvm, "error", times=100.0, basis=basis, scaled=scaled, averaged=averaged)


def _pima(folder: DataFolder, draw: int) -> Split:
    assert draw == 0, "there is one division"
    return folder.pima()


def _ripley(folder: DataFolder, rows: int, draw: int) -> Split:
    return subset_of(folder.ripley(), rows, draw)
