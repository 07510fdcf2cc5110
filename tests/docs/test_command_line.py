"""docs/reference/command-line.md has every command with its options, as the help pages have them."""

from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from app.cli.commands import application
from tests.docs.command_line import PAGE, page
from tests.docs.commands_of_endpoints import COMMANDS, WITHOUT
from tests.docs.endpoints import document, endpoints_of


def names_of(group: TyperGroup, prefix: str = "") -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from names_of(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}"


PROGRAM = typer.main.get_command(application)
NAMES = list(names_of(PROGRAM)) if isinstance(PROGRAM, TyperGroup) else []


def test_the_page_is_that_of_the_help_pages() -> None:
    assert PAGE.read_text("utf-8") == page(), "`python -m tests.docs.command_line` writes it"


def test_there_are_all_commands() -> None:
    assert len(NAMES) > 35
    assert {"serve", "train", "aliases set", "check worker"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_command_has_a_section_with_its_options(name: str) -> None:
    help_page = CliRunner().invoke(application, [*name.split(), "--help"]).output
    section = PAGE.read_text("utf-8").split(f"\n### relevance {name}\n")[1].split("\n### ")[0]
    options = {line.split()[0] for line in help_page.splitlines() if line.startswith("  --")} - {"--help"}
    assert options == {line.split()[1].strip("`") for line in section.splitlines() if line.startswith("| `--")}


@pytest.mark.parametrize(
    ("line", "code"),
    [(["config"], 0), (["jobs", "--url", "http://127.0.0.1:9"], 1), (["jobs", "--nothing"], 2), (["nothing"], 2)],
    ids=["success", "failure", "unknown option", "unknown command"],
)
def test_exit_codes_are_those_of_the_page(line: list[str], code: int) -> None:
    assert CliRunner().invoke(application, line).exit_code == code
    assert f"\n| {code} | " in PAGE.read_text("utf-8")


def test_ctrl_c_ends_a_client_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("relevance_bayes.cli.jobs.list_jobs", interrupted)
    assert CliRunner().invoke(application, ["jobs"]).exit_code == 130
    assert "\n| 130 | " in PAGE.read_text("utf-8")


def test_every_endpoint_has_a_command_or_a_reason() -> None:
    endpoints = [one for some in endpoints_of(document()).values() for one in some]
    operations = {f"{one.method} {one.path}" for one in endpoints if one.path.startswith("/v1/")}
    assert {*COMMANDS, *WITHOUT} == operations
    assert not {*COMMANDS} & {*WITHOUT}


@pytest.mark.parametrize("command", sorted({*COMMANDS.values()}))
def test_a_command_of_an_endpoint_exists_with_its_option(command: str) -> None:
    name, _, option = command.partition(" --")
    assert name in NAMES
    if option:
        section = PAGE.read_text("utf-8").split(f"\n### relevance {name}\n")[1].split("\n### ")[0]
        assert f"--{option}" in section
