"""`relevance compare`: two versions on the rows of a file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import refuse
from relevance_bayes.cli.options import HERE, AsJson, Url, file_argument, row_reader, with_options
from relevance_bayes.cli.predictions import BATCH, forms_of, kinds_of, table_of
from relevance_bayes.cli.readings import read_batches
from relevance_bayes.cli.remedies import in_options
from relevance_bayes.cli.rendering import number, print_facts, print_json
from relevance_bayes.cli.rows import RowOptions
from relevance_bayes.client.responses import Largest, Summary, VersionBase
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.jobs import VersionName


@dataclass(frozen=True)
class ComparedVersions:
    """Two versions on all rows of a file."""

    first: VersionName
    second: VersionName
    summary: Summary


@with_options
def compare(
    context: typer.Context,
    first: Annotated[
        str, typer.Argument(metavar="FIRST", help="A version: MODEL@ALIAS or MODEL@3; MODEL is the newest.")
    ],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Another version, of the same inputs and target.")],
    file: Annotated[Path, file_argument("Rows that both versions predict for.")],
    *,
    options: RowOptions,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Compare the predictions of two versions for FILE.

    Differences are those of SECOND minus those of FIRST.
    """
    with service(url) as client:
        # An alias may move while a long file is read: both are requested by their numbers.
        one, other = client.version(first, of=VersionBase), client.version(second, of=VersionBase)
        kinds, second = {**kinds_of(one), **kinds_of(other)}, f"{other.model}@{other.version}"
        options = replace(options, forms={**forms_of(one), **forms_of(other)})
        summaries: list[Summary] = []
        try:
            reader = row_reader(context)
            for rows in read_batches(reader, file, kinds, size=BATCH, options=options, prompts=not as_json):
                table = table_of(rows, kinds)
                summaries.append(client.registry.compare(one.model, second, table, version=one.version).summary)
        except RelevanceError as unreadable:
            refuse(f"{file}: {in_options(unreadable.detail)}")
        if not summaries:
            refuse(f"{file}: there are no rows.")
        compared = ComparedVersions(
            VersionName(one.model, one.version), VersionName(other.model, other.version), joined(summaries)
        )
        print_json(compared) if as_json else _show(compared)


def joined(summaries: Sequence[Summary]) -> Summary:
    """Return the summary of one table from the summaries of its parts, which are in order."""
    first, largest = 0, [(Largest(-1), -1.0)]
    for one in summaries:
        if one.largest is not None:
            largest.append((replace(one.largest, row=one.largest.row + first), _size(one.largest)))
        first += one.rows
    largest_row, _ = max(largest, key=lambda pair: pair[1])
    return Summary(
        rows=first,
        largest=None if largest_row.row < 0 else largest_row,
        mean_difference=_mean([(one.rows, one.mean_difference) for one in summaries]),
        mean_absolute_difference=_mean([(one.rows, one.mean_absolute_difference) for one in summaries]),
        labels_differ=None if summaries[0].labels_differ is None else sum(one.labels_differ or 0 for one in summaries),
        mean_total_variation=_mean([(one.rows, one.mean_total_variation) for one in summaries]),
    )


def _mean(means: Sequence[tuple[int, float | None]]) -> float | None:
    """Return the mean over all rows from pairs of a number of rows and the mean over them."""
    reported = [(rows, mean) for rows, mean in means if mean is not None]
    return sum(rows * mean for rows, mean in reported) / sum(rows for rows, _ in reported) if reported else None


def _size(largest: Largest) -> float:
    return abs(largest.difference or largest.total_variation or 0.0)


def _show(compared: ComparedVersions) -> None:
    summary, largest = compared.summary, compared.summary.largest
    differ = (
        None
        if summary.labels_differ is None
        else f"{summary.labels_differ:,} ({summary.labels_differ / summary.rows:.1%})"
    )
    print_facts(
        [
            ("first", f"{compared.first.model}, version {compared.first.version}"),
            ("second", f"{compared.second.model}, version {compared.second.version}"),
            ("rows", f"{summary.rows:,}"),
            ("labels differ", differ),
            ("difference", number(summary.mean_difference) or None),
            ("absolute difference", number(summary.mean_absolute_difference) or None),
            ("total variation", number(summary.mean_total_variation) or None),
            (
                "largest",
                None
                if largest is None
                else f"{number(largest.difference or largest.total_variation or 0.0)} "
                f"at row {largest.row + 1:,} of the data",
            ),
        ]
    )
