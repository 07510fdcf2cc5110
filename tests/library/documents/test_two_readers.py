"""Documents are read alike by the library's converter and by pydantic, by which the service reads them."""

import json
from dataclasses import dataclass, is_dataclass
from math import inf

import pytest
from pydantic import ValidationError

from app.exports import formats
from relevance_bayes.documents.schema import DOCUMENT
from relevance_bayes.types.errors import InvalidRequestError
from relevance_bayes.types.records import encode
from tests.exports.test_spoilt_documents import SPOILT, documents, leaves, spoilt


@dataclass(frozen=True)
class Wrong:
    """Steps at the ends of the places that are wrong: pydantic puts names of alternatives there, too."""

    steps: frozenset[str]


def by_pydantic(content: bytes) -> object:
    """The document, or the errors of pydantic."""
    try:
        return formats.DOCUMENT.validate_json(content, strict=True)
    except ValidationError as error:
        return Wrong(frozenset(str(step) for one in error.errors() for step in one["loc"][-2:]))


def by_converter(content: bytes) -> object:
    """The document, or the errors of the converter."""
    try:
        return DOCUMENT.decode(json.loads(content))
    except InvalidRequestError as error:
        return Wrong(frozenset(str(one.pointer).rpartition("/")[2] for one in error.faults))


@pytest.mark.parametrize("name", documents())
def test_a_document_is_the_same_by_both_and_back(name: str) -> None:
    content = json.dumps(documents()[name]).encode()
    found = by_converter(content)
    assert found == by_pydantic(content)
    assert encode(found) == documents()[name]


def leaves_of(value: object) -> list[object]:
    """The values in a record that have no parts."""
    match value:
        case dict():
            return [leaf for inner in value.values() for leaf in leaves_of(inner)]
        case list() | tuple():
            return [leaf for inner in value for leaf in leaves_of(inner)]
        case _ if is_dataclass(value):
            return leaves_of(encode(value))
        case _:
            return [value]


@pytest.mark.thorough
def test_a_spoilt_number_is_refused_by_both_or_by_none() -> None:
    unlike, n_refused = list[str](), 0
    for name, pointer, what in leaves():
        for token in SPOILT:
            content = spoilt(documents()[name], pointer, token)
            found, expected = by_converter(content), by_pydantic(content)
            if isinstance(found, Wrong) and isinstance(expected, Wrong):
                n_refused += 1
                is_alike = found.steps <= expected.steps
            elif isinstance(found, Wrong) and token == "9" * 400:
                is_alike = inf in leaves_of(expected)  # what no float can hold is infinity to pydantic
            else:
                is_alike = found == expected
            if not is_alike:
                unlike.append(f"{what} {token[:6]}: {found}, {expected}")
    assert not unlike, "\n".join(unlike)
    assert n_refused > 100
