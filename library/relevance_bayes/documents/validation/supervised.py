"""Validation of an imported supervised model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from math import inf, isclose

import numpy as np

from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.core.basis import ConstantFunction, Functions, GroupFunctions, InputFunctions, KernelFunctions
from relevance_bayes.core.kernels import Additive, Covariance, Kernel
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    ClassLikelihood,
    GaussianNoise,
    Hurdle,
    LogGaussian,
    OneAgainstRest,
    TransformedGaussian,
)
from relevance_bayes.core.likelihoods.bernoulli import temperature_of
from relevance_bayes.core.models.classes import MIN_CLASSES, PerClass
from relevance_bayes.core.models.hurdle import HurdleModel
from relevance_bayes.core.models.local.model import LocalModel
from relevance_bayes.core.models.model import Model, is_heteroscedastic
from relevance_bayes.core.models.pool import (
    LearnedModel,
    Pool,
    degrees_of_freedom_of,
    likelihood_of,
    members_of,
    representative,
)
from relevance_bayes.documents.validation.figures import (
    COUNT,
    FINITE,
    NOT_NEGATIVE,
    SHARE,
    WHERE,
    Figure,
    Interval,
    baseline_faults,
    column_name_faults,
    common_faults,
    diagnostics_faults,
    difference_faults,
    figure_faults,
    input_faults,
    input_row_faults,
    is_label,
    likelihood_faults,
    noise_by_row_faults,
    row_count_faults,
    width_faults,
)
from relevance_bayes.records.errors import Fault, pointer
from relevance_bayes.records.values import Task
from relevance_bayes.tables.encoding import (
    EncodedTarget,
    Encoding,
    column_names,
)
from relevance_bayes.tables.encoding.table import MAX_SCALED
from relevance_bayes.tasks.supervised.report import SupervisedPredictor, SupervisedReport, derived_members
from relevance_bayes.tasks.supervised.request import GroupSplit, RandomSplit, Split

DETERMINED = Interval(-1e-6, 1.0 + 1e-6)
"""The interval of gamma, with a tolerance for rounding."""

GAIN = Interval(-1e-3, inf)
"""The interval of a gain in nats: a function not worth adding has 0, or less by rounding."""

LOG_NOISE = "/model/log_noise"

HURDLE_MEMBERS = ("zero", "positive")
"""The places of both models of a hurdle in a document."""

NOISE_TOLERANCE = 1e-9
"""The relative tolerance of the noise variance of a process through all rows, for rounding."""

ASYMMETRY = 1e-8
"""The tolerance of a covariance's symmetry, in standard deviations, for rounding."""

MAX_DISTANCE = MAX_SCALED * MAX_SCALED
"""The maximum distance of a centre in widths: its square is finite, as that of an encoded number is."""


def supervised_faults(predictor: SupervisedPredictor, task: Task) -> tuple[Fault, ...]:
    """Return the inconsistencies, with their places in a document; arrays have consistent sizes."""
    encoding, learned = predictor.encoding, predictor.learned
    members = members_of(learned)
    return (
        *input_faults(encoding, {encoding.target.name, encoding.target.noise_column}),
        *_of_target(encoding.target, task),
        *(
            replace(fault, pointer=f"{_place(learned, place)}{fault.pointer.removeprefix('/model')}")
            if not isinstance(learned, Model) and fault.pointer is not None and fault.pointer.startswith("/model")
            else fault
            for place, model in enumerate(members)
            for fault in _of_model(model, encoding.target, learned)
        ),
        *(_of_pool(learned) if isinstance(learned, Pool) else ()),
        *_of_tails(learned),
        *(_of_classes(learned, encoding.target) if isinstance(learned, PerClass) else ()),
        *(_of_hurdle(learned, encoding.target) if isinstance(learned, HurdleModel) else ()),
        *(_of_local(learned, encoding.target) if isinstance(learned, LocalModel) else ()),
    )


def _place(learned: LearnedModel, member: int) -> str:
    if isinstance(learned, HurdleModel):
        return f"/model/{HURDLE_MEMBERS[member]}"
    return "/model/trend" if isinstance(learned, LocalModel) else f"/model/members/{member}"


def _of_local(learned: LocalModel, target: EncodedTarget) -> Iterator[Fault]:
    """Yield faults of a nearest-neighbour process: it and its trend have one Gaussian noise."""
    likelihood = learned.likelihood
    if likelihood.noise_by_row or is_heteroscedastic(likelihood):
        yield Fault("Expected one noise sd for a nearest-neighbour process.", "/model/likelihood/noise_sd")
    if target.classes or target.logarithmic or target.noise_column is not None:
        yield Fault("Expected a number without a logarithm for a nearest-neighbour process.", "/target")
    if learned.trend is not None and learned.trend.likelihood != likelihood:
        yield Fault("Expected the likelihood of the process.", "/model/trend/likelihood")
    if not all(isinstance(one, ConstantFunction | InputFunctions) for one in learned.process.functions):
        yield Fault("Expected only a bias and the inputs, besides the kernel.", "/model/functions")


def _of_model(model: Model, target: EncodedTarget, learned: LearnedModel) -> Iterator[Fault]:
    match learned:
        case PerClass():
            yield from _of_class(model, target)
        case HurdleModel(zero=zero):
            yield from _of_noise(model)
            expected = Hurdle.zero if model is zero else Hurdle.positive
            if model.likelihood != expected:
                yield Fault(f'Expected "{expected.type}", got "{model.likelihood.type}".', "/model/likelihood")
        case _:
            yield from _of_likelihood(model, target)
    yield from _of_function(model)
    if is_heteroscedastic(model.likelihood) != (model.log_noise is not None):
        yield Fault('Expected `log_noise` with, and only with, a `noise_sd` of "heteroscedastic".', LOG_NOISE)
    if model.log_noise is not None:
        where = f"{LOG_NOISE}/model"
        for fault in _of_function(model.log_noise.model):
            yield replace(fault, pointer=f"{where}{(fault.pointer or '').removeprefix('/model')}")
        if model.log_noise.model.rows != model.rows:
            yield Fault("Expected those of the function itself.", f"{where}/rows")
        if model.log_noise.model.noise_sd is not None:
            yield Fault("Expected no noise of the noise.", f"{where}/noise_sd")


def _of_function(model: Model) -> Iterator[Fault]:
    yield from _of_prior(model)
    yield from _of_covariance(model)
    yield from _of_figures(model)
    yield from _of_input_range(model)
    yield from _function_faults(model)


def _of_pool(pool: Pool) -> Iterator[Fault]:
    """Yield faults of a pool: members have the same noise model and the same training rows."""
    first = pool.members[0]
    for place, member in enumerate(pool.members):
        where = f"/model/members/{place}"
        if not isinstance(member.likelihood, GaussianNoise):
            yield Fault("Expected Gaussian noise for members of a pool.", f"{where}/likelihood")
        elif member.likelihood != first.likelihood:
            yield Fault("Expected the first member's.", f"{where}/likelihood")
        if member.rows != first.rows:
            yield Fault("Expected the first member's.", f"{where}/rows")


def _of_tails(learned: LearnedModel) -> Iterator[Fault]:
    """Yield faults of the degrees of freedom: those of one model or of a pool, whose noise is Gaussian and of one
    size."""
    likelihood = likelihood_of(learned)
    has_learned_noise = isinstance(likelihood, TransformedGaussian | Hurdle) or (
        isinstance(likelihood, GaussianNoise) and likelihood.noise_sd == "learned"
    )
    if degrees_of_freedom_of(learned) is not None and not has_learned_noise:
        yield Fault("Expected learned Gaussian noise of one size with them.", "/model/degrees_of_freedom")
    elif degrees_of_freedom_of(learned) is not None and members_of(learned)[0].rows < 2:
        yield Fault("Expected at least two rows with them.", "/model/degrees_of_freedom")
    for place, member in enumerate(() if isinstance(learned, Model) else members_of(learned)):
        if member.degrees_of_freedom is not None and not (isinstance(learned, HurdleModel) and place):
            detail = "Expected none for one of several models: a pool has them for all."
            yield Fault(detail, f"{_place(learned, place)}/degrees_of_freedom")


def _of_hurdle(learned: HurdleModel, target: EncodedTarget) -> Iterator[Fault]:
    """Yield faults of a hurdle: targets in their own unit, and no more rows above 0 than in all."""
    if (target.shift, target.scale) != (0.0, 1.0) or target.classes or target.logarithmic or target.noise_column:
        yield Fault("Expected a number in its own unit, without a noise column, for a hurdle.", "/target")
    if learned.positive.rows > learned.zero.rows:
        yield Fault("Expected at most the rows of the model of zeros.", "/model/positive/rows")


def _of_classes(learned: PerClass, target: EncodedTarget) -> Iterator[Fault]:
    """Yield faults of one-against-all models: at least three classes, with the same training rows."""
    likelihood, first = learned.likelihood, learned.members[0]
    yield from likelihood_faults(likelihood, "/model/likelihood", len(target.classes))
    if len(target.classes) < MIN_CLASSES or len(learned.members) != len(target.classes):
        expected = f"one for each of {MIN_CLASSES} classes at least"
        got = f"got {len(learned.members)} for {len(target.classes)}"
        yield Fault(f"Expected models of classes, {expected}; {got}.", "/model/members")
    for place, member in enumerate(learned.members):
        if member.rows != first.rows:
            yield Fault("Expected the first member's.", f"/model/members/{place}/rows")


def _of_class(model: Model, target: EncodedTarget) -> Iterator[Fault]:
    """Yield faults of one class's model; members of all classes together are validated elsewhere."""
    if model.likelihood != BernoulliPerClass.member:
        yield Fault(
            'Expected "bernoulli" without a temperature, which is of all classes together.', "/model/likelihood"
        )
    if model.noise_sd is not None:
        yield Fault('Expected no noise for "bernoulli".', "/model/noise_sd")
    if target.logarithmic:
        yield Fault('Expected true for, and only for, "log_gaussian".', "/target/logarithmic")
    if target.noise_column is not None:
        detail = 'Expected a noise column with, and only with, a `noise_sd` of "rows".'
        yield Fault(detail, "/target/noise_column")


def _of_target(target: EncodedTarget, task: Task) -> Iterator[Fault]:
    yield from column_name_faults(target.name, "/target/name")
    if target.noise_column is not None:
        yield from column_name_faults(target.noise_column, "/target/noise_column")
        if target.noise_column == target.name:
            yield Fault("Expected a column other than target and inputs.", "/target/noise_column")
    if task == "classification":
        units = (("shift", target.shift, 0.0), ("scale", target.scale, 1.0))
        yield from (
            Fault(f"Expected {expected:g}: classes have no unit.", f"/target/{name}")
            for name, value, expected in units
            if value != expected
        )
    if task == "regression":
        if target.classes or target.kind == "category":
            yield Fault("Expected a target of numbers, not of classes.", "/target")
        return
    kinds: dict[str, tuple[type, ...]] = {"boolean": (bool,), "number": (int, float), "category": (str,)}
    apt = kinds.get(target.kind, ())
    labels = target.classes
    if len(labels) < 2 or not all(type(label) in apt for label in labels):
        yield Fault(f"Expected at least two labels, each a {target.kind}.", "/target/classes")
    elif not _is_sorted(labels):
        detail = "Expected distinct labels in order: false and true, numbers ascending, texts by alphabet"
        yield Fault(f"{detail}.", "/target/classes")
    elif not all(is_label(label) for label in labels if isinstance(label, str)):
        yield Fault("Expected labels of bounded length without NUL.", "/target/classes")


def _is_sorted(labels: Sequence[str | int | float | bool]) -> bool:
    texts = [label for label in labels if isinstance(label, str)]
    if texts:
        return all(one < other for one, other in pairwise(texts))
    numbers = [float(label) for label in labels if not isinstance(label, str)]
    return all(one < other for one, other in pairwise(numbers))


def _of_likelihood(model: Model, target: EncodedTarget) -> Iterator[Fault]:
    likelihood, where = model.likelihood, "/model/likelihood"
    match likelihood:
        case Bernoulli():
            fits = len(target.classes) == 2
        case Categorical(classes=classes) | OneAgainstRest(classes=classes):
            fits = len(target.classes) == classes
        case _:
            fits = not target.classes
    if not fits:
        yield Fault(f'Expected a likelihood for {len(target.classes)} classes, got "{likelihood.type}".', where)
    yield from likelihood_faults(likelihood, where, len(target.classes))
    yield from _of_noise(model)
    if isinstance(likelihood, LogGaussian) != target.logarithmic:
        yield Fault('Expected true for, and only for, "log_gaussian".', "/target/logarithmic")
    if likelihood.noise_by_row != (target.noise_column is not None):
        detail = 'Expected a noise column with, and only with, a `noise_sd` of "rows".'
        yield Fault(detail, "/target/noise_column")


def _of_noise(model: Model) -> Iterator[Fault]:
    likelihood, noiseless = model.likelihood, not model.likelihood.has_target_units
    if noiseless != (model.noise_sd is None):
        expected = "has no noise" if noiseless else "has noise, whose sd is missing"
        yield Fault(f'"{likelihood.type}" {expected}.', "/model/noise_sd")
    elif model.noise_sd == 0.0:
        yield Fault("Expected a noise sd above 0.", "/model/noise_sd")


def _of_prior(model: Model) -> Iterator[Fault]:
    kept = model.augmentation
    if model.signal_variance is not None:
        first = model.functions[0] if model.functions else None
        if not isinstance(first, KernelFunctions) or not isinstance(first.kernel, Covariance | Additive):
            yield Fault("Expected kernel functions first with `signal_variance`.", "/model/functions")
        if kept is not None:
            yield Fault("Expected either a signal variance or an augmentation.", "/model/signal_variance")
    if kept is None:
        return
    where = "/model/augmentation"
    if not model.likelihood.is_conjugate:
        yield Fault("Expected Gaussian noise for an augmentation.", where)
    if not isinstance(kept.functions.kernel, Covariance | Additive):
        yield Fault("Expected kernel functions for an augmentation.", f"{where}/functions/kernel")
    if (kept.precisions is not None) != model.likelihood.noise_by_row:
        yield Fault("Expected precisions with, and only with, noise by row.", f"{where}/precisions")


def _of_input_range(model: Model) -> Iterator[Fault]:
    bounds, where = model.input_range, "/model/input_range"
    if bounds is None:
        return
    if not model.likelihood.has_input_range:
        yield Fault(f'Expected no range of the inputs for "{model.likelihood.type}".', where)
    if not (bounds.lower <= bounds.upper).all():
        yield Fault("Expected `lower` to be at most `upper`.", f"{where}/upper")


def _of_covariance(model: Model) -> Iterator[Fault]:
    """Yield faults of a covariance; its factorisation later detects whether it is positive definite."""
    covariance = model.covariance
    variances = covariance.diagonal()
    is_of_rows = model.likelihood.is_conjugate and not model.likelihood.noise_by_row and model.jitter is not None
    if model.is_exact and not (is_of_rows and model.mean.ndim == 1 and model.mean.size == model.rows + len(covariance)):
        detail = "Expected that of all weights, but of a process through all rows with `jitter` and noise of one size."
        yield Fault(detail, "/model/covariance")
        return
    noise = (model.signal_variance or 0.0) * (model.jitter or 0.0)
    if model.is_exact and not isclose((model.noise_sd or 0.0) ** 2, noise, rel_tol=NOISE_TOLERANCE):
        yield Fault("Expected the signal variance times `jitter` as noise variance.", "/model/noise_sd")
    if not (variances > 0.0).all():
        yield Fault("Expected variances above 0.", "/model/covariance")
        return
    sd = np.sqrt(variances)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(covariance - covariance.T) / np.outer(sd, sd)
    if not (apart <= ASYMMETRY).all():
        yield Fault("Expected a symmetric matrix.", "/model/covariance")


def _of_figures(model: Model) -> Iterator[Fault]:
    gammas = ((f"/model/gamma/{place}", gamma, DETERMINED) for place, gamma in enumerate(model.gamma.tolist()))
    yield from islice(figure_faults(gammas), 1)
    yield from figure_faults(
        [
            ("/model/candidates", model.candidates, COUNT),
            ("/model/last_gain", model.last_gain, GAIN),
            ("/model/next_gain", model.next_gain, GAIN),
        ]
    )
    if model.termination not in set(Termination):
        yield Fault(f"Expected one of {', '.join(Termination)}.", "/model/termination")


def _function_faults(model: Model) -> Iterator[Fault]:
    """Return a fault for kernel functions whose centres are too far away to compute distances."""
    for place, functions in enumerate(model.functions):
        if not _has_distances(functions):
            yield _fault(f"/model/functions/{place}")
    if model.augmentation is not None and not _has_distances(model.augmentation.functions):
        yield _fault("/model/augmentation/functions")


def _has_distances(functions: Functions) -> bool:
    single = functions.of if isinstance(functions, GroupFunctions) else functions
    if not isinstance(single, KernelFunctions):
        return True
    with np.errstate(all="ignore"):
        return bool((np.abs(single.input_map(single.centres)) <= MAX_DISTANCE).all())


def _fault(where: str) -> Fault:
    return Fault(f"Expected centres that are at most {MAX_DISTANCE:g} widths from 0, after the warp.", where)


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
    yield from _of_predictor(predictor, report)
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


def _of_predictor(predictor: SupervisedPredictor, report: SupervisedReport) -> Iterator[Fault]:
    """Yield faults of values that follow from the model."""
    model, likelihood = representative(predictor.learned), likelihood_of(predictor.learned)
    temperature = temperature_of(likelihood.temperature) if isinstance(likelihood, ClassLikelihood) else None
    yield from difference_faults(report.rows, model.rows, f"{WHERE}/rows")
    yield from difference_faults(report.candidates, model.candidates, f"{WHERE}/candidates")
    yield from difference_faults(report.temperature, temperature, f"{WHERE}/temperature")
    yield from difference_faults(report.termination, model.termination, f"{WHERE}/termination")


def _of_members(learned: LearnedModel, report: SupervisedReport, encoding: Encoding) -> Iterator[Fault]:
    """Yield faults of the members, which follow from the model; kernels that it has no functions of, and their widths,
    are those of the request."""
    expected = derived_members(learned, encoding, _inputs(report, encoding))
    if len(report.members) != len(expected):
        yield Fault(f"Expected {len(expected)} members, got {len(report.members)}.", f"{WHERE}/members")
        return
    process = learned.process if isinstance(learned, LocalModel) else None
    models = (None,) if process is not None else members_of(learned)
    for place, (member, model, derived) in enumerate(zip(report.members, models, expected, strict=True)):
        where, found = f"{WHERE}/members/{place}", member.hyperparameters
        kernels = [process.kernel] if process is not None else [] if model is None else _kernels(model)
        if member.kernel not in kernels and kernels and (member.kernel is not None or process is not None):
            yield Fault("Expected a kernel of the model.", f"{where}/kernel")
        scales = replace(derived.hyperparameters, widths=derived.hyperparameters.widths or found.widths)
        measured = replace(
            derived, kernel=member.kernel, evidence_unreduced=member.evidence_unreduced, score=member.score
        )
        yield from difference_faults(member, replace(measured, hyperparameters=scales), where)
        yield from width_faults(found.widths, column_names(encoding), f"{where}/hyperparameters")
    if process is not None and (report.local is None or report.local.neighbours != process.neighbours):
        yield Fault("Expected the comparison that selected the process.", f"{WHERE}/local")


def _kernels(model: Model) -> list[Kernel]:
    kernels = [one.kernel for one in model.functions if isinstance(one, KernelFunctions)]
    return [kernel.kernel if isinstance(kernel, Additive) else kernel for kernel in kernels]


def _inputs(report: SupervisedReport, encoding: Encoding) -> Sequence[str] | None:
    """Return the names of the inputs in the plan's order; None where they are not those of the encoding."""
    planned, encoded = [column.name for column in report.plan.inputs], [column.name for column in encoding.inputs]
    return planned if sorted(planned) == sorted(encoded) else None


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
