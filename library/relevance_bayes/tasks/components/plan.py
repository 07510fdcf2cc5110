"""The plan of components: the columns, the kernel, and its width."""

from relevance_bayes.records.errors import Fault
from relevance_bayes.tables.columns import TableSummary
from relevance_bayes.tables.encoding.table import MAX_SCALED
from relevance_bayes.tasks.components.request import KEPT, ComponentsPlan, ComponentsRequest
from relevance_bayes.tasks.planning import (
    chosen_inputs,
    default_model_name,
    gap_faults,
    input_column,
    name_faults,
    placed,
    refusal,
    resolved_missing,
    scale_faults,
    seed_faults,
    share_faults,
)


def plan_components(request: ComponentsRequest, dataset: TableSummary) -> ComponentsPlan:
    """Resolve a request against its dataset; raises InvalidRequestError with all faults found."""
    if dataset.rows < 2:
        rows = f"{dataset.rows} row{'s' if dataset.rows != 1 else ''}"
        raise refusal(Fault(f"The dataset has {rows}; at least two are needed to learn from.", "/dataset_id"))
    columns, ignored, input_faults = chosen_inputs(dataset, request.inputs)
    standardise = request.standardise if request.standardise is not None else request.width is None
    inputs = placed(columns, request.inputs)
    missing = resolved_missing(request.missing, (), inputs)
    faults = [
        *input_faults,
        *scale_faults(inputs, named=request.inputs is not None, standardise=standardise),
        *name_faults(request.model),
        *_width_faults(request),
        *_explained_faults(request.min_explained_variance),
        *seed_faults(request.seed),
        *(gap_faults(dataset, inputs) if missing.treatment == "error" else ()),
        *(share_faults(dataset, 0.0, columns) if missing.treatment == "drop_rows" else ()),
    ]
    if faults:
        raise refusal(*faults)
    width = request.width
    return ComponentsPlan(
        model=request.model if request.model is not None else default_model_name(dataset.name),
        inputs=tuple(map(input_column, columns)),
        ignored=ignored,
        widths=width if isinstance(width, tuple) else None if width is None else (width,),
        standardise=standardise,
        missing=missing.treatment,
        missing_reason=missing.reason,
        **{name: getattr(request, name) for name in KEPT},
    )


def _explained_faults(explained: float) -> list[Fault]:
    if 0.0 < explained < 1.0:
        return []
    return [Fault(f"Expected a share above 0 and below 1, got {explained:g}.", "/min_explained_variance")]


def _width_faults(request: ComponentsRequest) -> list[Fault]:
    """Return faults of the widths. A list follows the order of `inputs`, which it therefore requires."""
    width = request.width
    several = isinstance(width, tuple)
    faults = [
        Fault(
            f"The width must be from {1 / MAX_SCALED:g} to {MAX_SCALED:g}, got {one:g}.",
            f"/width/{place}" if several else "/width",
        )
        for place, one in enumerate(width if isinstance(width, tuple) else () if width is None else (width,))
        if not 1 / MAX_SCALED <= one <= MAX_SCALED
    ]
    if isinstance(width, tuple):
        if request.inputs is None:
            detail = "A list of widths follows the order of `inputs`, which are required with it."
            faults.append(Fault(detail, "/inputs"))
        elif len(width) != len(request.inputs):
            reported = f"expected {len(request.inputs)}, got {len(width)}"
            faults.append(Fault(f"A list of widths must have one for each input: {reported}.", "/width"))
    return faults
