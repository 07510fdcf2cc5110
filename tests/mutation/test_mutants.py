"""Mutants alter one decision of a text each, are found again after moves."""

from tests.mutation.__main__ import CHOSEN, TESTS, listed
from tests.mutation.mutants import Mutant, mutated_texts
from tests.mutation.running import ROOT

SAMPLE = '''"""A text."""
from warnings import warn

MAX_ROWS, SHARE = 5_000, 0.5

def check(rows: int, least: int = 2) -> int:
    """Not x < y, nor 1 - 2."""
    if not rows >= least and rows is not None:
        raise ValueError(f"expected {rows - 1 < 2}")
    warn(UserWarning("few"))
    return -rows + len("a" + "b")
'''


def altered(text: str = SAMPLE) -> set[tuple[str, str, str]]:
    return {(one.function, one.original, one.replacement) for one in mutated_texts("a.py", text)}


def test_comparisons_conditions_thresholds_signs_warnings_and_errors_are_altered() -> None:
    condition = "not rows >= least and rows is not None"
    assert altered() == {
        ("(MAX_ROWS, SHARE)", "5000", "10000"),
        ("(MAX_ROWS, SHARE)", "0.5", "1.0"),
        ("check", "2", "3"),
        ("check", condition, condition.replace("and", "or")),
        ("check", "not rows >= least", "rows >= least"),
        ("check", "rows >= least", "rows > least"),
        ("check", "rows is not None", "rows is None"),
        ("check", "raise ValueError(f'expected {rows - 1 < 2}')", "pass"),
        ("check", "warn(UserWarning('few'))", "pass"),
        ("check", "-rows + len('a' + 'b')", "-rows - len('a' + 'b')"),
        ("check", "-rows", "rows"),
    }


def test_the_text_of_a_mutant_differs_in_its_place_alone_and_keeps_all_lines() -> None:
    for mutant, text in mutated_texts("a.py", SAMPLE).items():
        pairs = list(zip(SAMPLE.splitlines(), text.splitlines(), strict=True))
        assert sum(before != after for before, after in pairs) == 1
        assert mutant.replacement.split("(")[0] in text
    over_lines = "def both(a: int, b: int) -> bool:\n    return (\n        a < 1\n        and b\n    )\n"
    for text in mutated_texts("a.py", over_lines).values():
        assert text.count("\n") == over_lines.count("\n")
        compile(text, "a.py", "exec")


def test_mutants_are_the_same_after_their_function_moved() -> None:
    moved = SAMPLE.replace("def check", "def other() -> None:\n    return\n\n\ndef check")
    assert mutated_texts("a.py", moved).keys() == mutated_texts("a.py", SAMPLE).keys()


def test_a_mutant_is_read_from_its_line_and_equal_ones_are_counted() -> None:
    twice = [*mutated_texts("a.py", "def f(a, b):\n    return a < b, a < b\n")]
    assert [one.occurrence for one in twice] == [0, 1]
    assert [Mutant.of(one.line) for one in twice] == twice


def test_as_many_as_are_to_be_chosen_are_listed_of_files_whose_tests_exist() -> None:
    mutants = listed()
    assert len(mutants) == len({one.line for one in mutants}) == CHOSEN
    assert {one.path for one in mutants} == TESTS.keys()
    assert all((ROOT / test).exists() for tests in TESTS.values() for test in tests)
