"""The plan of a training: every choice, and every fault, from the columns' statistics only."""

from relevance_bayes.plans.choices import (
    chosen_spec,
    compared_specs,
    group_faults,
    has_fixed_width,
    pooled_specs,
    spec_faults,
    varying_noise,
    width_faults,
)
from relevance_bayes.plans.classes import class_alternatives
from relevance_bayes.plans.inputs import chosen_inputs, input_column, placed, scale_faults
from relevance_bayes.plans.likelihoods import likelihood_faults
from relevance_bayes.plans.local import local_faults, planned_local
from relevance_bayes.plans.missing import required_columns, resolved_missing
from relevance_bayes.plans.names import default_model_name, name_faults
from relevance_bayes.plans.requests import MAX_SCORE_LOSSES, SupervisedPlan, SupervisedRequest
from relevance_bayes.plans.rows import row_faults, split_faults
from relevance_bayes.plans.target import noise_faults, refusal, resolve_target
from relevance_bayes.tables.columns import TableSummary
from relevance_bayes.types.errors import Fault


def plan_supervised(request: SupervisedRequest, dataset: TableSummary) -> SupervisedPlan:
    """Resolve a request against its dataset; raises InvalidRequestError with all faults found."""
    if dataset.rows < 2:
        rows = f"{dataset.rows} row{'s' if dataset.rows != 1 else ''}"
        raise refusal(Fault(f"The dataset has {rows}; at least two are needed to learn from.", "/dataset_id"))
    target = resolve_target(dataset, request.target, request.task, request.likelihood)
    columns, ignored, input_faults = chosen_inputs(
        dataset,
        request.inputs,
        target=request.target,
        split=request.split,
        noise=request.noise_column,
        has_effects=request.text == "target",
    )
    names = [column.name for column in columns]
    spec = chosen_spec(request, target.task, classes=len(target.classes), rows=dataset.rows, inputs=names)
    standardise = request.standardise if request.standardise is not None else not has_fixed_width(spec)
    inputs = placed(columns, request.inputs)
    needed = required_columns(dataset, request, target.column)
    missing = resolved_missing(request.missing, needed, inputs)
    faults = [
        *input_faults,
        *scale_faults(inputs, named=request.inputs is not None, standardise=standardise),
        *name_faults(request.model),
        *likelihood_faults(spec.likelihood, target.task, target.column, len(target.classes)),
        *width_faults(request),
        *(group_faults(request, columns) or spec_faults(spec)),
        *noise_faults(dataset, spec.likelihood, request.noise_column, target=request.target),
        *split_faults(dataset, request.split, target=request.target),
        *row_faults(dataset, request, missing.treatment, needed, inputs),
        *local_faults(request, spec, dataset.rows),
    ]
    if faults:
        raise refusal(*faults)
    processes = pooled_specs(request, spec, inputs=len(inputs))
    first, *pool = processes or (spec,)
    beside = compared_specs(request, spec, rows=dataset.rows, target=target.column)
    max_score_loss = request.max_score_loss or MAX_SCORE_LOSSES[request.prefer]
    read = tuple(input_column(column) for column in columns)
    chosen, *alternatives = class_alternatives(request, first, inputs=len(inputs)) or (first,)
    return SupervisedPlan(
        task=target.task,
        task_reason=target.reason,
        model=request.model if request.model is not None else default_model_name(dataset.name),
        target=request.target,
        target_kind=target.column.kind,
        classes=target.classes,
        inputs=read,
        ignored=ignored,
        spec=chosen,
        standardise=standardise,
        missing=missing.treatment,
        missing_reason=missing.reason,
        dates=request.dates if any(column.kind == "timestamp" for column in read) else "time",
        text=request.text,
        split=request.split,
        holdout=request.holdout,
        validation=request.validation,
        compared_models=(*beside, *varying_noise(request, spec, processes, rows=dataset.rows)),
        noise_column=request.noise_column,
        pool=tuple(pool),
        alternatives=tuple(alternatives),
        effort=request.effort,
        max_score_loss=max_score_loss,
        local=planned_local(request, chosen, rows=dataset.rows, inputs=read, max_score_loss=max_score_loss),
    )
