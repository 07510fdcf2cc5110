"""`relevance predict` and `compare`: predictions for the rows of a file, and those of two versions."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import STREAM, echo_written, refuse, refuse_binary, warn, write_result
from relevance_bayes.cli.options import (
    HERE,
    AsJson,
    ModelOrAlias,
    Url,
    Version,
    file_argument,
    row_reader,
    with_options,
    writable_format,
)
from relevance_bayes.cli.prediction_output import (
    PredictCommandOptions,
    columns_of,
    opened,
    show_predictions,
    write_predictions,
)
from relevance_bayes.cli.readings import read_batches, read_with_texts, with_readings
from relevance_bayes.cli.remedies import in_options
from relevance_bayes.cli.rendering import number, print_facts, print_json, write_json
from relevance_bayes.cli.rows import Row, RowOptions, RowReader
from relevance_bayes.client import Client, ClientError, Problem
from relevance_bayes.client.responses import (
    Json,
    Largest,
    Prediction,
    Predictions,
    Summary,
    SupervisedVersion,
    VersionBase,
)
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.formats import CSV, by_name, by_suffix
from relevance_bayes.records.jobs import VersionName
from relevance_bayes.records.predictions import MissingValue, UnknownCategory
from relevance_bayes.records.values import ColumnKind, NumberForm

BATCH = 10_000
"""The number of rows in one request."""

VALUES_NAMED = 5
"""The unknown categories that a note names."""


BatchReader: TypeAlias = Callable[[Mapping[str, ColumnKind]], Iterator[tuple[Sequence[Row], Sequence[Row]]]]
"""A reader of a file, by the kinds of its columns: batches of its rows, and the same rows as the file has them."""


@with_options
def predict(
    context: typer.Context,
    model: ModelOrAlias,
    file: Annotated[Path, file_argument("The rows to predict for; the suffix gives the format, else CSV.")],
    *,
    version: Version = None,
    required: PredictCommandOptions,
    coded: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            parser=writable_format,
            help="Write predictions alone, in this format (as csv); FILE is sent to the service as it is.",
        ),
    ] = None,
    options: RowOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write: .csv, or .json; - is standard output, in CSV."
        ),
    ] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Predict for the rows of FILE.

    An npy file holds numbers in the order of the model's inputs. The output is a table on a terminal, CSV elsewhere.
    `support` is near 1 where training rows are near, and near 0 far from all of them. With one of --class-priors,
    --costs and --reject-cost, each row has a decision.
    """
    with service(url) as client:
        if coded is not None:
            _predict_file(
                client,
                model,
                file,
                coded,
                version=version,
                required=required,
                options=options,
                output=output,
                prompts=not as_json,
            )
            return
        _predict(
            client,
            model,
            file,
            version=version,
            required=required,
            reader=row_reader(context),
            options=options,
            output=output,
            as_json=as_json,
        )


def _predict(
    client: Client,
    model: str,
    file: Path,
    *,
    version: str | None,
    required: PredictCommandOptions,
    reader: RowReader,
    options: RowOptions,
    output: Path | None,
    as_json: bool,
) -> None:
    """Predict for every row of `file`; raises typer.Exit(1) where it, or an option, can't be read."""
    learned = client.version(model, version, of=VersionBase)
    options = replace(options, forms=_forms_of(learned))
    read = partial(read_with_texts, reader, file, size=BATCH, options=options, prompts=not as_json)
    answered = _predicted_rows(client, learned, read, required)
    try:
        if as_json or (output is not None and output.suffix.lower() == ".json"):
            document = Predictions(learned.model, learned.version, tuple(response for _, response in answered))
            print_json(document) if output in {None, STREAM} else write_json(output, document)
        elif output is not None or not sys.stdout.isatty():
            with opened(output) as stream:
                write_predictions(stream, learned, answered, required)
        else:
            show_predictions(learned, answered, required)
    except RelevanceError as unreadable:
        faults = "".join(f"\n  {fault.detail}" for fault in unreadable.faults[1:])
        refuse(f"{file}: {in_options(unreadable.detail)}{in_options(faults)}")
    if output is not None:
        echo_written(output, f"Written to {output}, by {learned.model}, version {learned.version}.")


def _predict_file(
    client: Client,
    model: str,
    file: Path,
    response: str,
    *,
    version: str | None,
    required: PredictCommandOptions,
    options: RowOptions,
    output: Path | None,
    prompts: bool,
) -> None:
    """Send `file` as it is, and write the response as it is; raises typer.Exit(1) where a terminal can't show it."""
    written, form = output or STREAM, by_name(response)
    if written == STREAM:
        refuse_binary(response, is_text=form.is_text)
    if (by_suffix(file) or CSV).is_document:
        refuse("A JSON file contains options of its own: write its rows as .ndjson, or leave out --format.")
    learned = client.version(model, version, of=VersionBase)
    shared = required.of_client(columns_of(learned, required))
    content = with_readings(
        options,
        lambda options: client.files.predict(
            learned.model,
            file,
            response,
            version=learned.version,
            explain=required.explain,
            row_ids=required.row_ids,
            csv_escape_formulas=required.csv_escape_formulas,
            **shared,
            **options.of_client,
        ),
        prompts=prompts,
    )
    write_result(written, content, form=response, is_text=form.is_text)
    echo_written(written, f"Written to {written}, by {learned.model}, version {learned.version}.")


def _predicted_rows(
    client: Client, version: VersionBase, read_rows: BatchReader, required: PredictCommandOptions
) -> Iterator[tuple[Row, Prediction]]:
    shared, kinds = required.of_client(columns_of(version, required)), kinds_of(version)
    first, unknown, nulls = 0, list[UnknownCategory](), list[MissingValue]()
    for rows, written in read_rows(kinds):
        try:
            response = client.predict(
                version.model,
                table_of(rows, kinds),
                version=version.version,
                explain=required.explain,
                row_ids=None if required.row_ids is None else _row_ids(rows, required.row_ids),
                **shared,
            )
        except ClientError as refused:
            raise _from_row(first, refused.problem) from refused
        yield from zip(written, response.predictions, strict=True)
        unknown += response.unknown_categories or ()
        nulls += response.nulls or ()
        first += len(rows)
    if unknown:
        warn(_note(unknown))
    if nulls:
        warn(_note_of_nulls(nulls))


def _note(cells: Sequence[UnknownCategory]) -> str:
    """Return a sentence about cells with unknown categories."""
    values = list(dict.fromkeys(f"{cell.column} {cell.value!r}" for cell in cells))
    more = f" and {len(values) - VALUES_NAMED:,} more" if len(values) > VALUES_NAMED else ""
    return (
        f"No training row had {', '.join(values[:VALUES_NAMED])}{more}: rows with such a value are predicted as "
        "averages over the known ones; --unknown-categories error refuses them."
    )


def _note_of_nulls(cells: Sequence[MissingValue]) -> str:
    """Return a sentence about missing values."""
    names = list(dict.fromkeys(cell.column for cell in cells))
    more = f" and {len(names) - VALUES_NAMED:,} more" if len(names) > VALUES_NAMED else ""
    return (
        f"Values are missing in {', '.join(names[:VALUES_NAMED])}{more}: rows without one are predicted as averages "
        "over the values of training rows, with wider intervals; --nulls error refuses them."
    )


def _row_ids(rows: Sequence[Row], column: str) -> list[str]:
    """Return the ids of rows; raises typer.Exit(1) where one has none."""
    ids = [row.get(column) for row in rows]
    if None in ids:
        refuse(f"--row-ids: a row has no value in the column {column!r}.")
    return list(map(str, ids))


def kinds_of(version: VersionBase) -> dict[str, ColumnKind]:
    """Return the columns that a version reads, including the column of the noise sd if it has one."""
    kinds = {column.name: column.kind for column in version.inputs}
    if isinstance(version, SupervisedVersion) and version.noise_column is not None:
        kinds[version.noise_column] = "number"
    return kinds


def _forms_of(version: VersionBase) -> dict[str, NumberForm]:
    """Return the forms of the numbers by which a version was trained, by column."""
    return {column.name: column.form for column in version.inputs if column.form is not None}


def table_of(rows: Sequence[Row], kinds: Mapping[str, ColumnKind]) -> Mapping[str, Json]:
    """Return rows in the API's form; the service reports columns of `kinds` that are missing."""
    names: list[Json] = [name for name in kinds if name in rows[0]]
    cells: list[Json] = [[row[name] for name in kinds if name in row] for row in rows]
    return {"names": names, "rows": cells}


def _from_row(first: int, problem: Problem) -> ClientError:
    """Return the error with a note of the first row of its batch, from which its rows are counted."""
    note = f" (rows are counted from row {first + 1:,} of the data in the file)" if first else ""
    return ClientError(replace(problem, detail=problem.detail + note))


@dataclass(frozen=True)
class _ComparedVersions:
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
        options = replace(options, forms={**_forms_of(one), **_forms_of(other)})
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
        compared = _ComparedVersions(
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


def _show(compared: _ComparedVersions) -> None:
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
