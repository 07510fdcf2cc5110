"""The text in which the command line shows a version."""

from collections.abc import Mapping, Sequence

from relevance_bayes.cli.rendering import cell_text, number, print_facts
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
from relevance_bayes.client.responses.values import Choice
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.reports import (
    Evidence,
    Hyperparameters,
    InputWarp,
    InputWidth,
    LocalReport,
    Outlier,
    Score,
)

MAX_OUTLIERS_SHOWN = 8

MEASURED = {"holdout": "on the holdout", "validation": "on folds", "leave_one_out": "leave-one-out"}
"""The rows of metrics, by the API's names."""

UNSEEN = 100.0
"""An input whose width is more than so many of its standard deviations has no effect on the kernels."""

MIN_BENT = 0.005
"""Warps below this are as good as none."""


def show_version(version: VersionBase) -> None:
    """Print the result of a training."""
    match version:
        case SupervisedVersion():
            _show_supervised(version)
        case ApproximationVersion():
            _show_approximation(version)
        case ImageVersion():
            _show_image(version)
        case ComponentsVersion():
            _show_components(version)
        case _:
            raise TypeError(f"expected a version of a task that is known, got {type(version).__name__}")


def _named(version: VersionBase) -> list[tuple[str, str | None]]:
    """Which version, and what its owner says of it."""
    return [
        ("model", f"{version.model}, version {version.version}"),
        ("description", version.description),
        ("tags", tags_text(version.tags) or None),
    ]


def tags_text(tags: Mapping[str, str]) -> str:
    """Tags as they are asked for."""
    return ", ".join(f"{name}:{value}" for name, value in tags.items())


def measured_text(version: VersionBase) -> str:
    """The first figure of a version that predicts, and on which rows it was measured."""
    if not isinstance(version, SupervisedVersion) or not version.metrics:
        return ""
    rows, scores = next(iter(version.metrics.items()))
    name, score = next(iter(scores.items()))
    return f"{name} {number(score)} {MEASURED.get(rows, rows)}"


def _show_approximation(version: ApproximationVersion) -> None:
    kept, all_terms = version.integral_kept, version.integral
    print_facts(
        [
            *_named(version),
            ("imported", imported_text(version.imported)),
            ("task", f"{version.task} of {_terms_of(version)}"),
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
    )


def _show_image(version: ImageVersion) -> None:
    ratio = "" if version.psnr is None else f", {version.psnr:.1f} dB for a peak of {number(version.peak)}"
    print_facts(
        [
            *_named(version),
            ("task", f"{version.task} of {version.height} x {version.width} pixels"),
            ("functions", f"{version.functions:,} kept of {version.candidates:,} candidates"),
            ("error", f"{number(version.error)}{ratio}"),
            ("noise sd", number(version.noise_sd)),
            ("termination", version.termination.replace("_", " ")),
            ("time", f"{version.seconds:.1f} s"),
        ]
    )


def _show_components(version: ComponentsVersion) -> None:
    many = version.rows_drawn < version.rows
    print_facts(
        [
            *_named(version),
            ("imported", imported_text(version.imported)),
            ("task", f"{version.task} of rows, by a {str(version.kernel['type']).replace('_', ' ')} kernel"),
            ("inputs", ", ".join(column.name for column in version.inputs)),
            ("ignored columns", "; ".join(f"{column.name}: {column.reason}" for column in version.ignored) or None),
            (
                "rows",
                _counted(
                    version.rows, (version.rows_drawn if many else 0, "learned from"), (version.rows_dropped, "dropped")
                ),
            ),
            ("kept", f"{version.functions} rows, which carry {len(version.variances)} components"),
            ("explained variance", f"{version.explained_variance:.1%} of the rows' images"),
            ("width", _widths(version.widths, standardised=version.standardised)),
            ("log evidence", f"{version.log_marginal_likelihood:.2f} nats over noise alone"),
            ("time", f"{version.seconds:.1f} s"),
        ]
    )


def _terms_of(version: ApproximationVersion) -> str:
    return "equal terms" if version.coefficients is None else version.coefficients


def _show_supervised(version: SupervisedVersion) -> None:
    found = version.hyperparameters
    several = version.members if len(version.members) > 1 else ()
    print_facts(
        [
            *_named(version),
            ("imported", imported_text(version.imported)),
            ("task", f"{version.task} of {version.target}"),
            ("classes", _classes(version) or None),
            ("inputs", ", ".join(column.name for column in version.inputs)),
            ("ignored columns", "; ".join(f"{column.name}: {column.reason}" for column in version.ignored) or None),
            ("rows", _rows(version)),
            ("functions", functions_text(version)),
            ("width", seen_widths(version) or None),
            ("warped inputs", _warps(found.warps) or None),
            ("additive terms", ", ".join(f"{term.input} ({term.share:.0%})" for term in found.terms) or None),
            ("prior", str(version.prior["type"]).replace("_", " ")),
            ("likelihood", _likelihood(version)),
            ("noise sd", _noise_sd(version)),
            ("signal sd", _sd(found.signal_sd, version)),
            ("temperature", number(found.temperature) if found.temperature not in {None, 1.0} else None),
            ("log evidence", _evidence(version.evidence)),
            *((f"member {place}", member_text(one, version)) for place, one in enumerate(several, 1)),
            ("score", None if version.score is None else _score(version.score)),
            ("score loss", _score_loss(version)),
            ("nearest rows", None if version.local is None else _nearest_rows(version.local)),
            ("gains", _gains(found)),
            ("compared models", _compared(version) or None),
            *((MEASURED.get(rows, rows), _measured(rows, scores)) for rows, scores in version.metrics.items()),
            ("outliers", _outliers(version.outliers) or None),
            *(("warning", warning.detail) for warning in version.warnings),
            ("termination", version.termination.replace("_", " ")),
            ("time", f"{version.seconds:.1f} s"),
        ]
    )


EVIDENCE = {"exact": "", "laplace": " (Laplace's approximation)", "lower_bound": " or more (a lower bound)"}
"""The terms beside the value of each kind of evidence."""


def _evidence(found: Evidence | None) -> str | None:
    if found is None:
        return None
    beside = [
        f", log hyperprior {found.log_hyperprior:.2f}" if found.log_hyperprior else "",
        f", price {found.price:.2f}" if found.price else "",
    ]
    return f"{found.value:.2f} nats{EVIDENCE.get(found.kind, '')}{''.join(beside)}"


def functions_text(version: SupervisedVersion) -> str:
    """Return how many functions were kept, and of how many candidates: those of each model where there are several."""
    if len(version.members) > 1:
        return f"{version.functions} in {len(version.members)} models, of {version.candidates:,} candidates each"
    return f"{version.functions} kept of {version.candidates:,} candidates"


def member_text(member: Member, version: SupervisedVersion) -> str:
    """Return what one of several models is, beginning with its class or its weight."""
    found = member.hyperparameters
    widths = _widths(found.widths, standardised=version.standardised, linear=_has_linear_columns(version))
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
    """Return how rows are predicted that were not learned from."""
    if found.value is None:
        return f"none: {found.reason}"
    error = "" if found.standard_error is None else f" +- {number(found.standard_error)}"
    rows = f"{found.rows:,} rows left out, in {found.folds} {'fold' if found.folds == 1 else 'folds'}"
    text = f"{number(found.value)}{error} nats a row, on {rows}"
    return text if found.reason is None else f"{text}; {found.reason}"


def _nearest_rows(found: LocalReport) -> str:
    """Return what predictions from the rows nearest to each were compared with, and whether they were taken."""
    scores = [f"{one.on} {number(one.score)}" for one in found.candidates if one.score is not None]
    if found.sparse_score is not None:
        scores.append(f"the sparse model {number(found.sparse_score)}")
    compared = f"nats a row, on {found.rows_apart:,} rows left out: {', '.join(scores) or 'none'}"
    if found.on is None:
        return f"not taken; {compared}"
    kept = f"{found.neighbours} of {found.rows:,}, which are kept ({found.bytes / 2**20:.1f} MiB)"
    return f"{kept}; of the {found.on}; {compared}"


def _score_loss(version: SupervisedVersion) -> str | None:
    """Return what the reduction to few functions costs, and what it saves."""
    if version.score_loss is None:
        return None
    text = f"{version.score_loss:.3f} nats a row, by few functions"
    every = version.unreduced_functions
    return text if every is None else f"{text}: {version.functions} of {every:,}"


def imported_text(found: ImportedFrom | None) -> str | None:
    """Where a version was before it came here."""
    return None if found is None else f"version {found.version} of {found.model}, SHA-256 {found.digest[:12]}…"


def _classes(version: SupervisedVersion) -> str:
    """Each, and how many rows learned from are of it where that is known."""
    if not version.class_rows:
        return ", ".join(map(cell_text, version.classes))
    return ", ".join(f"{cell_text(one.label)} ({one.rows:,} rows)" for one in version.class_rows)


def fit_name(fit: Alternative | ComparedModel) -> str:
    """A fit by what may differ between those that are compared."""
    noise = "heteroscedastic" if fit.likelihood.get("noise_sd") == "heteroscedastic" else fit.likelihood["type"]
    return f"{fit.prior['type']} with {noise} noise".replace("_", " ")


def _compared(version: SupervisedVersion) -> str:
    """By how many nats of the score each alternative is behind, or before."""
    return "; ".join(_distance(other, version) for other in version.alternatives)


def _distance(other: Alternative, version: SupervisedVersion) -> str:
    name = fit_name(other) if other.basis is None else f"{fit_name(other)}, {basis_name(other.basis)}"
    by_folds = other.kind == "fold_log_density"
    taken = version.integrated_evidence if not by_folds else None if version.score is None else version.score.value
    if other.score is None or taken is None:
        return f"{name} {other.reason or 'not measured'}"
    nats = taken - other.score
    behind = f"{name} {abs(nats):.3g} nats{' a row' if by_folds else ''} {'less' if nats >= 0 else 'more'}"
    given_up = other.functions is None and not by_folds
    return f"{behind}, given up on the way" if given_up else behind


def basis_name(basis: Choice) -> str:
    """A dictionary by what tells it apart from others that were compared."""
    kernel, width = basis.get("kernel"), basis.get("width")
    name = str(kernel["type"] if isinstance(kernel, dict) else basis["type"])
    shared = isinstance(width, dict) and width.get("type") == "evidence"
    bent = basis.get("warp") == "evidence"
    return f"{name}{' of one width' if shared else ''}{' of warped inputs' if bent else ''}".replace("_", " ")


def _likelihood(version: SupervisedVersion) -> str:
    """The likelihood, and how heavy its tails are."""
    tails = version.hyperparameters.degrees_of_freedom
    name = str(version.likelihood["type"]).replace("_", " ")
    if version.likelihood.get("noise_sd") == "heteroscedastic":
        return f"{name}, heteroscedastic"
    return name if tails is None else f"{name} with {number(tails)} degrees of freedom"


def _sd(sd: float | None, version: SupervisedVersion) -> str | None:
    """A standard deviation, and what it is of."""
    if sd is None:
        return None
    match version.likelihood["type"]:
        case "log_gaussian":
            return f"{number(sd)} (of log {version.target})"
        case _ if version.task == "regression" and version.hyperparameters.noise_sd is None:  # counts
            return f"{number(sd)} (of the log rate)"
        case _:
            return number(sd)


def _noise_sd(version: SupervisedVersion) -> str | None:
    """That of all rows, or where each one's stands."""
    given, column = _sd(version.hyperparameters.noise_sd, version), version.noise_column
    if version.likelihood.get("noise_sd") == "heteroscedastic":
        return f"a function of the inputs; root mean square {given}"
    return given if column is None else f"by row, in {column}; root mean square {given}"


def _outliers(outliers: Sequence[Outlier]) -> str:
    """The least typical rows, and how many more there are."""
    shown = ", ".join(str(outlier.row) for outlier in outliers[:MAX_OUTLIERS_SHOWN])
    more = len(outliers) - MAX_OUTLIERS_SHOWN
    rows = "row" if len(outliers) == 1 else "rows"
    return f"{rows} {shown}{f' and {more} more' if more > 0 else ''}" if outliers else ""


def seen_widths(version: SupervisedVersion) -> str:
    """Return the widths by input; inputs without effect on the kernels are named, with the effect that is left."""
    return _widths(
        version.hyperparameters.widths, standardised=version.standardised, linear=_has_linear_columns(version)
    )


def _has_linear_columns(version: SupervisedVersion) -> bool:
    return any(one["type"] == "inputs" for one in version.basis)


def _widths(widths: Sequence[InputWidth], *, standardised: bool, linear: bool = False) -> str:
    unseen = [width.input for width in widths if width.input and standardised and width.width > UNSEEN]
    seen = [_width(width) for width in widths if width.input not in unseen]
    units = "as standardised" if standardised else "in the user's units"
    without = "linear at most" if linear else "not used"
    parts = [f"{', '.join(seen)} ({units})" if seen else "", f"{without}: {', '.join(unseen)}" if unseen else ""]
    return "; ".join(part for part in parts if part)


def _width(width: InputWidth) -> str:
    return number(width.width) if width.input is None else f"{width.input} {number(width.width)}"


def _warps(warps: Sequence[InputWarp]) -> str:
    """Those that bend enough to be seen."""
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


def _rows(version: SupervisedVersion) -> str:
    return _counted(version.rows, (version.rows_held_out, "held out"), (version.rows_dropped, "dropped"))


def _counted(rows: int, *others: tuple[int, str]) -> str:
    return ", ".join([f"{rows:,}", *(f"{count:,} {what}" for count, what in others if count)])


def _measured(rows: str, scores: Mapping[str, float]) -> str:
    """Figures; those of rows that were learned from with the word that they are no score."""
    return f"{_scores(scores)} (a diagnostic)" if rows == "leave_one_out" else _scores(scores)


def _scores(scores: Mapping[str, float]) -> str:
    """Figures with four digits that count; of rows, all of them."""
    return ", ".join(
        f"{value:,.0f} rows" if name == "rows" else f"{name.replace('_', ' ')} {number(value)}"
        for name, value in scores.items()
    )
