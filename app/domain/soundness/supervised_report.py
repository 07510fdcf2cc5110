"""The report of a model of numbers or classes: its figures, and those that follow from the model."""

from collections.abc import Iterator, Sequence
from itertools import chain
from math import inf

from app.domain.encoding import Encoding, column_names, user_noise_sd, user_process_sd
from app.domain.errors import Fault, pointer
from app.domain.models import InputTerm, InputWarp, InputWidth, SupervisedPredictor, SupervisedReport
from app.domain.requests import ColumnSplit, RandomSplit, Split
from app.domain.scales import model_terms, model_warps, model_widths
from app.domain.soundness.columns import column_name_faults
from app.domain.soundness.figures import (
    COUNT,
    FINITE,
    NOT_NEGATIVE,
    SHARE,
    Figure,
    Interval,
    difference_faults,
    figure_faults,
)
from app.domain.soundness.likelihoods import likelihood_faults, noise_by_row_faults
from app.domain.soundness.reports import (
    WHERE,
    common_faults,
    row_count_faults,
    width_faults,
)
from app.sparse_bayes.likelihoods import ClassLikelihood, StudentT
from app.sparse_bayes.likelihoods.temperature import temperature_of
from app.sparse_bayes.model import Model
from app.sparse_bayes.per_class import PerClass
from app.sparse_bayes.pool import Pool, likelihood_of, members_of

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
CLASS_METRICS = {"error": SHARE, "log_loss": NOT_NEGATIVE, "brier": SHARE, "rows": COUNT}


def supervised_report_faults(predictor: SupervisedPredictor, report: SupervisedReport) -> Iterator[Fault]:
    """Return what no training can have reported, each with its place in a document."""
    encoding = predictor.encoding
    yield from common_faults(report)
    yield from row_count_faults(report.rows_dropped, report.rows_held_out)
    yield from _of_model(predictor, report)
    yield from _of_metrics(report)
    yield from _of_score(report)
    if isinstance(predictor.learned, Model):
        yield from _of_scales(report, predictor.learned, encoding)
        if report.members:
            yield Fault("One model has no members.", f"{WHERE}/members")
    else:
        yield from _of_members(predictor.learned, report, encoding)
    yield from _of_rows(report)
    yield from figure_faults([(f"{WHERE}/plan/holdout", report.plan.holdout, HOLDOUT)])
    yield from _of_split(report.plan.split)
    for place, one in enumerate(report.contenders):
        where = f"{WHERE}/contenders/{place}"
        yield from figure_faults([(f"{where}/functions", one.functions, COUNT)])
        yield from likelihood_faults(one.likelihood, f"{where}/likelihood", len(report.plan.classes))
        yield from noise_by_row_faults(one.likelihood, f"{where}/likelihood", report.plan.noise_column)


def _of_model(predictor: SupervisedPredictor, report: SupervisedReport) -> Iterator[Fault]:
    """These are the model's, in the user's units."""
    target, model = predictor.encoding.target, members_of(predictor.learned)[0]
    alone, likelihood = isinstance(predictor.learned, Model), likelihood_of(predictor.learned)
    temperature = temperature_of(likelihood.temperature) if isinstance(likelihood, ClassLikelihood) else None
    dof = model.likelihood.dof if isinstance(model.likelihood, StudentT) else None
    yield from difference_faults(
        [
            (f"{WHERE}/rows", report.rows, model.rows),
            (f"{WHERE}/candidates", report.candidates, model.candidates),
            (f"{WHERE}/noise_sd", report.noise_sd, user_noise_sd(target, model.noise_sd) if alone else None),
            (
                f"{WHERE}/process_sd",
                report.process_sd,
                user_process_sd(target, model.amplitude) if alone else None,
            ),
            (f"{WHERE}/last_gain", report.last_gain, model.last_gain if alone else None),
            (f"{WHERE}/next_gain", report.next_gain, model.next_gain if alone else None),
            (f"{WHERE}/degrees_of_freedom", report.degrees_of_freedom, None if dof == "learned" else dof),
        ]
    )
    if report.temperature is not None:  # versions that are older than it have none
        yield from difference_faults([(f"{WHERE}/temperature", report.temperature, temperature)])
    if report.termination != model.termination:
        yield Fault("Expected the model's.", f"{WHERE}/termination")


def _of_members(learned: Pool | PerClass, report: SupervisedReport, encoding: Encoding) -> Iterator[Fault]:
    """Each is a member of the model, in the user's units; of the whole there are no scales."""
    yield from _named_faults("widths", _by_place(report.widths), [])
    yield from _named_faults("warps", _by_place(report.warps), [])
    yield from _named_faults("terms", _by_place(report.terms), [])
    if len(report.members) != len(learned.members):
        yield Fault(f"Expected {len(learned.members)} members, got {len(report.members)}.", f"{WHERE}/members")
        return
    target = encoding.target
    none: list[None] = [None] * len(learned.members)
    weights = learned.weights.tolist() if isinstance(learned, Pool) else none
    labels = none if isinstance(learned, Pool) else target.classes
    for place, (told, model, weight) in enumerate(zip(report.members, learned.members, weights, strict=True)):
        where = f"members/{place}"
        if place < len(labels) and told.label != labels[place]:
            yield Fault("Expected the class that the member is of, and none for numbers.", f"{WHERE}/{where}/label")
        yield from difference_faults(
            [
                (f"{WHERE}/{where}/weight", told.weight, weight),
                (f"{WHERE}/{where}/functions", told.functions, len(model.mean)),
                (f"{WHERE}/{where}/noise_sd", told.noise_sd, user_noise_sd(target, model.noise_sd)),
                (f"{WHERE}/{where}/process_sd", told.process_sd, user_process_sd(target, model.amplitude)),
            ]
        )
        yield from _named_faults(f"{where}/widths", _by_place(told.widths), _by_place(model_widths(model, encoding)))
        yield from _named_faults(f"{where}/warps", _by_place(told.warps), _by_place(model_warps(model, encoding)))


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
    """A score has a value or a reason."""
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


def _of_scales(report: SupervisedReport, model: Model, encoding: Encoding) -> Iterator[Fault]:
    """These are the model's, by the names of the encoded inputs; without kernels in it, those that were asked for."""
    widths, warps, terms = model_widths(model, encoding), model_warps(model, encoding), model_terms(model, encoding)
    yield from width_faults(report.widths, column_names(encoding))
    if widths:
        yield from _named_faults("widths", _by_place(report.widths), _by_place(widths))
    yield from _named_faults("warps", _by_place(report.warps), _by_place(warps))
    yield from _named_faults("terms", _by_place(report.terms), _by_place(terms))


Scale = InputWidth | InputWarp | InputTerm
Named = Sequence[tuple[str | None, Sequence[tuple[str, float]]]]


def _by_place(scales: Sequence[Scale]) -> Named:
    return [(one.input, [(name, value) for name, value in vars(one).items() if name != "input"]) for one in scales]


def _named_faults(member: str, reported: Named, expected: Named) -> Iterator[Fault]:
    where = f"{WHERE}/{member}"
    if [name for name, _ in reported] != [name for name, _ in expected]:
        yield Fault(f"Expected {len(expected)}, with the names of the model's inputs.", where)
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
            (f"{WHERE}/outliers/{place}/typicality", one.typicality, SHARE),
        )
        for place, one in enumerate(report.outliers)
    )
    yield from figure_faults(figures)
    yield from figure_faults(
        (f"{WHERE}/class_rows/{place}/rows", one.rows, COUNT) for place, one in enumerate(report.class_rows)
    )
    if report.class_rows and sum(one.rows for one in report.class_rows) != report.rows:
        yield Fault(f"Expected {report.rows} rows in all, as `rows` is.", f"{WHERE}/class_rows")


def _of_split(split: Split) -> Iterator[Fault]:
    if isinstance(split, RandomSplit):
        return
    if isinstance(split, ColumnSplit) or split.column is not None:
        yield from column_name_faults(split.column or "", f"{WHERE}/plan/split/column")
