from collections.abc import Iterator

import pytest

from app.jobs.child import MEBIBYTE, Failure
from app.jobs.worker.attempts import UNEXPECTED, of_failure
from relevance_bayes.core.errors import SparseBayesError


def all_below(error: type[Exception]) -> Iterator[type[Exception]]:
    for below in error.__subclasses__():
        yield below
        yield from all_below(below)


CORE = [error.__name__ for error in all_below(SparseBayesError) if error.__module__.startswith("relevance_bayes.")]


@pytest.mark.parametrize("name", CORE)
def test_every_refusal_has_a_kind_a_title_and_an_advice(name: str) -> None:
    problem = of_failure(Failure(name, "what was wrong."), memory=None)
    assert problem != UNEXPECTED
    assert problem.detail.startswith("what was wrong: ")
    assert len(problem.detail) > len("what was wrong: ")


def test_an_advice_alone_is_a_sentence() -> None:
    assert of_failure(Failure("DataError", ""), memory=None).detail[0].isupper()


def test_a_fit_over_its_memory_reports_how_much_it_had() -> None:
    assert "the 512 MiB that a fit may use" in of_failure(Failure("MemoryError", ""), memory=512 * MEBIBYTE).detail
    assert "than the worker has" in of_failure(Failure("MemoryError", ""), memory=None).detail


def test_an_unexpected_error_reports_nothing_internal_to_the_user() -> None:
    assert of_failure(Failure("ZeroDivisionError", "secret", "Traceback ..."), memory=None) == UNEXPECTED
