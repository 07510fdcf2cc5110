"""The target of a training: its kind, its classes, its likelihood, and the likelihoods compared with that."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from relevance_bayes.core.algorithms import Greedy
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels import CityBlock, Matern32
from relevance_bayes.core.kernels.hyperparameters import SHRINKAGE, EvidencePerInputWidth, EvidenceWidth
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    ClassLikelihood,
    GaussianNoise,
    Hurdle,
    LogitGaussian,
    NegativeBinomial,
    NumberTarget,
    OneAgainstRest,
    Poisson,
    StudentT,
    TargetLikelihood,
)
from relevance_bayes.core.likelihoods.bernoulli import MAX_TEMPERATURE, MIN_TEMPERATURE
from relevance_bayes.core.models.classes import softmax_regression_spec
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.values import Label, Task, text_of
from relevance_bayes.tables.columns import MAX_CATEGORIES_LISTED, MAX_CLASSES, ColumnSummary, TableSummary
from relevance_bayes.tables.encoding.table import MAX_SCALED, quoted
from relevance_bayes.tables.moments import LEVELS
from relevance_bayes.tasks.planning import ColumnUse, Placed, listed, refusal, unknown_column
from relevance_bayes.tasks.supervised.request import (
    AnyLikelihood,
    AutomaticPrior,
    GaussianLikelihood,
    GroupSplit,
    KernelChoice,
    NoiseColumn,
    OrderSplit,
    RandomSplit,
    SupervisedRequest,
)

NOISE_POINTER = "/likelihood/noise_sd/column"
"""The place of the name of the noise column in a request."""


@dataclass(frozen=True)
class Resolved:
    """A valid target: its column, the task with its reason, and the classes of a classification."""

    column: ColumnSummary
    task: Task
    reason: str
    classes: tuple[Label, ...]


def resolve_target(
    dataset: TableSummary, name: str, requested: Task | None, likelihood: TargetLikelihood | None
) -> Resolved:
    """Return the target's column, and the task as `requested`, else by column and likelihood.

    Raises InvalidRequestError at once, since all else depends on them.
    """
    column = dataset.column(name)
    if column is None:
        raise refusal(Fault(unknown_column(dataset, name), "/target", column=name))
    present = dataset.rows - column.missing
    if present < 2:
        values = f"{present} value{'s' if present != 1 else ''} in {dataset.rows} row{'s' if dataset.rows != 1 else ''}"
        raise _at_target(column, f"The target `{name}` has {values}; at least two are needed.")
    if column.kind == "timestamp":
        raise _at_target(
            column,
            f"The target `{name}` holds points in time, which can't be predicted;"
            " send it as a number (seconds or days since some moment), or choose another target.",
        )
    task, reason = (
        (requested, f"`task` requests {requested}.") if requested is not None else _inferred(column, likelihood)
    )
    if task == "regression":
        _check_regression(column)
        return Resolved(column, task, reason, ())
    chosen = "/likelihood/type" if requested is None and likelihood is not None else "/task"
    return Resolved(column, task, reason, _classes(column, chosen, present))


DIGITS = frozenset("0123456789")


def _at_target(column: ColumnSummary, detail: str) -> InvalidRequestError:
    return refusal(Fault(detail, "/target", column=column.name))


def _inferred(column: ColumnSummary, likelihood: TargetLikelihood | None) -> tuple[Task, str]:
    if column.kind == "boolean":
        return "classification", f"`{column.name}` holds true and false, so these two are the classes."
    if column.kind == "category":
        return "classification", f"`{column.name}` holds texts, so these are the classes."
    if likelihood is not None and is_for(likelihood, "regression"):
        return "regression", f'`{column.name}` holds numbers, and "{likelihood.type}" is for quantities.'
    if isinstance(likelihood, Categorical | OneAgainstRest | BernoulliPerClass):
        return "classification", f'`{column.name}` holds numbers, and "{likelihood.type}" is for classes.'
    if column.integral and column.distinct == 2:
        low, high = _number_labels(column)
        reason = f"`{column.name}` holds only the integers {low} and {high}, so these are two classes"
        return "classification", f'{reason}; send "task": "regression" to predict it as a quantity.'
    return "regression", f"`{column.name}` holds numbers, so it is predicted as a quantity."


def _check_regression(column: ColumnSummary) -> None:
    if column.kind != "number":
        what = "true and false" if column.kind == "boolean" else "texts"
        detail = f"`{column.name}` has {what}, which can't be predicted as a quantity; use classification."
        raise refusal(Fault(detail, "/task", column=column.name))
    if column.minimum == column.maximum:
        raise _at_target(
            column, f"Expected two values of the target `{column.name}`, got {column.minimum} in every row."
        )


def _number_labels(column: ColumnSummary) -> tuple[int | float, ...]:
    low, high = column.minimum, column.maximum
    if low is None or high is None:
        raise ValueError(f"column {column.name!r} has values but no range")
    values = (low, high) if column.distinct == 2 else column.values
    return tuple(map(int, values)) if column.integral else values


def _classes(column: ColumnSummary, chosen: str, present: int) -> tuple[Label, ...]:
    """Return the labels in order: false and true, numbers ascending, texts by alphabet, of `present` values.

    `chosen` is the pointer to what requests classes where the column alone would not.
    """
    if column.distinct == 1:
        raise _at_target(column, f"The target `{column.name}` has one class only; at least two are needed.")
    if column.labels:
        return _many_classes(column, present)
    if column.distinct is None:
        raise _too_many_classes(column, chosen)
    match column.kind:
        case "boolean":
            return False, True
        case "number":
            return _number_labels(column)
        case _:
            return tuple(sorted(label for label, _ in column.categories))


MIN_ROWS_OF_A_CLASS = 2
"""The fewest rows of each of more than 50 classes, in the mean."""

NUMBERS = "Where these are numbers, write them in one form and unit, and upload the file again to predict a quantity."


def _many_classes(column: ColumnSummary, present: int) -> tuple[Label, ...]:
    """Return the labels of more than 50 classes; raises InvalidRequestError where they have few rows each, or may be
    numbers that were not recognised: texts that do not begin with a letter, and have a digit."""
    texts = [label for label in column.labels if isinstance(label, str)]
    numbers = [text for text in texts if not text[:1].isalpha() and not DIGITS.isdisjoint(text)]
    if 2 * len(numbers) > len(column.labels):
        detail = f"The target `{column.name}` has more than {MAX_CATEGORIES_LISTED} different texts, such as"
        raise _at_target(column, f"{detail} {quoted(numbers[0])}. {NUMBERS}")
    if len(column.labels) * MIN_ROWS_OF_A_CLASS > present:
        named = listed([quoted(text_of(label)) for label in column.labels])
        detail = f"The target `{column.name}` has {len(column.labels)} classes ({named}) in {present} rows; expected at"
        raise _at_target(column, f"{detail} least two rows of each, in the mean. {NUMBERS}")
    return column.labels


def named_class(given: Label, classes: tuple[Label, ...]) -> Label | None:
    """Return the class that a request names as JSON or, as on the command line, by its text; None for another one."""
    own = (one for one in classes if one == given and isinstance(one, bool) == isinstance(given, bool))
    return next(own, next((one for one in classes if text_of(one) == given), None))


def positive_class_faults(given: Label, target: Resolved) -> Iterator[Fault]:
    """Yield the fault of a positive class that is no class of the target."""
    if named_class(given, target.classes) is None:
        classes = listed([quoted(text_of(one)) for one in target.classes])
        values = f"has the classes {classes}" if classes else "is a number"
        yield Fault(f"`{target.column.name}` {values}, got {quoted(text_of(given))}.", pointer="/positive_class")


def _too_many_classes(column: ColumnSummary, chosen: str) -> InvalidRequestError:
    if column.kind == "number":
        detail = (
            f"`{column.name}` has more than {MAX_CLASSES:,} distinct numbers, the maximum number of classes, or some"
            " that are no integers; use regression."
        )
        return refusal(Fault(detail, chosen, column=column.name))
    detail = f"The target `{column.name}` has more than {MAX_CLASSES:,} classes, the maximum, or too long texts:"
    return _at_target(column, f"{detail} join some, or keep the rows of the most frequent. {NUMBERS}")


def core_likelihood(likelihood: AnyLikelihood | None) -> TargetLikelihood | None:
    """Return the core's likelihood; that of a column of noise is one by row."""
    if not isinstance(likelihood, GaussianLikelihood):
        return likelihood
    return GaussianNoise("rows" if isinstance(likelihood.noise_sd, NoiseColumn) else likelihood.noise_sd)


def noise_column(request: SupervisedRequest) -> str | None:
    """Return the column of each row's noise sd."""
    noise = request.likelihood.noise_sd if isinstance(request.likelihood, GaussianLikelihood) else None
    return noise.column if isinstance(noise, NoiseColumn) else None


def noise_faults(dataset: TableSummary, name: str | None, *, target: str) -> list[Fault]:
    """Return the faults of the noise column of that name; missing values are checked with those of all columns."""
    if name is None:
        return []
    column = dataset.column(name)
    if column is None:
        wrong = unknown_column(dataset, name)
    elif name == target:
        wrong = f"`{name}` is the target, so it can't be the noise column."
    elif column.kind != "number":
        wrong = f"`{name}` has no numbers, so it can't be the noise column."
    elif column.minimum is None:
        wrong = f"`{name}` has no values."
    elif column.minimum <= 0.0:
        wrong = f"`{name}` goes down to {column.minimum:g}; expected noise sds above 0."
    else:
        return []
    return [Fault(wrong, NOISE_POINTER, column=name)]


def class_alternatives(request: SupervisedRequest, spec: Spec, *, inputs: int) -> tuple[Spec, ...]:
    """Return the processes among which folds select where the choices between them are left open; else none.

    A Gaussian kernel with one width; with a width for each input; and a city-block kernel with the same, which has
    corners and steps along the axes, as trees do; and the first with the inputs as columns, which folds take only where
    it is clearly better. Where classes are too many for joint models of kernels, a softmax regression on the inputs
    comes second in place of the last. A requested kernel leaves those with it, `quick` the first.
    """
    requested = KernelChoice() if request.basis is None else request.basis
    if not isinstance(request.prior, AutomaticPrior | None) or not isinstance(request.algorithm, Greedy | None):
        return ()
    if not isinstance(spec.prior, GaussianProcess) or not isinstance(spec.likelihood, ClassLikelihood):
        return ()
    if not isinstance(requested, KernelChoice) or requested.width is not None or requested.additive != "none":
        return ()
    each, warp = EvidencePerInputWidth(SHRINKAGE), requested.warp or "none"
    kernels = [KernelBasis(requested.kernel, EvidenceWidth(), warp)]
    if request.effort != "quick":
        kernels += [KernelBasis(requested.kernel, each, warp)] if inputs > 1 else []
        kernels += [KernelBasis(CityBlock(), each)] if request.basis is None else []
    if request.effort == "thorough":
        kernels += [KernelBasis(Matern32(), each)] if request.basis is None and inputs > 1 else []
    found = [replace(spec, basis=(kernel, Bias())) for kernel in kernels]
    if request.effort == "quick" or request.basis is not None:
        return tuple(found)
    if isinstance(spec.likelihood, OneAgainstRest) and request.likelihood is None:
        found.insert(1, replace(softmax_regression_spec(spec.likelihood.latents), seed=spec.seed))
    elif inputs > 1:
        found.append(replace(spec, basis=(kernels[0], Bias(), Inputs())))
    return tuple(found)


LIKELIHOODS: dict[Task, tuple[type[TargetLikelihood], ...]] = {
    "regression": (*get_args(NumberTarget), Hurdle),
    "classification": get_args(ClassLikelihood),
}
"""The likelihoods of each task."""

MAX_CLASSES_WITH_MODELS = 10
"""The maximum number of classes with a model each, one against all others; ..."""

MAX_COUPLED_CELLS = 12_000
"""... more have one joint model while rows times classes are at most this number, and else one against all others: an
iteration of K classes together costs K times as much, and 26 letters were not learned as well (log loss .74 against
.37)."""

MIN_DOF, MAX_DOF = 2.0, 200.0
"""The bounds of degrees of freedom: above the lower the variance is finite, near the upper noise is nearly Gaussian."""


def is_for(likelihood: TargetLikelihood, task: Task) -> bool:
    """Return whether a likelihood is for a task."""
    return isinstance(likelihood, LIKELIHOODS[task])


def chosen_likelihood(
    requested: TargetLikelihood | None, task: Task, *, classes: int, rows: int, process: bool
) -> TargetLikelihood:
    """Return the requested likelihood, with the target's number of classes by default; else the task's default.

    With `process` there is a Gaussian process prior, otherwise independent weights, which classes share.
    """
    if (
        isinstance(requested, Categorical | OneAgainstRest | BernoulliPerClass)
        and requested.classes is None
        and classes
    ):
        return replace(requested, classes=classes)
    if requested is not None:
        return requested
    if task == "regression":
        return GaussianNoise()
    if classes <= 2:
        return Bernoulli()
    if classes <= MAX_CLASSES_WITH_MODELS:
        return BernoulliPerClass(classes) if process else Categorical(classes)
    return Categorical(classes) if process and rows * classes <= MAX_COUPLED_CELLS else OneAgainstRest(classes)


def likelihood_faults(likelihood: TargetLikelihood, task: Task, target: ColumnSummary, classes: int) -> Iterator[Fault]:
    """Yield the conflicts of a likelihood with the task, the target's values, its number of classes, or float64."""
    if not is_for(likelihood, task):
        names = [f'"{fitting.type}"' for fitting in LIKELIHOODS[task]]
        fitting = f"{' and '.join([', '.join(names[:-1]), names[-1]])} are" if len(names) > 1 else f"{names[0]} is"
        yield Fault(f'"{likelihood.type}" is not a likelihood for {task}; {fitting}.', "/likelihood/type")
        return
    yield from _temperature_faults(likelihood)
    if (unfit := _unfit(likelihood, target)) is not None:
        yield Fault(unfit, "/likelihood", column=target.name)
    shape = None if isinstance(likelihood, BernoulliPerClass | Hurdle) else likelihood.shape
    given = None if shape is None else shape.of(likelihood)
    if shape is not None and given is not None and not shape.min_value <= given <= shape.max_value:
        detail = f"`{shape.name}` must be from {shape.min_value:g} to {shape.max_value:g}, got {given:g}."
        yield Fault(detail, f"/likelihood/{shape.name}")
    match likelihood:
        case GaussianNoise(noise_sd=float() | int() as noise_sd) if not noise_sd > 0.0:
            yield Fault(f"The noise sd must be above 0, got {noise_sd:g}.", "/likelihood/noise_sd")
        case GaussianNoise(noise_sd=float() | int() as noise_sd) if not is_near(noise_sd, target.sd or 1.0):
            yield Fault(too_far(noise_sd, target.name, target.sd or 1.0), "/likelihood/noise_sd")
        case StudentT(degrees_of_freedom=float() | int() as dof) if not MIN_DOF < dof <= MAX_DOF:
            detail = f"`degrees_of_freedom` must be above {MIN_DOF:g} and at most {MAX_DOF:g}, got {dof:g}."
            yield Fault(detail, "/likelihood/degrees_of_freedom")
        case Bernoulli() if classes > 2:
            others = 'use "bernoulli_per_class" or "categorical"'
            detail = f'"bernoulli" is for two classes, and `{target.name}` has {classes}; {others}.'
            yield Fault(detail, "/likelihood/type", column=target.name)
        case BernoulliPerClass() if classes == 2:
            detail = f'"bernoulli_per_class" is for three classes and more, and `{target.name}` has 2; use "bernoulli".'
            yield Fault(detail, "/likelihood/type", column=target.name)
        case Categorical(classes=learned) | OneAgainstRest(classes=learned) | BernoulliPerClass(classes=learned) if (
            learned != classes
        ):
            detail = f"`{target.name}` has {classes} classes, got {learned}; by default they are counted."
            yield Fault(detail, "/likelihood/classes", column=target.name)
        case _:
            pass


def is_near(noise_sd: float, scale: float) -> bool:
    """Return whether a noise sd in units of the targets' scale can be squared."""
    return 1.0 / MAX_SCALED <= noise_sd / scale <= MAX_SCALED


def too_far(noise_sd: float, target: str, scale: float) -> str:
    """Return the message for one that can't."""
    return f"A noise sd of {noise_sd:g} is too far from that of `{target}`, {scale:g}, for float64."


def _temperature_faults(likelihood: TargetLikelihood) -> Iterator[Fault]:
    """Yield a fault for a temperature out of bounds."""
    if not isinstance(likelihood, ClassLikelihood) or likelihood.temperature == "learned":
        return
    if not MIN_TEMPERATURE <= likelihood.temperature <= MAX_TEMPERATURE:
        bounds = f"from {MIN_TEMPERATURE:g} to {MAX_TEMPERATURE:g}"
        detail = f"`temperature` must be {bounds}, got {likelihood.temperature:g}."
        yield Fault(detail, "/likelihood/temperature")


def _unfit(likelihood: TargetLikelihood, target: ColumnSummary) -> str | None:
    """Return why a target does not fit the likelihood, and an alternative; None if it does."""
    match likelihood.targets:
        case "count":
            return _no_counts(target)
        case "positive":
            return _no_logarithms(target)
        case "share":
            return _no_shares(target)
        case "amount":
            return _no_amounts(target)
        case _:
            return None


def _no_counts(target: ColumnSummary) -> str | None:
    """Return why a target is not a count, and an alternative; None if it is."""
    minimum, maximum = _range(target)
    if minimum < 0:
        return f'`{target.name}` goes down to {minimum:g}, and counts begin at 0; use "gaussian" or "student_t".'
    if not target.integral:
        others = '"log_gaussian" or "gaussian"' if minimum > 0 else '"gaussian" or "student_t"'
        return f"`{target.name}` has fractions, from {minimum:g} to {maximum:g}, and counts are integers; use {others}."
    return None


def _no_logarithms(target: ColumnSummary) -> str | None:
    """Return why a target has no logarithms, or too large ones, and an alternative; None if it has."""
    minimum, maximum = _range(target)
    if minimum <= 0:
        others = '"poisson" or "gaussian"' if target.integral and minimum == 0 else '"gaussian" or "student_t"'
        return f"`{target.name}` goes down to {minimum:g}, and only numbers above 0 have a logarithm; use {others}."
    if maximum / minimum > MAX_SCALED:
        return f"`{target.name}` goes from {minimum:g} to {maximum:g}, too wide a range for float64."
    return None


def _no_shares(target: ColumnSummary) -> str | None:
    """Return why a target is not between 0 and 1, and an alternative; None if it is."""
    minimum, maximum = _range(target)
    if minimum > 0.0 and maximum < 1.0:
        return None
    extreme = f"goes down to {minimum:g}" if minimum <= 0.0 else f"goes up to {maximum:g}"
    detail = "only numbers above 0 and below 1 have a logit"
    return f'`{target.name}` {extreme}, and {detail}; use "gaussian" or "student_t".'


def _no_amounts(target: ColumnSummary) -> str | None:
    """Return why a target is not from 0 on with zeros, and an alternative; None if it is."""
    minimum, maximum = _range(target)
    if minimum < 0.0:
        return f'`{target.name}` goes down to {minimum:g}, and amounts begin at 0; use "gaussian" or "student_t".'
    if minimum > 0.0:
        return f'`{target.name}` has no zeros, it goes down to {minimum:g}; use "log_gaussian".'
    if target.distinct == 2:
        return f'`{target.name}` holds only 0 and {maximum:g}; use "task": "classification".'
    return None


def _range(target: ColumnSummary) -> tuple[float, float]:
    if target.minimum is None or target.maximum is None:
        raise ValueError(f"column {target.name!r} has values but no range")
    return target.minimum, target.maximum


def column_uses(request: SupervisedRequest) -> dict[str, ColumnUse]:
    """Return what the columns of the noise and of the split are used for, by name."""
    uses, split = dict[str, ColumnUse](), request.split
    noise = noise_column(request)
    if noise is not None:
        conflict = f"`{noise}` has the noise of each row (`likelihood`), so it can't be an input."
        uses[noise] = ColumnUse("it has the noise of each row", conflict)
    if isinstance(split, GroupSplit):
        conflict = f"`{split.column}` keeps groups of rows apart (`split`), so it can't be an input: new rows have new"
        uses.setdefault(split.column, ColumnUse("it is used to keep groups apart", f"{conflict} groups."))
    elif isinstance(split, OrderSplit) and split.column is not None:
        uses.setdefault(split.column, ColumnUse("it is used to order the rows"))
    return uses


def required_columns(dataset: TableSummary, request: SupervisedRequest, target: ColumnSummary) -> Placed:
    """Return the columns without which a row can't be trained on: the target, and those of the split and the noise."""
    needed = [("/target", target)]
    if not isinstance(request.split, RandomSplit) and request.split.column is not None:
        splitter = dataset.column(request.split.column)
        needed += [("/split/column", splitter)] if splitter is not None else []
    name = noise_column(request)
    noise = None if name is None else dataset.column(name)
    return [*needed, *([(NOISE_POINTER, noise)] if noise is not None else [])]


MAX_ROWS_FOR_LOGARITHM = 20_000
"""The maximum number of rows for which a process of the logarithm is compared."""

MAX_ROWS_FOR_VARYING_NOISE = 20_000
"""The maximum number of rows for which heteroscedastic noise is compared unless requested: it takes several fits."""

MAX_ROWS_FOR_HEAVY_TAILS = 5_000
"""The maximum number of rows for which noise of Student's t is compared unless requested: its evidence has no closed
form, so that each fold is a whole fit."""

MAX_ROWS_FOR_COUNTS = 100_000
"""The maximum number of rows for which counts and a hurdle are compared unless requested: folds learn them from a
sample."""

MAX_MEAN_COUNT = 100.0
"""The mean of whole numbers above 0 up to which counts are compared: of more, the logarithm describes them as well."""

MIN_ROWS_OF_HURDLE = 50
"""The minimum number of rows for which a hurdle is compared: it has two models."""

MIN_ROWS_FOR_OPTIMISED_POINTS = 5_000
"""The number of rows from which one with a warp and optimised inducing points is compared too. There are many rows to a
function then, and the member of the pool that predicts best by a function for each row can be one that few functions
represent badly: of a table of 9,011 rows they have an NLL of 1.93 in place of 1.95 to 1.97."""


def varying_noise(request: SupervisedRequest, spec: Spec, pool: Sequence[Spec], *, rows: int) -> tuple[Spec, ...]:
    """Return specs of heteroscedastic noise, which are fitted with a pool where its residuals suggest it.

    The first is fitted with the kernel of the best member, in place of the first member's; of many rows there is that
    of `spec` too, which would be fitted without a pool.
    """
    if not pool or request.likelihood is not None or rows > MAX_ROWS_FOR_VARYING_NOISE:
        return ()
    of_mean = (pool[0],) if rows < MIN_ROWS_FOR_OPTIMISED_POINTS else (pool[0], spec)
    return tuple(replace(one, likelihood=GaussianNoise("heteroscedastic")) for one in of_mean)


def heavy_tails(request: SupervisedRequest, spec: Spec, pool: Sequence[Spec], *, rows: int) -> tuple[Spec, ...]:
    """Return the spec of noise of Student's t, which is fitted with a pool where its residuals have heavy tails.

    It is the one that a request of that likelihood would have.
    """
    if not pool or request.likelihood is not None or rows > MAX_ROWS_FOR_HEAVY_TAILS:
        return ()
    prior = spec.prior
    if isinstance(prior, GaussianProcess):
        prior = replace(prior, min_gain=StudentT.min_gain)
    return (replace(spec, likelihood=StudentT(), prior=prior),)


def bounded_targets(request: SupervisedRequest, spec: Spec, *, rows: int, target: ColumnSummary) -> tuple[Spec, ...]:
    """Return the specs of shares, counts or a hurdle, which are fitted with a pool where its intervals reach beyond
    them.

    They are those that requests of their likelihoods would have. The target is from 0 on, and has values within a
    standard deviation of a bound; a hurdle is for many zeros.
    """
    low, high, sd = target.minimum, target.maximum, target.sd
    if request.likelihood is not None or low is None or high is None or sd is None:
        return ()
    likelihoods: tuple[TargetLikelihood, ...] = ()
    if low > 0.0 and high < 1.0:
        is_near = min(low, 1.0 - high) < sd
        likelihoods = (LogitGaussian(),) if is_near and rows <= MAX_ROWS_FOR_LOGARITHM else ()
    elif target.integral and low < sd and rows <= MAX_ROWS_FOR_COUNTS:
        are_few = low == 0.0 or (target.mean is not None and target.mean <= MAX_MEAN_COUNT)
        likelihoods = (Poisson(), NegativeBinomial()) if are_few else ()
    if rows <= MAX_ROWS_FOR_COUNTS and _has_many_zeros(target, rows):
        likelihoods = (*likelihoods, Hurdle())
    prior = spec.prior
    priors = [
        replace(prior, min_gain=one.min_gain) if isinstance(prior, GaussianProcess) else prior for one in likelihoods
    ]
    return tuple(replace(spec, likelihood=one, prior=own) for one, own in zip(likelihoods, priors, strict=True))


def _has_many_zeros(target: ColumnSummary, rows: int) -> bool:
    """Return whether a target from 0 on is 0 in 5 % of the rows, and above 0 in 10 %, of MIN_ROWS_OF_HURDLE at
    least."""
    at = dict(zip(LEVELS, target.quantiles, strict=False))
    is_many = target.minimum == 0.0 and at.get(0.05) == 0.0 and at.get(0.9, 0.0) > 0.0
    return is_many and rows >= MIN_ROWS_OF_HURDLE and target.distinct not in {1, 2}
