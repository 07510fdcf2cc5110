"""References to versions."""

import pytest

from app.errors import PreconditionFailedError
from app.http.conditional_requests import ANY, Condition
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.models import SEPARATOR, Reference, is_alias
from relevance_bayes.tasks.planning import MODEL_NAME


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("small", Reference("small")),
        ("small@champion", Reference("small", "champion")),
        ("small@3", Reference("small", 3)),
        ("small@2147483647", Reference("small", 2**31 - 1)),
        ("small@v1.2_rc-3", Reference("small", "v1.2_rc-3")),
    ],
)
def test_a_name_is_parsed_to_the_newest_a_number_or_an_alias_and_back(text: str, reference: Reference) -> None:
    assert Reference.read(text) == reference
    assert str(reference) == text


@pytest.mark.parametrize(
    "version", ["", "0", "-1", "01", "2147483648", "9" * 11, "3a", "é", "٣", ".x", "a b", "a@b", "a" * 64, "a\n"]
)
def test_what_is_neither_number_nor_alias_names_nothing(version: str) -> None:
    with pytest.raises(NotFoundError):
        Reference.of("small", version)
    with pytest.raises(NotFoundError):
        Reference.read(f"small@{version}")


@pytest.mark.parametrize(("text", "can_be"), [("a" * 63, True), ("A1", True), ("1", False), ("12345", False)])
def test_an_alias_begins_with_a_letter_so_that_none_is_a_number(text: str, can_be: bool) -> None:
    assert is_alias(text) is can_be


def test_no_models_name_has_the_sign_before_an_alias() -> None:
    assert not MODEL_NAME.fullmatch(f"a{SEPARATOR}b")


def matches(condition: Condition, tag: str | None) -> bool:
    try:
        condition.require("It", tag)
    except PreconditionFailedError:
        return False
    return True


@pytest.mark.parametrize(
    ("condition", "of_nothing", "of_a", "of_b"),
    [
        (Condition(), True, True, True),
        (Condition(match=frozenset({'"a"'})), False, True, False),
        (Condition(match=frozenset({'"a"', '"b"'})), False, True, True),
        (Condition(match=frozenset({ANY})), False, True, True),
        (Condition(match=frozenset({'W/"a"'})), False, False, False),
        (Condition(none_match=frozenset({ANY})), True, False, False),
        (Condition(none_match=frozenset({'"a"'})), True, False, True),
    ],
)
def test_a_condition_is_satisfied_by_the_tags_that_it_states(
    condition: Condition, of_nothing: bool, of_a: bool, of_b: bool
) -> None:
    assert [matches(condition, tag) for tag in (None, '"a"', '"b"')] == [of_nothing, of_a, of_b]
