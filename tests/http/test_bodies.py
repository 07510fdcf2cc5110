"""Small JSON bodies: the errors where several things are wrong."""

import pytest
from pydantic import TypeAdapter

from app.http.bodies import checked
from relevance_bayes.records.errors import InvalidRequestError


@pytest.mark.parametrize(
    ("n_wrong", "more"), [(1, ""), (2, " (and 1 more)"), (999, " (and 998 more)"), (1_500, " (and 1,499 more)")]
)
def test_the_summary_counts_all_errors(n_wrong: int, more: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        checked(TypeAdapter(list[int]), ["a"] * n_wrong)
    assert refused.value.detail == f'At /0: Should be a valid integer, got "a"{more}.'
