"""Options and arguments that several commands share, and options that are the fields of a dataclass."""

import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, ParamSpec, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import typer

from relevance_bayes.cli.connection import PROJECT
from relevance_bayes.cli.console import readable, refuse
from relevance_bayes.cli.rows import CommandContext, RowReader, text_rows
from relevance_bayes.client.responses import Json
from relevance_bayes.records.formats import FILE_FORMATS
from relevance_bayes.records.json import ResponseForm
from relevance_bayes.records.predictions import Nulls, UnknownCategories
from relevance_bayes.records.values import Label, Missing

Url = Annotated[str, typer.Option("--url", envvar="RELEVANCE_URL", metavar="URL", help="The address of the service.")]
Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        envvar="RELEVANCE_PROJECT",
        metavar="NAME",
        show_default="that of the API key",
        help="The project in which the command acts.",
        expose_value=False,
        callback=lambda project: PROJECT.set(project or None),
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the JSON of the API.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end of the job.")]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", show_default="the file's name", help="The name of the model."),
]
Tag = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME:VALUE", help="List only what has this tag. May be repeated."),
]
Priority = Annotated[int, typer.Option(min=-100, max=100, help="The priority of the job: higher ones start first.")]
CsvEscapeFormulas = Annotated[
    bool,
    typer.Option("--csv-escape-formulas", help="Write an apostrophe before texts that a spreadsheet would compute."),
]
UnknownCategoriesOption = Annotated[
    UnknownCategories | None,
    typer.Option(
        show_default="average",
        help="Rows with a category that no training row had: predicted as averages over the known ones, or refused.",
    ),
]

NullsOption = Annotated[
    Nulls | None,
    typer.Option(
        show_default="average",
        help="Rows with missing values: predicted as averages over the values of training rows, or refused.",
    ),
]


ModelOrAlias = Annotated[str, typer.Argument(metavar="MODEL", help="The name of a model, or MODEL@ALIAS.")]
Version = Annotated[
    str | None,
    typer.Option(metavar="VERSION", show_default="the newest", help="The number of a version, or an alias of it."),
]
VersionOfModel = Annotated[
    str, typer.Argument(metavar="MODEL", help="A version: MODEL@ALIAS or MODEL@3; MODEL is the newest.")
]


def file_argument(help: str) -> object:  # noqa: A002 - as typer calls it
    """The argument FILE, a readable file, or `-`."""
    return typer.Argument(
        metavar="FILE", dir_okay=False, readable=True, callback=readable, help=f"{help} - is standard input."
    )


LabelledFile = Annotated[Path | None, file_argument("Rows with their targets, which are uploaded as a dataset.")]
Dataset = Annotated[str | None, typer.Option(metavar="ID", help="The id of an uploaded dataset, instead of FILE.")]


def in_project(*, project: Project = None) -> None:
    """The option of all client commands: it reaches their connection, and not their functions."""


HERE = "http://127.0.0.1:8000"


MissingValues = Annotated[
    Missing | None,
    typer.Option(
        show_default="indicator where there are some",
        help="error refuses missing values; drop_rows leaves out their rows; indicator fills them with the mean and "
        "adds a 0/1 column.",
    ),
]


def writable_format(name: str) -> str:
    """The name of a format in which predictions are written; raises typer.BadParameter."""
    names = [one.name for one in FILE_FORMATS if one.is_written]
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
    return name


def row_reader(context: typer.Context) -> RowReader:
    """The reader of rows to predict for that the program of a command has, else `text_rows`."""
    given = context.find_object(CommandContext)
    return text_rows if given is None else given.read_rows


P = ParamSpec("P")


def with_options(command: Callable[P, None]) -> Callable[P, None]:
    """Give a command, in the place of each parameter that is a dataclass, a parameter for each of its options."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    options: dict[str, tuple[type, list[str]]] = {}
    for name, parameter in signature.parameters.items():
        kind = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            declared = list(declared_options(kind))
            options[name] = kind, [one.name for one in declared]
            parameters += declared
        else:
            parameters.append(parameter)

    @wraps(command)
    def run(*args: P.args, **given: P.kwargs) -> None:
        for name, (make, names) in options.items():
            given[name] = make(**{one: given.pop(one) for one in names})
        command(*args, **given)

    vars(run)["__signature__"] = signature.replace(parameters=parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def declared_options(kind: type) -> Iterator[inspect.Parameter]:
    """Yield a parameter for each field of a dataclass that is annotated as an option."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind) if is_dataclass(kind) else ():
        if get_origin(hint := hints[field.name]) is Annotated:
            yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hint)


T = TypeVar("T")

ClassPriors = Annotated[
    str | None,
    typer.Option(metavar="JSON|FILE", help='The prior probability of each class, as {"no": 0.98, "yes": 0.02}.'),
]

Costs = Annotated[
    str | None,
    typer.Option(
        metavar="JSON|FILE",
        help="The costs of decisions, as [[0, 1], [20, 0]]: a row for each true class, with a cost a decision.",
    ),
]

RejectCost = Annotated[float | None, typer.Option(min=0, help="The expected cost above which a row is left undecided.")]

Components = Annotated[
    int | None,
    typer.Option(min=1, show_default="10", help="The number of components to write, of a model of components."),
]

_PRIORS: ResponseForm[dict[str, float]] = ResponseForm(dict[str, float])
_COSTS: ResponseForm[list[list[float]]] = ResponseForm(list[list[float]])


def read_priors(given: str | None, classes: Sequence[Label]) -> dict[Label, float] | None:
    """Return the prior of each class; raises typer.Exit(1) where a key is not in `classes`."""
    if given is None:
        return None
    read = _read("--class-priors", given, _PRIORS)
    return {_label(text, classes): prior for text, prior in read.items()}


def read_costs(given: str | None) -> list[list[float]] | None:
    """Return the rows of costs; raises typer.Exit(1) where they are not rows of numbers."""
    return None if given is None else _read("--costs", given, _COSTS)


def _read(option: str, given: str, adapter: ResponseForm[T]) -> T:
    try:
        text = given if given.lstrip()[:1] in ("[", "{") else Path(given).read_text()
        return adapter.read(text)
    except ValueError as wrong:
        refuse(f"{option}: {wrong}")
    except OSError as absent:
        refuse(f"{option}: neither JSON nor a file: {absent.strerror}: {given}")


def _label(text: str, classes: Sequence[Label]) -> Label:
    if not classes:
        return text  # the version predicts a number: the service rejects the option
    for label in classes:
        if text == label or (not isinstance(label, str) and text == json.dumps(label)):
            return label
    known = ", ".join(label if isinstance(label, str) else json.dumps(label) for label in classes)
    refuse(f"--class-priors: there is no class {text}; the classes are {known}.")


Document: TypeAlias = dict[str, Json]

WIDTH_SEARCHES = ("cross_validation", "evidence", "evidence_per_input")
"""The ways to find a width, by the API's names."""


def kernel_name(name: str) -> str:
    """The name of a kernel; raises typer.BadParameter."""
    return _one_of(name, kernels())


def covariance_name(name: str) -> str:
    """The name of a kernel that is a covariance; raises typer.BadParameter."""
    return _one_of(name, covariances())


def likelihood_name(name: str) -> str:
    """The name of a target's likelihood; raises typer.BadParameter."""
    return _one_of(name, likelihoods())


def kernels() -> list[str]:
    """The names of kernels."""
    from relevance_bayes.core.kernels import Kernel

    return [member().type for member in get_args(Kernel)]


def covariances() -> list[str]:
    """The names of kernels that are covariances."""
    from relevance_bayes.core.kernels import Covariance

    return [member().type for member in get_args(Covariance)]


def likelihoods() -> list[str]:
    """The names of the likelihoods of targets."""
    from relevance_bayes.tasks.supervised.target import LIKELIHOODS

    return [member().type for members in LIKELIHOODS.values() for member in members]


def _one_of(name: str, names: list[str]) -> str:
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
    return name


def likelihood_value(name: str | None, noise_sd: str | None, column: str | None) -> Json:
    """The likelihood with its noise, None where nothing is given. Raises typer.BadParameter."""
    if noise_sd is None and column is None:
        return None if name is None else {"type": name}
    hint = "--noise-sd" if column is None else "--noise-column"
    if noise_sd is not None and column is not None:
        raise typer.BadParameter("pass one noise sd for all rows or a column of them, not both", param_hint=hint)
    if name not in {None, "gaussian"}:
        raise typer.BadParameter(f"{name} has no noise of a known sd", param_hint=hint)
    return {"type": "gaussian", "noise_sd": _noise_sd(noise_sd) if column is None else {"column": column}}


def _noise_sd(given: str | None) -> Json:
    """Return a number, or the name of a method of learning it."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


def basis_value(kernel: str | None, width: str | None) -> Json:
    """Return a basis of one kernel with the given members; the service adds the others."""
    if kernel is None and width is None:
        return None
    given: dict[str, Json] = {"type": "kernel"}
    if kernel is not None:
        given["kernel"] = {"type": kernel}
    if width is not None:
        given["width"] = _width(width)
    return given


def _width(text: str) -> Json:
    if text in WIDTH_SEARCHES:
        return {"type": text}
    return {"type": "fixed", "value": widths(text, f", nor one of {', '.join(WIDTH_SEARCHES)}")}


def widths(text: str, others: str = "") -> Json:
    """Return a number or a list of numbers. Raises typer.BadParameter, whose message ends in `others`."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        detail = f"{text} is neither a number, nor numbers with commas between{others}"
        raise typer.BadParameter(detail, param_hint="--width") from None
    return numbers[0] if len(numbers) == 1 else list[Json](numbers)


def split_value(text: str) -> Json:
    """The split of `random`, `order`, `order:COLUMN` or `group:COLUMN`. Raises typer.BadParameter."""
    kind, _, column = text.partition(":")
    match kind, column:
        case (("random" | "order"), ""):
            return {"type": kind}
        case (("order" | "group"), str()):
            return {"type": kind, "column": column}
        case _:
            detail = f"{text!r} is not one of random, order, order:COLUMN, group:COLUMN"
            raise typer.BadParameter(detail, param_hint="--split")


def request_value(request: Path) -> Document:
    """The JSON object of a file. Raises typer.BadParameter."""
    try:
        document = json.loads(request.read_text())
    except (ValueError, UnicodeDecodeError) as broken:
        raise typer.BadParameter(f"{request} is not JSON: {broken}", param_hint="--request") from broken
    if not isinstance(document, dict):
        raise typer.BadParameter(f"{request} is not a JSON object", param_hint="--request")
    return document
