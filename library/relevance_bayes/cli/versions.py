"""A version as text: the verdict, then its facts."""

from collections.abc import Iterable, Mapping

from relevance_bayes.cli.console import echo
from relevance_bayes.cli.rendering import Fact, number, print_facts, print_sentences
from relevance_bayes.cli.supervised_facts import MEASURED, counted, supervised_facts, widths_text
from relevance_bayes.cli.verdict import verdict
from relevance_bayes.client.responses import (
    ApproximationVersion,
    ComponentsVersion,
    ImageVersion,
    SupervisedVersion,
    VersionBase,
)
from relevance_bayes.records.lineage import ImportedFrom


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
