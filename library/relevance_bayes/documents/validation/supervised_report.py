"""Validation of the report of a model of numbers or classes: its numbers, and those that follow from the model."""

from collections.abc import Iterator, Sequence
from itertools import chain
from math import inf

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.hurdle import HurdleModel
from relevance_bayes.core.kernels import Additive, Kernel
from relevance_bayes.core.likelihoods import ClassLikelihood, StudentT
from relevance_bayes.core.likelihoods.temperature import temperature_of
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import Model
from relevance_bayes.core.per_class import PerClass
from relevance_bayes.core.pool import (
    LearnedModel,
    Pool,
    degrees_of_freedom_of,
    likelihood_of,
    members_of,
    n_functions,
    representative,
)
from relevance_bayes.documents.functions import map_warps, model_terms, model_warps, model_widths, named_widths
from relevance_bayes.documents.models import Hyperparameters, Member, SupervisedPredictor, SupervisedReport
from relevance_bayes.documents.validation.baselines import baseline_faults, input_row_faults
from relevance_bayes.documents.validation.columns import column_name_faults
from relevance_bayes.documents.validation.diagnostics import diagnostics_faults
from relevance_bayes.documents.validation.figures import (
    COUNT,
    FINITE,
    NOT_NEGATIVE,
    SHARE,
    Figure,
    Interval,
    difference_faults,
    figure_faults,
)
from relevance_bayes.documents.validation.likelihoods import likelihood_faults, noise_by_row_faults
from relevance_bayes.documents.validation.reports import WHERE, common_faults, row_count_faults, width_faults
from relevance_bayes.plans.requests import GroupSplit, RandomSplit, Split
from relevance_bayes.records.errors import Fault, pointer
from relevance_bayes.records.reports import InputTerm, InputWarp, InputWidth
from relevance_bayes.tables.encoding import (
    EncodedTarget,
    Encoding,
    column_names,
    user_evidence,
    user_noise_sd,
    user_process_sd,
)

HOLDOUT = Interval(0.0, 0.9)

SETS_OF_METRICS = frozenset({"holdout", "validation", "leave_one_out"})
NUMBER_METRICS = {
    "rmse": NOT_NEGATIVE,
    "mae": NOT_NEGATIVE,
    "r2": Interval(-inf, 1.0),
    "nll": FINITE,
    "coverage_95": SHARE,
    "nll_se": NOT_NEGATIVE,
    "rows": COUNT,
}
CLASS_METRICS = {
    "error": SHARE,
    "log_loss": NOT_NEGATIVE,
    "brier": SHARE,
    "log_loss_se": NOT_NEGATIVE,
    "rows": COUNT,
}


def supervised_report_faults(predictor: SupervisedPredictor, report: SupervisedReport) -> Iterator[Fault]:
    """Yield a fault for each value that no training reports, with its place in a document."""
    encoding = predictor.encoding
    yield from common_faults(report)
    yield from row_count_faults(report.rows_dropped, report.rows_held_out)
    yield from baseline_faults(report.baseline, report.plan.inputs, report.plan.target)
    yield from input_row_faults(report.input_rows, report.plan.inputs)
    yield from diagnostics_faults(
        report.diagnostics, report.plan.inputs, encoding.target.classes, max(len(report.members), 1)
    )
    yield from _of_model(predictor, report)
    yield from _of_metrics(report)
    yield from _of_score(report)
    yield from _of_members(predictor.learned, report, encoding)
    yield from _of_rows(report)
    yield from figure_faults([(f"{WHERE}/plan/holdout", report.plan.holdout, HOLDOUT)])
    yield from _of_split(report.plan.split)
    for place, one in enumerate(report.alternatives):
        where = f"{WHERE}/alternatives/{place}"
        yield from figure_faults([(f"{where}/functions", one.functions, COUNT)])
        yield from likelihood_faults(one.likelihood, f"{where}/likelihood", len(report.plan.classes))
        yield from noise_by_row_faults(one.likelihood, f"{where}/likelihood", report.plan.noise_column)


def _of_model(predictor: SupervisedPredictor, report: SupervisedReport) -> Iterator[Fault]:
    """Yield faults of values that follow from the model."""
    model, likelihood = representative(predictor.learned), likelihood_of(predictor.learned)
    temperature = temperature_of(likelihood.temperature) if isinstance(likelihood, ClassLikelihood) else None
    yield from difference_faults(
        [
            (f"{WHERE}/rows", report.rows, model.rows),
            (f"{WHERE}/candidates", report.candidates, model.candidates),
            (f"{WHERE}/temperature", report.temperature, temperature),
        ]
    )
    if report.termination != model.termination:
        yield Fault("Expected that of the model.", f"{WHERE}/termination")


def _of_members(learned: LearnedModel, report: SupervisedReport, encoding: Encoding) -> Iterator[Fault]:
    """Yield faults of the members, which are those of the model in the user's units."""
    if isinstance(learned, LocalModel):
        yield from _of_local(learned, report, encoding)
        return
    models = members_of(learned)
    if len(report.members) != len(models):
        yield Fault(f"Expected {len(models)} members, got {len(report.members)}.", f"{WHERE}/members")
        return
    none: list[None] = [None] * len(models)
    weights = learned.weights.tolist() if isinstance(learned, Pool) else none if len(models) > 1 else [1.0]
    labels = encoding.target.classes if isinstance(learned, PerClass) else none
    for place, (member, model, weight) in enumerate(zip(report.members, models, weights, strict=True)):
        where = f"{WHERE}/members/{place}"
        if place < len(labels) and member.label != labels[place]:
            yield Fault("Expected the class of the member, and none for numbers.", f"{where}/label")
        yield from difference_faults(
            [
                (f"{where}/weight", member.weight, weight),
                (f"{where}/functions", member.functions, model.size),
            ]
        )
        kernels = [_plain(one.kernel) for one in model.functions if isinstance(one, KernelFunctions)]
        if member.kernel is not None and kernels and member.kernel not in kernels:
            yield Fault("Expected a kernel of the model.", f"{where}/kernel")
        found = member.hyperparameters
        tails = degrees_of_freedom_of(model if isinstance(learned, HurdleModel) else learned)
        inputs, here = _inputs(report, encoding), f"{where}/hyperparameters"
        yield from _of_hyperparameters(found, model, encoding, here, tails=tails, inputs=inputs)
        yield from _of_evidence(member, model, encoding.target, where)


def _of_local(learned: LocalModel, report: SupervisedReport, encoding: Encoding) -> Iterator[Fault]:
    """Yield faults of the only member, the process, which has no evidence since it is scored on held-out rows."""
    where, process, target = f"{WHERE}/members/0", learned.process, encoding.target
    if len(report.members) != 1:
        yield Fault(f"Expected 1 member, got {len(report.members)}.", f"{WHERE}/members")
        return
    (member,) = report.members
    found, input_map = member.hyperparameters, process.hyperparameters.input_map
    yield from difference_faults(
        [
            (f"{where}/weight", member.weight, 1.0),
            (f"{where}/functions", member.functions, n_functions(learned)),
            (f"{where}/hyperparameters/noise_sd", found.noise_sd, user_noise_sd(target, process.noise_sd)),
            (
                f"{where}/hyperparameters/signal_sd",
                found.signal_sd,
                user_process_sd(target, process.hyperparameters.signal_variance),
            ),
        ]
    )
    if member.kernel != process.kernel:
        yield Fault("Expected that of the model.", f"{where}/kernel")
    if member.evidence is not None:
        yield Fault("A nearest-neighbour process has no evidence.", f"{where}/evidence")
    inputs = _inputs(report, encoding)
    widths, warps = tuple(named_widths(input_map, encoding, inputs)), map_warps(input_map, encoding, inputs)
    yield from _named_faults(f"{where}/hyperparameters/widths", _by_place(found.widths), _by_place(widths))
    yield from _named_faults(f"{where}/hyperparameters/warps", _by_place(found.warps), _by_place(warps))
    if report.local is None or report.local.neighbours != process.neighbours:
        yield Fault("Expected the comparison that selected the process.", f"{WHERE}/local")


def _plain(kernel: Kernel | Additive) -> Kernel:
    return kernel.kernel if isinstance(kernel, Additive) else kernel


def _of_hyperparameters(
    found: Hyperparameters,
    model: Model,
    encoding: Encoding,
    where: str,
    *,
    tails: float | None,
    inputs: Sequence[str] | None,
) -> Iterator[Fault]:
    """Yield faults of hyperparameters, which follow from the model; widths without kernels in it are those of the
    request. `tails` are the degrees of freedom of predictions under Gaussian noise, `inputs` their order."""
    target, dof = (
        encoding.target,
        model.likelihood.degrees_of_freedom if isinstance(model.likelihood, StudentT) else tails,
    )
    yield from difference_faults(
        [
            (f"{where}/noise_sd", found.noise_sd, user_noise_sd(target, model.noise_sd)),
            (f"{where}/signal_sd", found.signal_sd, user_process_sd(target, model.signal_variance)),
            (f"{where}/last_gain", found.last_gain, model.last_gain),
            (f"{where}/next_gain", found.next_gain, model.next_gain),
            (f"{where}/degrees_of_freedom", found.degrees_of_freedom, None if dof == "learned" else dof),
        ]
    )
    widths, warps = model_widths(model, encoding, inputs), model_warps(model, encoding, inputs)
    terms = model_terms(model, encoding, inputs)
    yield from width_faults(found.widths, column_names(encoding), where)
    if widths:
        yield from _named_faults(f"{where}/widths", _by_place(found.widths), _by_place(widths))
    yield from _named_faults(f"{where}/warps", _by_place(found.warps), _by_place(warps))
    yield from _named_faults(f"{where}/terms", _by_place(found.terms), _by_place(terms))


def _inputs(report: SupervisedReport, encoding: Encoding) -> Sequence[str] | None:
    """Return the names of the inputs in the plan's order; None where they are not those of the encoding."""
    planned, encoded = [column.name for column in report.plan.inputs], [column.name for column in encoding.inputs]
    return planned if sorted(planned) == sorted(encoded) else None


def _of_evidence(member: Member, model: Model, target: EncodedTarget, where: str) -> Iterator[Fault]:
    """Yield faults of the evidence, that of the model, and of `evidence_unreduced`, with more functions."""
    evidence, expected = member.evidence, user_evidence(target, model.evidence, model.rows)
    if evidence is None:
        yield Fault("Expected that of the model.", f"{where}/evidence")
        return
    yield from difference_faults(
        [
            (f"{where}/evidence/value", evidence.value, expected.value),
            (f"{where}/evidence/log_hyperprior", evidence.log_hyperprior, expected.log_hyperprior),
            (f"{where}/evidence/price", evidence.price, expected.price),
        ]
    )
    if evidence.kind != expected.kind:
        yield Fault("Expected that of the model.", f"{where}/evidence/kind")


def _of_metrics(report: SupervisedReport) -> Iterator[Fault]:
    known = CLASS_METRICS if report.task == "classification" else NUMBER_METRICS
    for name, figures in report.metrics.items():
        if name not in SETS_OF_METRICS:
            yield Fault(f"Expected one of {', '.join(sorted(SETS_OF_METRICS))}.", WHERE + pointer(("metrics", name)))
            continue
        for figure, value in figures.items():
            where = WHERE + pointer(("metrics", name, figure))
            if figure in known:
                yield from figure_faults([(where, value, known[figure])])
            else:
                yield Fault(f"Expected one of {', '.join(sorted(known))}.", where)


def _of_score(report: SupervisedReport) -> Iterator[Fault]:
    """Yield faults of a score, which has a value or a reason."""
    yield from figure_faults(
        [
            (f"{WHERE}/unreduced_functions", report.unreduced_functions, COUNT),
            (f"{WHERE}/plan/max_score_loss", report.plan.max_score_loss, NOT_NEGATIVE),
        ]
    )
    found = report.score
    if found is None:
        return
    yield from figure_faults(
        [
            (f"{WHERE}/score/value", found.value, FINITE),
            (f"{WHERE}/score/standard_error", found.standard_error, NOT_NEGATIVE),
            (f"{WHERE}/score/rows", found.rows, COUNT),
            (f"{WHERE}/score/folds", found.folds, COUNT),
        ]
    )
    if found.value is None and found.reason is None:
        yield Fault("Expected a value, or the reason why there is none.", f"{WHERE}/score")


Scale = InputWidth | InputWarp | InputTerm
Named = Sequence[tuple[str | None, Sequence[tuple[str, float]]]]


def _by_place(scales: Sequence[Scale]) -> Named:
    return [(one.input, [(name, value) for name, value in vars(one).items() if name != "input"]) for one in scales]


def _named_faults(where: str, reported: Named, expected: Named) -> Iterator[Fault]:
    if [name for name, _ in reported] != [name for name, _ in expected]:
        yield Fault(f"Expected {len(expected)} with the names of the model's inputs.", where)
        return
    for place, ((_, values), (_, others)) in enumerate(zip(reported, expected, strict=True)):
        yield from difference_faults(
            (f"{where}/{place}/{name}", value, other) for (name, value), (_, other) in zip(values, others, strict=True)
        )


def _of_rows(report: SupervisedReport) -> Iterator[Fault]:
    last = report.rows + report.rows_dropped + report.rows_held_out - 1
    figures: Iterator[Figure] = chain.from_iterable(
        (
            (f"{WHERE}/outliers/{place}/row", one.row, Interval(0, last)),
            (f"{WHERE}/outliers/{place}/weight", one.weight, SHARE),
        )
        for place, one in enumerate(report.outliers)
    )
    yield from figure_faults(figures)
    yield from figure_faults(
        (f"{WHERE}/class_rows/{place}/rows", one.rows, COUNT) for place, one in enumerate(report.class_rows)
    )
    if report.class_rows and sum(one.rows for one in report.class_rows) != report.rows:
        yield Fault(f"Expected {report.rows} rows in total, as in `rows`.", f"{WHERE}/class_rows")


def _of_split(split: Split) -> Iterator[Fault]:
    if isinstance(split, RandomSplit):
        return
    if isinstance(split, GroupSplit) or split.column is not None:
        yield from column_name_faults(split.column or "", f"{WHERE}/plan/split/column")
