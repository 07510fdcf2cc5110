"""Files with two readings, chosen at a prompt on a pseudo-terminal."""

import json
from pathlib import Path

import pytest

from tests.commands import Run
from tests.terminals import Dialogue

PROMPT = "The reading that is meant, 1 or 2:"
DAYS = "day;sold\n" + "".join(f"{1 + k % 12:02}.{1 + k % 11:02}.2025;{k % 7}\n" for k in range(40))
"""Dates of which each has two readings."""

NUMBERS = "place;sold\nUlm;753,843\nHof;1,250\n"
BOTH = "day;sold\n03.04.2025;753,843\n05.06.2025;1,250\n"


@pytest.fixture
def days(tmp_path: Path) -> Path:
    file = tmp_path / "days.csv"
    file.write_text(DAYS)
    return file


@pytest.mark.parametrize(("typed", "day"), [("1\n", "2025-04-03"), ("3\n2\n", "2025-03-04")])
def test_dates_are_read_as_chosen(dialogue: Dialogue, tmp_path: Path, typed: str, day: str) -> None:
    file = tmp_path / f"days-{len(typed)}.csv"
    file.write_text("day;sold\n03.04.2025;1\n05.06.2025;2\n")
    done = dialogue("upload", str(file), typed=typed)
    assert done.exit_code == 0, done.terminal
    assert "`day` has 03.04.2025, which has two readings:\n" in done.terminal
    assert '   1  2025-04-03 with the day first (--date-format="%d.%m.%Y")\n' in done.terminal
    assert '   2  2025-03-04 with the month first (--date-format="%m.%d.%Y")\n' in done.terminal
    assert done.terminal.count(PROMPT) == len(typed) // 2
    assert day in done.stdout


def test_dates_and_numbers_of_a_file_are_chosen_one_after_the_other(dialogue: Dialogue, tmp_path: Path) -> None:
    file = tmp_path / "both.csv"
    file.write_text(BOTH)
    done = dialogue("upload", str(file), typed="1\n1\n")
    assert done.exit_code == 0, done.terminal
    assert done.terminal.count(PROMPT) == 2
    assert "753.843" in done.stdout
    assert "2025-04-03" in done.stdout


def test_pipes_and_json_have_the_refusal_and_no_prompt(requested: Run, dialogue: Dialogue, tmp_path: Path) -> None:
    file = tmp_path / "numbers.csv"
    file.write_text(NUMBERS)
    remedy = '--decimal="," or --thousands=","'
    piped = requested("upload", str(file))
    assert piped.exit_code == 1
    assert remedy in piped.stderr
    assert PROMPT not in piped.stderr
    printed = dialogue("upload", str(file), "--json", typed="1\n")
    assert printed.exit_code == 1
    assert remedy in printed.terminal
    assert PROMPT not in printed.terminal


@pytest.mark.thorough
def test_each_command_of_a_file_reads_it_as_chosen(dialogue: Dialogue, requested: Run, days: Path) -> None:
    """The model is trained at a prompt; then the same file is read by each command, at a prompt and by the option."""
    done = dialogue("train", str(days), "--target", "sold", "--effort", "quick", typed="1\n")
    assert done.exit_code == 0, done.terminal
    assert done.terminal.count(PROMPT) == 1
    output = days.with_name("predictions.csv")
    commands = {
        "predict": ("predict", "days", str(days)),
        "as csv": ("predict", "days", str(days), "--format", "csv"),
        "compare": ("compare", "days", "days@1", str(days)),
        "evaluate": ("evaluate", "days", str(days)),
        "predict-dataset": ("predict-dataset", "days", str(days), "--output", str(output)),
    }
    for name, command in commands.items():
        chosen = dialogue(*command, typed="1\n")
        assert chosen.exit_code == 0, f"{name}: {chosen.terminal}"
        assert chosen.terminal.count(PROMPT) == 1, name
        refused = requested(*command)
        assert refused.exit_code == 1, name
        assert '--date-format="%d.%m.%Y" or --date-format="%m.%d.%Y"' in refused.stderr, name
        read = requested(*command, "--date-format", "%d.%m.%Y")
        assert read.exit_code == 0, f"{name}: {read.stderr}"


@pytest.mark.thorough
def test_try_and_promote_prompt_too(dialogue: Dialogue, requested: Run, tmp_path: Path) -> None:
    file = tmp_path / "promoted.csv"
    file.write_text(DAYS.replace("2025", "2024"))
    tried = dialogue("try", str(file), "--target", "sold", "--effort", "quick", typed="1\n")
    assert tried.exit_code == 0, tried.terminal
    assert tried.terminal.count(PROMPT) == 1
    train = ("train", str(file), "--target", "sold", "--effort", "quick", "--date-format", "%d.%m.%Y")
    assert requested(*train).exit_code == requested(*train, "--kernel", "laplacian").exit_code == 0
    assert requested("aliases", "set", "promoted", "live", "1").exit_code == 0
    done = dialogue("promote", "promoted@live", "2", str(file), typed="1\n")
    assert done.terminal.count(PROMPT) == 1
    assert "two readings" in done.terminal


@pytest.mark.parametrize("command", [("evaluate",), ("predict-dataset", "--output", "x.csv"), ("promote",)])
def test_options_of_reading_need_a_file(requested: Run, command: tuple[str, ...]) -> None:
    names = ("days@live", "2") if command[0] == "promote" else ("days",)
    done = requested(command[0], *names, "--dataset", "some-id", "--decimal", ",", *command[1:])
    assert done.exit_code == 2
    assert "options of how a file is read need FILE" in " ".join(done.stderr.split())


def test_the_meaning_of_the_first_line_is_chosen(dialogue: Dialogue, tmp_path: Path) -> None:
    for typed, rows in (("1\n", 3), ("2\n", 4)):
        file = tmp_path / f"either-{rows}.csv"
        file.write_text("7,1,2,versicolor\n5,3.5,1.5,setosa\n4,3.5,2.5,virginica\n6,3.0,2.0,setosa\n")
        done = dialogue("upload", str(file), typed=typed)
        assert done.exit_code == 0, done.terminal
        assert 'Line 1 has "7, 1, 2, versicolor", which has two readings:\n' in done.terminal
        assert "   1  the names of the columns with a header (--header)\n" in done.terminal
        assert "   2  a row of data without one (--no-header)\n" in done.terminal
        assert f"{rows} rows" in done.stdout


def test_numbers_with_two_readings_are_read_by_an_option(requested: Run, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text(NUMBERS.replace(",", "."))
    found = json.loads(requested("upload", str(file), "--thousands", ".", "--json").stdout)
    assert found["columns"][1]["max"] == 753843.0
