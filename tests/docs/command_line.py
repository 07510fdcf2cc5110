"""The page of docs/reference on the command line, made of its help: `python -m tests.docs.command_line` writes it."""

import re
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from app.cli.commands import application
from relevance_bayes.cli.commands import COMMANDS, GROUPS, load_all
from tests.docs.commands_of_endpoints import COMMANDS as COMMANDS_OF_ENDPOINTS
from tests.docs.commands_of_endpoints import WITHOUT
from tests.docs.members import row, table

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"

BEGINNING = """# Command line

```sh
relevance train examples/tour/kiosk.csv --target litres
relevance predict kiosk examples/tour/kiosk.csv --output predicted.csv
```

`relevance` has these commands. Those of [the service](#the-service) need its settings
([environment variables](settings.md)) and its database; [clients](#clients) send requests to `RELEVANCE_URL` with the
key in `RELEVANCE_API_KEY`, in the project that `RELEVANCE_PROJECT` names. The package `relevance-bayes[cli]` has the
clients alone, as `relevance-client`. This page is made of the commands' own help: `relevance COMMAND --help`.
`relevance --install-completion` installs completion of commands and options in the current shell, `relevance --version`
prints the version.

Where no service responds at the default address, a client starts one on `relevance.db` in the working directory, which
`relevance serve` uses too, prints that, and stops it at its end: `train` and `upload` in any folder, the others where
that file exists. A job that has not ended then goes on under the next service. None is started where `--url`,
`RELEVANCE_URL` or `RELEVANCE_DATABASE_URL` names another service or database.

A command ends with the exit code

| code | meaning |
| --- | --- |
| 0 | success; a service that SIGTERM or Ctrl-C stopped |
| 1 | the request, the job or the check failed; the reason is on standard error |
| 2 | the command line is wrong: an unknown command or option, or a value that an option doesn't have |
| 130 | Ctrl-C ended a client; its job goes on, and the command that shows the job is printed |

Results are on standard output, progress and errors on standard error. `-` as FILE is standard input, whose format is
found by its first bytes: text that does not begin as JSON is CSV, and so is compressed content. Its dataset is called
`stdin`. After `--output`, `-` is standard output. Formats that are no text are not written to a terminal.

Numbers such as `753,843` and dates such as `03.04.2025` have [two readings](formats.md#options). Where a file does not
show which is meant, a command whose standard input and standard error are terminals prompts for one, and goes on with
it; pipes and `--json` have a refusal with both options.

```sh
relevance predict-dataset kiosk examples/tour/kiosk.csv --keep litres --output - | head -3
relevance predict kiosk - --format parquet --output predicted.parquet < examples/tour/kiosk.csv
```
"""

ENDING = """## Commands by endpoint

What the API does has a command, except where a reason is given here:

COMMANDS_BY_ENDPOINT
## See also

- [From an empty folder to a promoted version](../tutorial/tour.md): commands in order, with what they print.
- [Settings](settings.md): the environment variables of the service and of its clients.
- [Endpoints](endpoints/index.md): the same by HTTP.
"""


def page() -> str:
    """The text of the page."""
    program = typer.main.get_command(application)
    assert isinstance(program, TyperGroup)
    load_all(program)
    clients = {**COMMANDS, **GROUPS}
    parts = [BEGINNING, "## The service\n"]
    for name in (name for name in program.commands if name not in clients):
        parts += _sections(program.commands[name], f"relevance {name}")
    parts.append("## Clients\n")
    for name in clients:
        parts += _sections(program.commands[name], f"relevance {name}")
    return "\n".join([*filter(None, parts), ENDING.replace("COMMANDS_BY_ENDPOINT", _by_endpoint())])


def _by_endpoint() -> str:
    """The command of each endpoint."""
    rows = [row(f"`{endpoint}`", f"`relevance {command}`") for endpoint, command in COMMANDS_OF_ENDPOINTS.items()]
    reasons = [row(f"`{endpoint}`", reason) for endpoint, reason in WITHOUT.items()]
    return table(("endpoint", "command"), [*rows, *reasons])


def _sections(command: object, name: str) -> Iterator[str]:
    """A section for a command, or for each command of a group."""
    if isinstance(command, TyperGroup):
        for inner, one in command.commands.items():
            yield from _sections(one, f"{name} {inner}")
        return
    assert isinstance(command, typer.core.TyperCommand)
    context = typer.Context(command, info_name=name)
    yield f"### {name}\n"
    yield f"`{' '.join([name, *command.collect_usage_pieces(context)])}`\n"
    yield f"{command.help}\n"
    for kind, type_ in (("argument", TyperArgument), ("option", TyperOption)):
        records = [one.get_help_record(context) for one in command.params if isinstance(one, type_)]
        yield table((kind, "default", "meaning"), [_row(*record) for record in records if record is not None])


def _row(name: str, text: str) -> str:
    """The row of an argument or option with this entry on the help page."""
    facts = re.search(r"  \[(.*)\]$", text)
    meaning = text[: facts.start()] if facts else text
    each = facts[1].split("; ") if facts else []
    default = next((one.removeprefix("default: ") for one in each if one.startswith("default: ")), "")
    bounds = [one for one in each if not one.startswith("default: ")]
    if "required" in bounds:
        bounds.remove("required")
        default = "required"
    default = re.sub(r"^\((.*)\)$", r"\1", default)
    return row(f"`{name}`", default, " ".join([meaning, *(f"({one})" for one in bounds)]))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
