"""The options by which files are read, as parameters of commands."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Annotated, ParamSpec

import typer

from relevance_bayes.records.values import DecimalMark, TextEncoding, ThousandsMark

KindOf = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="NAME:KIND",
        show_default="inferred from 1,000 rows",
        help="The kind of a column: number, boolean, category or timestamp. May be repeated.",
    ),
]
Delimiter = Annotated[str | None, typer.Option(metavar="TEXT", show_default="detected", help="The delimiter of a CSV.")]
Decimal = Annotated[DecimalMark | None, typer.Option(show_default="detected", help="The decimal separator of a CSV.")]
Thousands = Annotated[
    ThousandsMark | None,
    typer.Option(show_default="a comma or point is detected", help="The thousands separator of a CSV."),
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        show_default="ISO 8601, 31.12.2025 and 12/31/2025 are detected",
        help="The format of the dates of a CSV, such as %d.%m.%y.",
    ),
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        "--missing-value",
        metavar="TEXT",
        show_default="NA, nan, null, ?, - and others, beside numbers, booleans and times",
        help="A text that means a missing value, in the place of the defaults. May be repeated.",
    ),
]
Encoding = Annotated[
    TextEncoding | None, typer.Option(show_default="UTF-8, or UTF-16 by its mark", help="The encoding of a CSV.")
]
SkipRows = Annotated[
    int | None,
    typer.Option(min=0, max=1000, metavar="N", show_default="0", help="The number of lines or rows above the table."),
]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", show_default="detected", help="A CSV begins with column names.")
]
Sheet = Annotated[
    str | None, typer.Option(metavar="NAME", show_default="the first visible", help="The sheet of a workbook.")
]

PARAMETERS: Mapping[str, object] = {
    "kind": KindOf,
    "delimiter": Delimiter,
    "decimal": Decimal,
    "thousands": Thousands,
    "date_format": DateFormat,
    "missing_values": MissingValues,
    "encoding": Encoding,
    "skip_rows": SkipRows,
    "header": Header,
    "sheet": Sheet,
}
"""The types of the parameters by their names, which are those of fields of the options, in the order of help pages."""

P = ParamSpec("P")


def reads_file(command: Callable[P, None]) -> Callable[P, None]:
    """Give a command a parameter for each field of its parameter `options`, which is made of them."""
    signature = inspect.signature(command, eval_str=True)
    make = signature.parameters["options"].annotation
    fields_of_options = {field.name for field in fields(make)}
    names = [name for name in PARAMETERS if name in fields_of_options]

    @wraps(command)
    def run(*args: P.args, **given: P.kwargs) -> None:
        given["options"] = make(**{name: given.pop(name) for name in names})
        command(*args, **given)

    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name == "options":
            parameters += [_parameter(name) for name in names]
        else:
            parameters.append(parameter)
    vars(run)["__signature__"] = signature.replace(parameters=parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(name: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=PARAMETERS[name])
