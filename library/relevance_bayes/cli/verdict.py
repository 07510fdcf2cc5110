"""The verdict on a version in sentences: the error of its predictions, its intervals, the inputs that matter."""

from collections.abc import Iterator, Mapping, Sequence
from math import log, sqrt

from relevance_bayes.cli.remedies import in_options
from relevance_bayes.cli.rendering import cell_text
from relevance_bayes.client.responses import (
    ApproximationVersion,
    ComponentsVersion,
    ImageVersion,
    Member,
    SupervisedVersion,
    VersionBase,
)

MAX_INPUTS_NAMED = 5

UNSEEN = 100.0
"""The width, in standard deviations of an input, above which the input has no effect on the kernels."""

HARDLY = 1.05
"""The largest ratio of the error of a constant prediction to the model's that is called hardly more."""

NOMINAL_COVERAGE = 0.95

MIN_MISCALIBRATION = 0.02
"""The smallest difference from the nominal coverage that is reported, whatever the number of rows."""

OPTIMISTIC = "by leave-one-out, which tends to be optimistic; --validation 5 measures on rows left out"


def verdict(version: VersionBase) -> Iterator[str]:
    """Yield the sentences on the task of a version and on its error."""
    match version:
        case SupervisedVersion():
            yield f"{_name(version)}, predicts {version.target} from {_count(len(version.inputs), 'input')}."
            yield from _errors_of_classes(version) if version.classes else _errors_of_numbers(version)
            local = None if version.local is None or version.local.on is None else version.local
            if local is not None:
                yield f"It predicts from the {local.neighbours} rows that are nearest, of {local.rows:,} that it keeps."
            if version.functions == 0 and local is None:
                yield "No function was kept: it predicts a constant."
            elif (inputs := _inputs(version)) is not None:
                yield inputs
        case ComponentsVersion():
            yield f"{_name(version)}, scores how new a row is."
            yield (
                f"{_count(len(version.variances), 'component')} explain {_percent(version.explained_variance)} of the "
                f"variance of {version.rows:,} rows, and need {version.functions:,} of them."
            )
        case ApproximationVersion():
            yield f"{_name(version)}, approximates a known function."
            yield (
                f"{_count(version.functions, 'term')} instead of {version.rows:,} miss {_percent(version.error)} of "
                "the function's norm."
            )
        case ImageVersion():
            pixels = version.height * version.width
            quality = "" if version.psnr is None else f", at a peak signal-to-noise ratio of {version.psnr:.1f} dB"
            yield f"{_name(version)}, encodes {version.height:,} x {version.width:,} pixels."
            yield f"{_count(version.functions, 'function')} stand for {pixels:,} values{quality}."
        case _:
            yield f"{_name(version)}, is of the task {version.task}."


def _name(version: VersionBase) -> str:
    return f"{version.model}, version {version.version}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _measured(version: SupervisedVersion) -> tuple[Mapping[str, float], str, int] | None:
    """Return scores, a description of the rows on which they were measured, and the number of these rows.

    Held-out rows come before folds, and leave-one-out, a diagnostic, last.
    """
    metrics = version.metrics
    if (scores := metrics.get("holdout")) is not None:
        return scores, f"on {_count(version.rows_held_out, 'row')} held out", version.rows_held_out
    if (scores := metrics.get("validation")) is not None:
        rows = round(scores.get("rows", version.rows))
        folds = 0 if version.score is None else version.score.folds
        in_folds = f", in {_count(folds, 'fold')}" if folds else ""
        return scores, f"on {_count(rows, 'row')} left out{in_folds}", rows
    if (scores := metrics.get("leave_one_out")) is not None:
        return scores, OPTIMISTIC, version.rows
    return None


def _errors_of_numbers(version: SupervisedVersion) -> Iterator[str]:
    measured = _measured(version)
    if measured is None or (rmse := measured[0].get("rmse")) is None:
        yield _unmeasured(version)
        return
    scores, where, rows = measured
    yield (
        f"Predictions are typically off by {_figure(rmse)} (root mean square error {where})"
        f"{_beside_the_mean(rmse, scores.get('r2'))}."
    )
    if (coverage := scores.get("coverage_95")) is not None:
        yield f"{_percent(coverage)} of these rows lie within their 95 % intervals{_miscalibrated(coverage, rows)}."


def _beside_the_mean(rmse: float, r2: float | None) -> str:
    """Return a clause on the error of predicting the mean of the same rows, which is rmse / sqrt(1 - r2)."""
    if r2 is None or r2 >= 1.0:
        return ""
    ratio = 1 / sqrt(1 - r2)
    constant = f"predicting the mean is off by {_figure(rmse * ratio)}"
    if ratio <= 1.0:
        return f", which is no better than a constant: {constant}"
    return f"; {constant}, {_times(ratio)}"


def _times(ratio: float) -> str:
    if ratio <= HARDLY:
        return "which is hardly more"
    return f"{ratio:.1f} times as much" if ratio < 9.95 else f"{ratio:,.0f} times as much"


def _miscalibrated(coverage: float, rows: int) -> str:
    """Return a clause where the coverage differs from 95 % by more than two standard errors."""
    standard_error = sqrt(NOMINAL_COVERAGE * (1 - NOMINAL_COVERAGE) / max(rows, 1))
    if abs(coverage - NOMINAL_COVERAGE) <= max(2 * standard_error, MIN_MISCALIBRATION):
        return ""
    return ", so the intervals are too narrow" if coverage < NOMINAL_COVERAGE else ", so the intervals are too wide"


def _errors_of_classes(version: SupervisedVersion) -> Iterator[str]:
    measured = _measured(version)
    if measured is None:
        yield _unmeasured(version)
        return
    scores, where, _ = measured
    total = sum(one.rows for one in version.class_rows)
    shares = [one.rows / total for one in version.class_rows if one.rows]
    if (error := scores.get("error")) is not None:
        beside = f"always predicting the most frequent class is right for {_percent(max(shares))}"
        yield f"The class is right for {_percent(1 - error)} ({where}); {beside}."
    if (log_loss := scores.get("log_loss")) is not None:
        beside = _beside_the_frequencies(log_loss, -sum(share * log(share) for share in shares))
        yield f"The log loss is {_figure(log_loss)} nats{beside}."


def _beside_the_frequencies(log_loss: float, constant: float) -> str:
    worse = ", which is no better" if log_loss >= constant else ""
    return f"; predicting the class frequencies for every row has {_figure(constant)}{worse}"


def _unmeasured(version: SupervisedVersion) -> str:
    reason = "" if version.score is None or version.score.reason is None else f" {in_options(version.score.reason)}"
    return f"The error of its predictions was not measured.{reason}"


def _inputs(version: SupervisedVersion) -> str | None:
    """Return a sentence on the inputs by their relevance, 1/width^2, and one on the indicators of their missing values
    that matter; None where all relevances are equal."""
    relevances, inputs = _relevances(version), [column.name for column in version.inputs]
    if relevances is None or len(inputs) < 2:
        return None
    names = sorted(inputs, key=lambda name: -relevances[name])
    return f"{_ranked_inputs(version, names, relevances)}{_indicators(inputs, relevances)}"


def _ranked_inputs(version: SupervisedVersion, names: Sequence[str], relevances: Mapping[str, float]) -> str:
    seen = [name for name in names if relevances[name] > UNSEEN**-2]
    unseen = len(names) - len(seen)
    linear = has_linear_columns(version)
    rest = "enter linearly at most" if linear else "do not matter"
    if not seen:
        return f"None of the {len(names):,} inputs matters{' but linearly' if linear else ''}."
    more = len(seen) - MAX_INPUTS_NAMED
    named = _listed(seen if more <= 0 else [*seen[:MAX_INPUTS_NAMED], f"{more:,} more"])
    verb = "matters" if len(seen) == 1 else "matter"
    ranked = "" if len(seen) == 1 else ", in this order"
    if not unseen:
        return f"All inputs matter{ranked}: {named}."
    others = _listed(names[len(seen) :]) if unseen <= MAX_INPUTS_NAMED else f"{unseen:,} others"
    if unseen == 1:
        rest = rest.replace("enter", "enters").replace("do not", "does not")
    return f"{named} {verb}{ranked}; {others} {rest}."


def _indicators(inputs: Sequence[str], relevances: Mapping[str, float]) -> str:
    """Return a sentence on the inputs whose missing values matter, after the one on inputs; empty without any."""
    seen = [name for name in inputs if relevances.get(_indicator(name), 0.0) > UNSEEN**-2]
    more = len(seen) - MAX_INPUTS_NAMED
    named = seen if more <= 0 else [*seen[:MAX_INPUTS_NAMED], f"{more:,} more"]
    return f" Whether {_listed(named)} {'is' if len(seen) == 1 else 'are'} missing matters, too." if seen else ""


def _indicator(name: str) -> str:
    """Return the name of the column of an input's missing values."""
    return f"{name} missing"


def has_linear_columns(version: SupervisedVersion) -> bool:
    """Return True where inputs are functions of the basis themselves."""
    return any(one["type"] == "inputs" for one in version.basis)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _relevances(version: SupervisedVersion) -> dict[str, float] | None:
    """Return the largest 1/width^2 of the columns of each input, averaged over members; None where all are equal.

    Members whose inputs share one width are left out. An indicator of missing values has its own, by its name.
    """
    if not version.standardised:
        return None
    found = [one for one in version.members if all(width.input is not None for width in one.hyperparameters.widths)]
    inputs = [column.name for column in version.inputs]
    relevances = dict.fromkeys([*inputs, *map(_indicator, inputs)], 0.0)
    for member in found:
        maximum = dict.fromkeys(relevances, 0.0)
        for one in member.hyperparameters.widths:
            for name in _owners(one.input or "", relevances):
                maximum[name] = max(maximum[name], one.width**-2)
        for name, value in maximum.items():
            relevances[name] += _weight(member) * value
    weight = sum(map(_weight, found))
    averages = {name: value / weight for name, value in relevances.items()} if weight else {}
    return averages if len({averages[name] for name in inputs if averages}) > 1 else None


def _weight(member: Member) -> float:
    return 1.0 if member.weight is None else member.weight


def _owners(column: str, inputs: Mapping[str, float]) -> Sequence[str]:
    """Return the input that a column of the kernels encodes: `colour` of `colour=red`, `day` of `day (week, sine)`."""
    owners = [name for name in inputs if column == name or column.startswith((f"{name}=", f"{name} "))]
    return sorted(owners, key=len)[-1:]


def _figure(value: float) -> str:
    """Return a number with three significant digits."""
    return cell_text(float(f"{value:.3g}"))


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
