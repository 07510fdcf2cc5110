import os
import subprocess
import sys

import pytest
import typer
from typer.core import TyperGroup

from relevance_bayes import __version__
from relevance_bayes.cli.commands import COMMANDS, GROUPS, add_client_commands, load_all


def test_a_list_shows_the_first_sentence_of_each_help_page() -> None:
    application = typer.Typer()
    add_client_commands(application)
    root = typer.main.get_group(application)
    load_all(root)
    for commands, group in ((COMMANDS, root), *((GROUPS[name], root.commands[name]) for name in GROUPS)):
        assert isinstance(group, TyperGroup)
        for name, command in commands.items():
            page = group.commands[name].help
            assert page is not None
            first, *_ = page.split("\n\n")
            assert " ".join(first.split()) == command.summary
            parameters = [parameter.name for parameter in group.commands[name].params]
            assert len(set(parameters)) == len(parameters) > 0, "two parameters of one name have one value"


MAX_SHOWN = 57
"""Characters of a sentence that a list shows on a terminal of 80 columns."""


def test_no_sentence_of_a_list_is_cut() -> None:
    everything = [*COMMANDS.values(), *(command for commands in GROUPS.values() for command in commands.values())]
    assert [one.summary for one in everything if len(one.summary) > MAX_SHOWN] == []


def test_a_list_of_commands_imports_none_of_them() -> None:
    program = "import sys, relevance_bayes.cli.commands as c; c.application(['--help'], standalone_mode=False); "
    program += "print(*sorted({'httpx', 'rich', 'numpy', 'relevance_bayes.client'} & set(sys.modules)))"
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize(("program", "name"), [("app.cli", "relevance"), ("relevance_bayes.cli", "relevance-client")])
def test_a_program_prints_its_version(program: str, name: str) -> None:
    done = subprocess.run((sys.executable, "-m", program, "--version"), capture_output=True, text=True, check=True)
    assert done.stdout == f"{name} {__version__}\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("relevance de", ["decode", "delete"]),
        ("relevance train --ta", ["--target", "--task"]),
        ("relevance aliases set --re", ["--reason"]),
        ("relevance serve --po", ["--port"]),
    ],
)
def test_a_shell_completes_commands_and_options(line: str, completions: list[str]) -> None:
    place = str(len(line.split()) - 1)
    requested = {"COMP_WORDS": line, "COMP_CWORD": place, "_RELEVANCE_COMPLETE": "complete_bash"}
    program = "import sys; sys.argv[0] = 'relevance'; from app.cli import main; main()"
    done = subprocess.run(
        (sys.executable, "-c", program), capture_output=True, text=True, check=False, env={**os.environ, **requested}
    )
    assert done.stdout.split() == completions
