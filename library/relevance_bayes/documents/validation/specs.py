"""Validation of the fits of a plan: consistent choices, and numbers within bounds."""

from collections.abc import Iterator

from relevance_bayes.core.basis import Basis, Group, KernelBasis
from relevance_bayes.core.errors import IllegalCombinationError
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.models.model import check
from relevance_bayes.documents.validation.figures import (
    WIDTH,
    Interval,
    figure_faults,
    likelihood_faults,
    noise_by_row_faults,
)
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.jobs import MAX_SEED
from relevance_bayes.tasks.supervised.request import SupervisedPlan

PLAN = "/report/plan"
SEED = Interval(0, MAX_SEED)


def spec_faults(plan: SupervisedPlan, columns: int) -> Iterator[Fault]:
    """Yield faults of the fits of a plan; the matrix has so many `columns`.

    The widths of the selected fit are one for each column, those of all others one for each input. Groups are of
    inputs.
    """
    if plan.positive_class is not None and plan.positive_class not in plan.classes:
        yield Fault("Expected one of the classes.", f"{PLAN}/positive_class")
    inputs = len(plan.inputs)
    compared = [(f"{PLAN}/compared_models/{number}", spec, inputs) for number, spec in enumerate(plan.compared_models)]
    pool = [(f"{PLAN}/pool/{number}", spec, inputs) for number, spec in enumerate(plan.pool)]
    alternatives = [(f"{PLAN}/alternatives/{number}", spec, inputs) for number, spec in enumerate(plan.alternatives)]
    for where, spec, widths in [(f"{PLAN}/spec", plan.spec, columns), *compared, *pool, *alternatives]:
        try:
            check(spec)
        except IllegalCombinationError as error:
            yield Fault(str(error), f"{where}/{error.field}")
        yield from figure_faults([(f"{where}/seed", spec.seed, SEED)])
        yield from likelihood_faults(spec.likelihood, f"{where}/likelihood", len(plan.classes))
        yield from noise_by_row_faults(spec.likelihood, f"{where}/likelihood", plan.noise_column)
        for place, basis in enumerate(spec.basis):
            if isinstance(basis, Group):
                yield from _of_group(basis, inputs, f"{where}/basis", place)
            else:
                yield from _of_kernel(basis, widths, f"{where}/basis/{place}")


def _of_group(group: Group, inputs: int, where: str, place: int) -> Iterator[Fault]:
    if any(not 0 <= number < inputs for number in group.inputs):
        yield Fault("Expected indices of inputs.", where)
    yield from _of_kernel(group.of, len(group.inputs), f"{where}/{place}/of")


def _of_kernel(basis: Basis, inputs: int, where: str) -> Iterator[Fault]:
    if not isinstance(basis, KernelBasis):
        return
    if not isinstance(basis.width, FixedWidth):
        return
    where, value = f"{where}/width/value", basis.width.value
    widths = (
        [(where, value)] if not isinstance(value, tuple) else [(f"{where}/{n}", one) for n, one in enumerate(value)]
    )
    yield from figure_faults((place, width, WIDTH) for place, width in widths)
    if isinstance(value, tuple) and len(value) != inputs:
        yield Fault(f"Expected {inputs} widths, one for each input, got {len(value)}.", where)
