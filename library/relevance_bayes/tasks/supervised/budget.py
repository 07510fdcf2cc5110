"""The plan of a training within a budget of CPU seconds of the reference core.

In this order, until the planned work is within the budget: alternatives of the noise, the logarithm and independent
weights; nearest-neighbour processes; processes of the pool, or of classes, from the last to the second; two of five
folds; all folds and the optimisation of inducing points, which leaves a quick training; and rows, drawn by content.
No clock is read, so that equal requests give equal versions on every machine.
"""

from collections.abc import Iterator
from dataclasses import replace

from relevance_bayes.records.errors import Fault
from relevance_bayes.records.reports import BudgetPlan
from relevance_bayes.tasks.planning import refusal
from relevance_bayes.tasks.supervised.cost import UNITS_PER_SECOND, folds_of, planned_cost
from relevance_bayes.tasks.supervised.request import SupervisedPlan

MIN_FOLDS = 3
"""The fewest folds by which processes are compared."""

MIN_ROWS = 50
"""The fewest rows to which a budget leaves a training."""


def within_budget(plan: SupervisedPlan, quick: SupervisedPlan, rows: int, cpu_seconds: float) -> SupervisedPlan:
    """Return the first of the reduced plans on so many rows that costs at most `cpu_seconds` of the reference core.

    `quick` is the plan of the same request with the effort `quick`. Raises InvalidRequestError where none is so cheap.
    """
    units = UNITS_PER_SECOND * cpu_seconds
    tried = plan
    for tried in _reduced(plan, quick, rows):
        cost = planned_cost(tried, rows).work_units
        if cost <= units:
            given = tried.budget or BudgetPlan(cpu_seconds, 0)
            return replace(tried, budget=replace(given, cpu_seconds=cpu_seconds, work_units=round(cost)))
    minimum = planned_cost(tried, rows).work_units / UNITS_PER_SECOND
    detail = (
        f"The budget of {cpu_seconds:g} CPU seconds is too small: a quick training of {min(rows, MIN_ROWS)} rows"
        f" takes about {minimum:.2g}. Expected at least that."
    )
    raise refusal(Fault(detail, "/budget/cpu_seconds"))


def _reduced(plan: SupervisedPlan, quick: SupervisedPlan, rows: int) -> Iterator[SupervisedPlan]:
    """Yield the plan, then each with more left out."""
    yield plan
    now, omitted = plan, list[str]()

    def without(what: str, reduced: SupervisedPlan) -> SupervisedPlan:
        omitted.append(what)
        return replace(reduced, budget=BudgetPlan(0.0, 0, omitted=tuple(omitted)))

    if now.compared_models:
        now = without("alternatives of noise and prior", replace(now, compared_models=()))
        yield now
    if now.local is not None and not now.local.choice.required:
        now = without("nearest-neighbour processes", replace(now, local=None))
        yield now
    while len(now.pool) > 1:
        now = without(f"process {len(now.pool) + 1} of the pool", replace(now, pool=now.pool[:-1]))
        yield now
    while len(now.alternatives) > 1:
        fewer = replace(now, alternatives=now.alternatives[:-1])
        now = without(f"process {len(now.alternatives) + 1} of the alternatives", fewer)
        yield now
    if now.validation is None and folds_of(now) > MIN_FOLDS:
        omitted.append(f"{folds_of(now) - MIN_FOLDS} of {folds_of(now)} folds")
        now = replace(now, budget=BudgetPlan(0.0, 0, folds=MIN_FOLDS, omitted=tuple(omitted)))
        yield now
    if now.effort != "quick":
        folds = [] if now.validation is not None else ["all folds, so that there is no score"]
        omitted = [*(one for one in omitted if "fold" not in one), "all processes but one", *folds]
        now = replace(quick, budget=BudgetPlan(0.0, 0, omitted=tuple(omitted)))
        yield now
    size = rows
    while size > MIN_ROWS:
        size = max(size * 4 // 5, MIN_ROWS)
        drawn = (*omitted, f"all rows but {size:,}, drawn by content")
        yield replace(now, budget=BudgetPlan(0.0, 0, rows=size, omitted=drawn))
