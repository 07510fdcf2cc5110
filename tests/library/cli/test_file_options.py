from dataclasses import fields

import pytest
import typer
from typer.testing import CliRunner

from relevance_bayes.cli.datasets import FileOptions
from relevance_bayes.cli.options import declared_options, with_options
from relevance_bayes.cli.rows import RowOptions

received: list[tuple[str, RowOptions, bool]] = []

commands = typer.Typer()


@commands.command()
@with_options
def whole(name: str, *, options: FileOptions, quiet: bool = False) -> None:
    received.append((name, options, quiet))


@commands.command()
@with_options
def rows(name: str, *, options: RowOptions, quiet: bool = False) -> None:
    received.append((name, options, quiet))


def test_each_field_of_the_options_is_a_parameter() -> None:
    """Except those that no command has: what follows from a version, or from a dataset."""
    not_of_commands = {"forms", "has_header", "as_written"}
    declared = {one.name for one in declared_options(FileOptions)}
    assert {field.name for field in fields(FileOptions)} - not_of_commands == declared


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["whole", "a"], ("a", FileOptions(), False)),
        (
            ["whole", "a", "--kind", "b:number", "--decimal", ",", "--no-header", "--quiet"],
            ("a", FileOptions(kind=["b:number"], decimal=",", header=False), True),
        ),
        (["rows", "a", "--sheet", "b", "--date-format", "%d"], ("a", RowOptions(sheet="b", date_format="%d"), False)),
    ],
)
def test_a_command_has_the_options_that_are_given(line: list[str], expected: tuple[str, RowOptions, bool]) -> None:
    received.clear()
    assert CliRunner().invoke(commands, line).exit_code == 0
    assert received == [expected]


def test_a_command_of_rows_has_no_option_of_whole_files() -> None:
    assert CliRunner().invoke(commands, ["rows", "a", "--kind", "b:number"]).exit_code == 2
