"""The rows of the table of commands: functions, and commands of a resource that differ by a noun alone.

A row is loaded when its command is used: only then it imports the client.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Generic, Protocol, TypeVar  # noqa: TID251 - help loads no client

import typer

from relevance_bayes.cli.console import echo, has_terminal, refuse

if TYPE_CHECKING:
    from relevance_bayes.client import Client

T = TypeVar("T")


class Body(Protocol):
    """A function whose parameters are those of its command."""

    def __call__(self, **values: object) -> None: ...


class CommandRow(Protocol):
    """A command: its summary in lists, whether it acts in a project, and its function."""

    @property
    def summary(self) -> str:
        """The first sentence of its help page."""

    @property
    def acts_in_project(self) -> bool:
        """True where it has the option `--project`."""

    def load(self) -> Body:
        """Return the function, whose imports are those of the command."""


@dataclass(frozen=True)
class Command:
    """A command that is a function of a module."""

    module: str
    function: str
    summary: str
    package: str = "relevance_bayes.cli"
    acts_in_project: bool = True

    def load(self) -> Body:
        """Return the function; its module is imported."""
        body: Body = getattr(import_module(f"{self.package}.{self.module}"), self.function)
        return body


@dataclass(frozen=True)
class Argument:
    """A positional argument."""

    metavar: str
    help: str
    type: type = str
    min: float | None = None
    max: float | None = None

    @property
    def parameter(self) -> str:
        """Return the name of the parameter, which no option has."""
        return f"{self.metavar.lower()}_argument"

    @property
    def annotation(self) -> object:
        """Return the annotation of a parameter."""
        return Annotated[self.type, typer.Argument(metavar=self.metavar, help=self.help, min=self.min, max=self.max)]


@dataclass(frozen=True)
class Given:
    """The values with which a command is called: arguments, a text or None, a flag."""

    arguments: tuple[str, ...]
    text: str | None = None
    flag: bool = False


@dataclass(frozen=True, kw_only=True)
class ResourceCommand:
    """A command of a resource, with arguments, at most one option with a text, and at most one flag."""

    summary: str
    arguments: tuple[Argument, ...] = ()
    reason: str | None = None
    """The help of `--reason`."""
    flag: tuple[str, str] | None = None
    """A flag and its help."""
    details: str = ""
    """The help page after the summary."""
    acts_in_project: bool = True

    def _body(
        self,
        others: Mapping[str, tuple[object, object]],
        run: Callable[["Client", Given, Mapping[str, object]], None],
    ) -> Body:
        """Return a function of the parameters, of `others` (annotation and default by name) and of --url."""
        from relevance_bayes.cli.connection import service
        from relevance_bayes.cli.options import HERE, Url

        def body(**values: object) -> None:
            arguments = tuple(str(values[one.parameter]) for one in self.arguments)
            reason = values.get("reason")
            given = Given(arguments, None if reason is None else str(reason), values.get("flag") is True)
            with service(str(values["url"])) as client:
                run(client, given, values)

        described = {**dict(self._options()), **others, "url": (Url, HERE)}
        parameters = [_parameter(one.parameter, one.annotation) for one in self.arguments]
        parameters += [_parameter(name, annotation, default) for name, (annotation, default) in described.items()]
        vars(body)["__signature__"] = inspect.Signature(parameters)
        body.__annotations__ = {one.name: one.annotation for one in parameters}
        body.__doc__ = "\n\n".join(filter(None, (self.summary, self.details)))
        return body

    def _options(self) -> Iterator[tuple[str, tuple[object, object]]]:
        if self.reason is not None:
            yield "reason", (Annotated[str | None, typer.Option(metavar="TEXT", help=self.reason)], None)
        if self.flag is not None:
            yield "flag", (Annotated[bool, typer.Option(self.flag[0], help=self.flag[1])], False)


def _parameter(name: str, annotation: object, default: object = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


@dataclass(frozen=True, kw_only=True)
class Listing(ResourceCommand, Generic[T]):
    """A command that prints the items of a list as a table, or as JSON."""

    items: Callable[["Client", Given], Iterable[T]]
    columns: Mapping[str, Callable[[T], str]]
    """The text of an item under each heading."""
    if_none: str
    limited: str | None = None
    """The help of `--limit`, where the list has one."""

    def load(self) -> Body:
        """Return the function of the command."""
        from relevance_bayes.cli.options import AsJson
        from relevance_bayes.cli.rendering import print_list

        def run(client: "Client", given: Given, values: Mapping[str, object]) -> None:
            limit = values.get("limit")
            shown = islice(self.items(client, given), limit if isinstance(limit, int) else None)
            print_list(shown, self.columns, if_none=self.if_none, as_json=values["as_json"] is True)

        limits = {"limit": (Annotated[int, typer.Option(help=self.limited, min=1)], 20)} if self.limited else {}
        return self._body({**limits, "as_json": (AsJson, False)}, run)


@dataclass(frozen=True, kw_only=True)
class Action(ResourceCommand, Generic[T]):
    """A command that makes a call, and prints a sentence on its response, or the response as JSON."""

    call: Callable[["Client", Given], T]
    text: Callable[[T, Given], str]
    has_json: bool = True

    def load(self) -> Body:
        """Return the function of the command."""
        from relevance_bayes.cli.options import AsJson
        from relevance_bayes.cli.rendering import print_json

        def run(client: "Client", given: Given, values: Mapping[str, object]) -> None:
            response = self.call(client, given)
            print_json(response) if values.get("as_json") is True else echo(self.text(response, given))

        return self._body({"as_json": (AsJson, False)} if self.has_json else {}, run)


@dataclass(frozen=True, kw_only=True)
class Deletion(ResourceCommand):
    """A command that deletes a resource, after a prompt."""

    named: Callable[["Client", Given], str]
    """The name of the resource in the prompt, whose request fails where there is none."""
    call: Callable[["Client", Given], None]
    text: str
    """The sentence at the end, with a field for each argument."""

    def load(self) -> Body:
        """Return the function of the command."""

        def run(client: "Client", given: Given, values: Mapping[str, object]) -> None:
            confirm(self.named(client, given), yes=values["yes"] is True)
            self.call(client, given)
            echo(self.text.format(*given.arguments))

        yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without a prompt.")]
        return self._body({"yes": (yes, False)}, run)


def confirm(resource: str, *, yes: bool) -> None:
    """Prompt on a terminal; elsewhere `--yes` is required, so that a script never waits for input."""
    if yes:
        return
    if not has_terminal():
        refuse("Standard input is not a terminal: pass --yes to delete without a prompt.")
    if not typer.confirm(f"Delete {resource}?", err=True):
        refuse("Nothing was deleted.")


def counted(number: int, noun: str) -> str:
    """Return a number and its noun, in the plural where it is not 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def number_or_alias(text: str) -> int | str:
    """Return a version as the client has it: a number where the text is one, else an alias."""
    return int(text) if text.isdecimal() else text
