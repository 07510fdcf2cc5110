"""A version as text: the verdict, then its facts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from relevance_bayes.cli.console import echo
from relevance_bayes.cli.remedies import in_options
from relevance_bayes.cli.rendering import Fact, cell_text, number, print_facts, print_sentences
from relevance_bayes.cli.verdict import UNSEEN, has_linear_columns, verdict
from relevance_bayes.client.responses import (
    Alternative,
    ApproximationVersion,
    ComparedModel,
    ComponentsVersion,
    ImageVersion,
    Member,
    SupervisedVersion,
    VersionBase,
)
from relevance_bayes.records.choices import Choice
from relevance_bayes.records.reports import (
    CalendarInputs,
    Evidence,
    Hyperparameters,
    InputWarp,
    InputWidth,
    LocalReport,
    LogarithmicInputs,
    Outlier,
    Score,
    TextInputs,
)
from relevance_bayes.records.versions import ImportedFrom

MAX_OUTLIERS_SHOWN = 8

MEASURED = {"holdout": "on the holdout", "validation": "on folds", "leave_one_out": "leave-one-out"}
"""The rows of metrics, by the API's names."""

MIN_BENT = 0.005
"""The smallest skew or tail of a warp that is shown."""

EVIDENCE = {"exact": "", "laplace": " (Laplace's approximation)", "lower_bound": " or more (a lower bound)"}
"""The text after the value of each kind of evidence."""


def supervised_facts(version: SupervisedVersion) -> Iterator[Fact]:
    """Yield facts: measures, evidence, functions, members, compared models, settings."""
    found = version.hyperparameters
    yield from (("warning", warning.detail) for warning in version.warnings)
    yield "score", None if version.score is None else _score(version.score)
    yield from ((MEASURED.get(rows, rows), _measured(rows, scores)) for rows, scores in version.metrics.items())
    yield "log evidence", _evidence(version.evidence)
    yield "functions", functions_text(version)
    yield "score loss", _score_loss(version)
    yield "gains", _gains(found)
    if len(version.members) > 1:
        yield from ((f"member {place}", member_text(one, version)) for place, one in enumerate(version.members, 1))
    yield from _compared(version)
    yield from () if version.local is None else _nearest_rows(version.local)
    yield "calendar", None if version.calendar is None else _calendar(version.calendar)
    yield "logarithms", None if version.logarithms is None else _columns(version.logarithms)
    yield "texts", None if version.texts is None else _columns(version.texts)
    yield "task", f"{version.task} of {version.target}"
    yield "classes", _classes(version) or None
    yield "inputs", ", ".join(column.name for column in version.inputs)
    yield "ignored columns", "; ".join(f"{column.name}: {column.reason}" for column in version.ignored) or None
    yield "rows", counted(version.rows, (version.rows_held_out, "held out"), (version.rows_dropped, "dropped"))
    yield "outliers", _outliers(version.outliers) or None
    yield "prior", str(version.prior["type"]).replace("_", " ")
    yield "likelihood", _likelihood(version)
    yield "noise sd", _noise_sd(version)
    yield "signal sd", _sd(found.signal_sd, version)
    yield "temperature", number(found.temperature) if found.temperature not in {None, 1.0} else None
    yield "width", seen_widths(version) or None
    yield "warped inputs", _warps(found.warps) or None
    yield "additive terms", ", ".join(f"{term.input} ({term.share:.0%})" for term in found.terms) or None
    yield "termination", version.termination.replace("_", " ")
    yield "time", f"{version.seconds:.1f} s"


def _evidence(found: Evidence | None) -> str | None:
    if found is None:
        return None
    beside = [
        f", log hyperprior {found.log_hyperprior:.2f}" if found.log_hyperprior else "",
        f", price {found.price:.2f}" if found.price else "",
    ]
    return f"{found.value:.2f} nats{EVIDENCE.get(found.kind, '')}{''.join(beside)}"


def functions_text(version: SupervisedVersion) -> str:
    """Return the numbers of functions and of candidates, those of each model where there are several."""
    if len(version.members) > 1:
        return f"{version.functions} in {len(version.members)} models, of {version.candidates:,} candidates each"
    return f"{version.functions} kept of {version.candidates:,} candidates"


def member_text(member: Member, version: SupervisedVersion) -> str:
    """Return one of several models: its class or weight, kernel, functions, noise and widths."""
    found = member.hyperparameters
    widths = widths_text(found.widths, standardised=version.standardised, linear=has_linear_columns(version))
    kernel = None if member.kernel is None else str(member.kernel["type"]).replace("_", " ")
    parts = [
        None if member.label is None else cell_text(member.label),
        None if member.weight is None else f"weight {member.weight:.2f}",
        kernel if kernel is None or not found.warps else f"{kernel}, warped inputs",
        f"{member.functions} {'function' if member.functions == 1 else 'functions'}",
        None if found.noise_sd is None else f"noise sd {number(found.noise_sd)}",
        f"width {widths}" if widths else None,
        f"log evidence {_evidence(member.evidence)}",
    ]
    return ", ".join(part for part in parts if part is not None)


def _score(found: Score) -> str:
    """Return the score on rows that were not trained on, with its standard error."""
    if found.value is None:
        return "none" if found.reason is None else f"none: {in_options(found.reason)}"
    error = "" if found.standard_error is None else f" +- {number(found.standard_error)}"
    rows = f"{found.rows:,} rows left out, in {found.folds} {'fold' if found.folds == 1 else 'folds'}"
    text = f"{number(found.value)}{error} nats a row, on {rows}"
    return text if found.reason is None else f"{text}; {found.reason}"


def _nearest_rows(found: LocalReport) -> Iterator[Fact]:
    """Yield the nearest-neighbour processes, their scores, and the reasons against those that were not selected."""
    kept = f"{found.neighbours} of {found.rows:,}, which are kept ({found.bytes / 2**20:.1f} MiB); of the {found.on}"
    sparse = "" if found.sparse_score is None else f"; the sparse model {number(found.sparse_score)}"
    yield "nearest rows", f"{'not taken' if found.on is None else kept}{sparse}"
    for one in found.candidates:
        score = "" if one.score is None else f": {number(one.score)} nats a row, on {found.rows_apart:,} rows left out"
        reason = "" if one.reason is None else f"; {one.reason}"
        yield "", f"of the {one.on}{score}{reason}"


def _calendar(found: CalendarInputs) -> str:
    """Return the inputs derived from timestamps, and whether they were selected."""
    derived = ", ".join(f"{' and '.join(one.periods)} of {one.column}" for one in found.derived)
    return f"{derived} {_selected(found)}"


def _columns(found: LogarithmicInputs | TextInputs) -> str:
    """Return the columns of a comparison, and whether their encoding was selected."""
    return f"of {', '.join(found.columns)} {_selected(found)}"


def _selected(found: CalendarInputs | LogarithmicInputs | TextInputs) -> str:
    gain = "" if found.gain is None else f"; the gain was {number(found.gain)} nats a row"
    return f"{'selected' if found.selected else 'not selected'}{gain}"


def _score_loss(version: SupervisedVersion) -> str | None:
    """Return the loss of score by the reduction to few functions, and their number before and after."""
    if version.score_loss is None:
        return None
    text = f"{version.score_loss:.3f} nats a row, by few functions"
    every = version.unreduced_functions
    return text if every is None else f"{text}: {version.functions} of {every:,}"


def _classes(version: SupervisedVersion) -> str:
    """Return the classes, with the number of training rows of each."""
    return ", ".join(f"{cell_text(one.label)} ({one.rows:,} rows)" for one in version.class_rows)


def fit_name(fit: Alternative | ComparedModel) -> str:
    """Return the properties of a fit in which compared fits differ: prior and noise."""
    noise = "heteroscedastic" if fit.likelihood.get("noise_sd") == "heteroscedastic" else fit.likelihood["type"]
    return f"{fit.prior['type']} with {noise} noise".replace("_", " ")


def _compared(version: SupervisedVersion) -> Iterator[Fact]:
    """Yield each alternative, and the reason why it was not selected."""
    heading = "compared models"
    for other in version.alternatives:
        basis = "" if other.basis is None else f", {basis_name(other.basis)}"
        yield heading, f"{fit_name(other)}{basis}: {_why_not(other, version)}"
        heading = ""


def _why_not(other: Alternative, version: SupervisedVersion) -> str:
    """Return the difference of its score from the version's, or the reason why it has none."""
    by_folds = other.kind == "fold_log_density"
    taken = version.integrated_evidence if not by_folds else None if version.score is None else version.score.value
    if other.score is None or taken is None:
        return other.reason or "not measured"
    nats, unit = taken - other.score, "nats a row" if by_folds else "nats"
    distance = f"{abs(nats):.3g} {unit} {'lower' if nats >= 0 else 'higher'}"
    measure = "score" if by_folds else "integrated evidence"
    stopped = ", given up before its fit ended" if other.functions is None and not by_folds else ""
    reason = "" if other.reason is None else f", {other.reason}"
    return f"its {measure} is {distance}{stopped}{reason}"


def basis_name(basis: Choice) -> str:
    """Return the name of a basis: its kernel, and the properties in which compared ones differ."""
    kernel, width = basis.get("kernel"), basis.get("width")
    name = str(kernel["type"] if isinstance(kernel, dict) else basis["type"])
    is_shared = isinstance(width, dict) and width.get("type") == "evidence"
    is_warped = basis.get("warp") == "evidence"
    return f"{name}{' of one width' if is_shared else ''}{' of warped inputs' if is_warped else ''}".replace("_", " ")


def _likelihood(version: SupervisedVersion) -> str:
    """Return the likelihood, and its degrees of freedom if it has some."""
    tails = version.hyperparameters.degrees_of_freedom
    name = str(version.likelihood["type"]).replace("_", " ")
    if version.likelihood.get("noise_sd") == "heteroscedastic":
        return f"{name}, heteroscedastic"
    is_heavy = tails is not None and version.likelihood["type"] == "student_t"
    return f"{name} with {number(tails)} degrees of freedom" if is_heavy else name


def _sd(sd: float | None, version: SupervisedVersion) -> str | None:
    """Return a standard deviation, and its quantity where that is not the target."""
    if sd is None:
        return None
    match version.likelihood["type"]:
        case "log_gaussian":
            return f"{number(sd)} (of log {version.target})"
        case "logit_gaussian":
            return f"{number(sd)} (of the logit of {version.target})"
        case _ if not version.classes and version.hyperparameters.noise_sd is None:  # counts
            return f"{number(sd)} (of the log rate)"
        case _:
            return number(sd)


def _noise_sd(version: SupervisedVersion) -> str | None:
    """Return the noise sd of all rows, or the column of the noise sd of each."""
    given, column = _sd(version.hyperparameters.noise_sd, version), version.noise_column
    if version.likelihood.get("noise_sd") == "heteroscedastic":
        return f"a function of the inputs; root mean square {given}"
    return given if column is None else f"by row, in {column}; root mean square {given}"


def _outliers(outliers: Sequence[Outlier]) -> str:
    """Return the numbers of the least typical rows, from 1, and how many others there are."""
    shown = ", ".join(str(outlier.row + 1) for outlier in outliers[:MAX_OUTLIERS_SHOWN])
    more = len(outliers) - MAX_OUTLIERS_SHOWN
    rows = "row" if len(outliers) == 1 else "rows"
    return f"{rows} {shown}{f' and {more} more' if more > 0 else ''}" if outliers else ""


def seen_widths(version: SupervisedVersion) -> str:
    """Return the widths by input; inputs without effect on the kernels are listed apart."""
    return widths_text(
        version.hyperparameters.widths, standardised=version.standardised, linear=has_linear_columns(version)
    )


def widths_text(widths: Sequence[InputWidth], *, standardised: bool, linear: bool = False) -> str:
    """Return the widths by input, and the inputs that have no effect on the kernels."""
    unseen = [width.input for width in widths if width.input and standardised and width.width > UNSEEN]
    seen = [_width(width) for width in widths if width.input not in unseen]
    units = "as standardised" if standardised else "in the user's units"
    without = "linear at most" if linear else "not used"
    parts = [f"{', '.join(seen)} ({units})" if seen else "", f"{without}: {', '.join(unseen)}" if unseen else ""]
    return "; ".join(part for part in parts if part)


def _width(width: InputWidth) -> str:
    return number(width.width) if width.input is None else f"{width.input} {number(width.width)}"


def _warps(warps: Sequence[InputWarp]) -> str:
    """Return the warps that differ visibly from a line."""
    return ", ".join(
        f"{warp.input} (skew {warp.skew:.2f}, tail {warp.tail:.2f})"
        for warp in warps
        if max(abs(warp.skew), abs(warp.tail)) >= MIN_BENT
    )


def _gains(found: Hyperparameters) -> str | None:
    gains = [
        f"{what} {gain:.1f} nats"
        for what, gain in (("last function", found.last_gain), ("next would bring", found.next_gain))
        if gain is not None
    ]
    return ", ".join(gains) or None


def counted(rows: int, *others: tuple[int, str]) -> str:
    """Return a number of rows, and those of `others` that are not 0."""
    return ", ".join([f"{rows:,}", *(f"{count:,} {what}" for count, what in others if count)])


def _measured(rows: str, scores: Mapping[str, float]) -> str:
    """Return figures; leave-one-out figures are marked as a diagnostic."""
    return f"{_scores(scores)} (a diagnostic)" if rows == "leave_one_out" else _scores(scores)


def _scores(scores: Mapping[str, float]) -> str:
    """Return figures with four significant digits; numbers of rows in full."""
    return ", ".join(
        f"{value:,.0f} rows" if name == "rows" else f"{name.replace('_', ' ')} {number(value)}"
        for name, value in scores.items()
    )


def show_version(version: VersionBase) -> None:
    """Print the verdict on a version, then its facts."""
    print_sentences(verdict(version))
    echo("")
    print_facts([*_annotations(version), *_facts(version)])


def _facts(version: VersionBase) -> Iterable[Fact]:
    match version:
        case SupervisedVersion():
            return supervised_facts(version)
        case ApproximationVersion():
            return _of_approximation(version)
        case ImageVersion():
            return _of_image(version)
        case ComponentsVersion():
            return _of_components(version)
        case _:
            raise TypeError(f"expected a version of a task that is known, got {type(version).__name__}")


def _annotations(version: VersionBase) -> list[Fact]:
    """Return description, tags, and the version that it was imported from."""
    match version:
        case SupervisedVersion() | ApproximationVersion() | ComponentsVersion():
            imported = imported_text(version.imported)
        case _:
            imported = None
    return [
        ("description", version.description),
        ("tags", tags_text(version.tags) or None),
        ("imported", imported),
    ]


def tags_text(tags: Mapping[str, str]) -> str:
    """Return tags in the syntax of --tag."""
    return ", ".join(f"{name}:{value}" for name, value in tags.items())


def measured_text(version: VersionBase) -> str:
    """Return the first figure of a supervised version, and the rows on which it was measured."""
    if not isinstance(version, SupervisedVersion) or not version.metrics:
        return ""
    rows, scores = next(iter(version.metrics.items()))
    name, score = next(iter(scores.items()))
    return f"{name} {number(score)} {MEASURED.get(rows, rows)}"


def _of_approximation(version: ApproximationVersion) -> list[Fact]:
    kept, all_terms = version.integral_kept, version.integral
    return [
        ("task", f"{version.task} of {version.coefficients or 'equal terms'}"),
        ("inputs", ", ".join(column.name for column in version.inputs)),
        ("ignored columns", "; ".join(f"{column.name}: {column.reason}" for column in version.ignored) or None),
        ("terms", f"{version.functions} stand for {version.rows:,}"),
        ("error", f"{version.error:.2%} of the function's norm"),
        ("constant", number(version.constant) if version.constant else None),
        ("integral", f"{number(kept)}, of all terms {number(all_terms)}"),
        (
            "below 0",
            f"{number(version.integral_negative)}{' before it was made a density' if version.density else ''}",
        ),
        ("time", f"{version.seconds:.1f} s"),
    ]


def _of_image(version: ImageVersion) -> list[Fact]:
    ratio = "" if version.psnr is None else f", {version.psnr:.1f} dB for a peak of {number(version.peak)}"
    return [
        ("task", f"{version.task} of {version.height} x {version.width} pixels"),
        ("functions", f"{version.functions:,} kept of {version.candidates:,} candidates"),
        ("error", f"{number(version.error)}{ratio}"),
        ("noise sd", number(version.noise_sd)),
        ("termination", version.termination.replace("_", " ")),
        ("time", f"{version.seconds:.1f} s"),
    ]


def _of_components(version: ComponentsVersion) -> list[Fact]:
    many = version.rows_drawn < version.rows
    return [
        ("task", f"{version.task} of rows, by a {str(version.kernel['type']).replace('_', ' ')} kernel"),
        ("inputs", ", ".join(column.name for column in version.inputs)),
        ("ignored columns", "; ".join(f"{column.name}: {column.reason}" for column in version.ignored) or None),
        (
            "rows",
            counted(version.rows, (version.rows_drawn if many else 0, "trained on"), (version.rows_dropped, "dropped")),
        ),
        ("kept", f"{version.functions} rows, which carry {len(version.variances)} components"),
        ("explained variance", f"{version.explained_variance:.1%} of the rows' images"),
        ("width", widths_text(version.widths, standardised=version.standardised)),
        ("log evidence", f"{version.log_marginal_likelihood:.2f} nats over noise alone"),
        ("time", f"{version.seconds:.1f} s"),
    ]


def imported_text(found: ImportedFrom | None) -> str | None:
    """Return the version from which another one was imported."""
    return None if found is None else f"version {found.version} of {found.model}, SHA-256 {found.digest[:12]}…"
