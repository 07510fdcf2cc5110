import pytest
import typer
from typer.core import TyperGroup

from relevance_bayes.cli.commands import add_client_commands, load_all
from relevance_bayes.cli.remedies import OPTIONS, in_options


def test_every_option_is_one_of_a_command() -> None:
    application = typer.Typer()
    add_client_commands(application)
    group = typer.main.get_group(application)
    assert isinstance(group, TyperGroup)
    load_all(group)
    options = {option for command in group.commands.values() for one in command.params for option in one.opts}
    assert set(OPTIONS.values()) - options == set()


@pytest.mark.parametrize(
    ("message", "given"),
    [
        (
            '`b` has gaps; send "missing": "drop_rows" to leave out rows with gaps, or "indicator" to fill gaps.',
            "`b` has gaps; pass --missing drop_rows to leave out rows with gaps, or --missing indicator to fill gaps.",
        ),
        ('It is a number; send "task": "regression".', "It is a number; pass --task regression."),
        ('Correct these rows, or send "on_error": "per_row".', "Correct these rows, or leave out --fail-on-error."),
        ('Send it anew, or send "warp": "none".', 'Send it anew, or send "warp": "none".'),
        (
            '`a` has 753,843; set decimal="," or thousands=",".',
            '`a` has 753,843; set --decimal="," or --thousands=",".',
        ),
        ("It can be declared: kinds=NAME:KIND.", "It can be declared: --kind NAME:KIND."),
        ("Nothing to measure on: request a validation.", "Nothing to measure on: pass --validation 5."),
        (
            'Counts begin at 0; use "gaussian" or "poisson".',
            "Counts begin at 0; pass --likelihood gaussian or poisson.",
        ),
    ],
)
def test_a_member_to_send_is_an_option_to_pass(message: str, given: str) -> None:
    assert in_options(message) == given


@pytest.mark.parametrize(
    ("message", "given"),
    [
        ("At /holdout: Should be less.", "--holdout: Should be less."),
        ("Wrong.\n  /inputs/2: Absent.\n  /target, row 2: Odd.", "Wrong.\n  --input: Absent.\n  --target, row 2: Odd."),
        ("At /likelihood/noise_sd: Above 0.", "--noise-sd: Above 0."),
        ("At /likelihood/type: Unknown.", "--likelihood: Unknown."),
        ("At /basis/0/kernel/type: Unknown.", "--kernel: Unknown."),
        ("At /rows/3/x: Not a number.", "At /rows/3/x: Not a number."),
        ("/srv/data/holdout: Not a file.", "/srv/data/holdout: Not a file."),
    ],
)
def test_a_pointer_is_the_option_that_sets_it(message: str, given: str) -> None:
    assert in_options(message) == given


@pytest.mark.parametrize(
    ("message", "given"),
    [
        ("One width for each input; name `inputs`.", "One width for each input; name --input."),
        ("Hold out fewer rows (`holdout`, `seed`, `split`).", "Hold out fewer rows (--holdout, --seed, --split)."),
        ("`holdout` is a share of the rows.", "--holdout is a share of the rows."),
        ("`model` has 3 missing values.", "`model` has 3 missing values."),
        ("`seed` is the same in every row.", "`seed` is the same in every row."),
        ("There is no column 'x'; there are `model`, `seed`.", "There is no column 'x'; there are `model`, `seed`."),
        ("Choose another `model` name.", "Choose another --model name."),
        ("The column rename `model` stays.", "The column rename `model` stays."),
    ],
)
def test_a_member_is_distinguished_from_a_column(message: str, given: str) -> None:
    assert in_options(message) == given
