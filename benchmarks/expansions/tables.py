"""The number of functions that approximate a model, their error, and the time they save."""

from time import process_time

import numpy as np

from benchmarks.expansions.cases import Case, density, process, support_classes, support_regression
from benchmarks.options import Options
from benchmarks.prediction_time import milliseconds
from benchmarks.report import Table
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.sparse import Approximation, approximate, negative_mass, proper

ERRORS = (0.05, 0.01)
"""The requested relative errors: |f - f_R| / |f| over all of R^d."""

HEADER = (
    "model",
    "terms",
    "error bound",
    "functions",
    "times fewer",
    "error at fresh rows",
    "greatest",
    "to the truth: its own",
    "ours",
    "its prediction, ms",
    "ours, ms",
    "times faster",
    "CPU s",
)

NOTES = (
    (
        "Each model learned from 1,000 rows, went through `expansion_of`, and is approximated to a relative error in "
        "L2 over all of R^d. At 10,000 fresh rows: the norm of the difference over that of the values without their "
        "constant; the greatest difference over the range of the values. To the truth: RMSE of regressions, errors of "
        "the classes, both at fresh rows without noise or with their class."
    ),
    (
        "Predictions of 10,000 rows, CPU time of one thread, medians of 5; its own is scikit-learn's `predict`, "
        "`decision_function` or `score_samples`. SVR: C = 1, epsilon .1, r = 3. SVC: C = 1, r = .5. GP: a length for "
        "each input and the noise learned. KDE: bandwidth .3. CPU s: what the approximation took, once."
    ),
)

DENSITY_HEADER = ("density", "terms", "error bound", "functions", "", "error", "total", "negative mass")

DENSITY_NOTES = (
    (
        "As found: the coefficients of least error, whatever their sign. A density: no coefficient below 0, the total "
        "1; others enter until it is as near. Negative mass: by 100,000 points, seed 0."
    ),
)


def expansions(options: Options) -> list[Table]:
    """All models, and the densities once more."""
    densities = [density(1), density(2)]
    inputs = (2,) if options.quick else (2, 3, 5)
    cases = [support_regression(), support_classes(), *(process(number) for number in inputs), *densities]
    found = [(case, bound, *_timed(case.full, bound)) for case in cases for bound in ERRORS]
    rows = tuple(_row(case, bound, few, seconds) for case, bound, few, seconds in found)
    masses = tuple(row for case, bound, few, _ in found if case in densities for row in _masses(case, bound, few))
    return [
        Table("Models of 1,000 rows by few functions", HEADER, rows, NOTES),
        Table("Densities by few functions", DENSITY_HEADER, masses, DENSITY_NOTES),
    ]


def _timed(full: KernelExpansion, bound: float) -> tuple[Approximation, float]:
    start = process_time()
    return approximate(full, error=bound), process_time() - start


def _row(case: Case, bound: float, few: Approximation, seconds: float) -> tuple[str, ...]:
    own, ours = case.predict(case.fresh), few.expansion(case.fresh)
    relative = float(np.linalg.norm(ours - own) / np.linalg.norm(own - case.full.constant))
    maximum = float(np.abs(ours - own).max() / np.ptp(own))
    before, after = (milliseconds(predict, case.fresh) for predict in (case.predict, few.expansion))
    return (
        case.name,
        f"{case.full.size:,}",
        f"{bound:g}",
        f"{few.expansion.size}",
        f"{case.full.size / few.expansion.size:.1f}",
        f"{relative:.4f}",
        f"{maximum:.4f}",
        *((case.wrong(own), case.wrong(ours)) if case.wrong is not None else ("–", "–")),
        f"{before:.1f}",
        f"{after:.1f}",
        f"{before / after:.1f}",
        f"{seconds:.2f}",
    )


def _masses(case: Case, bound: float, few: Approximation) -> list[tuple[str, ...]]:
    known = (case.name, f"{case.full.size:,}", f"{bound:g}")
    return [
        (
            *known,
            f"{int(np.count_nonzero(one.expansion.coefficients))}",
            name,
            f"{one.error:.4f}",
            f"{one.expansion.mass:.6f}",
            f"{negative_mass(one.expansion):.6f}",
        )
        for name, one in (("as found", few), ("a density", proper(case.full, few)))
    ]
