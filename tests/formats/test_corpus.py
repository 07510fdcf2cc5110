"""Files that other packages ship are read as the csv module reads them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import sklearn

from tests.formats.corpus import Outcome, files_of
from tests.formats.typed_corpus import SUFFIXES, TypedOutcome, shipped, written


@pytest.mark.thorough
def test_tables_of_installed_packages_are_what_their_texts_state() -> None:
    outcome = Outcome()
    for path in files_of([Path(str(package.__file__)).parent for package in (np, sklearn)]):
        outcome.add(path)
    assert outcome.files >= 25
    assert outcome.cells > 50_000
    assert outcome.different == []
    assert outcome.unlike == []


@pytest.mark.thorough
def test_tables_with_types_are_what_a_second_reader_has() -> None:
    folders = [Path(str(package.__file__)).parent for package in (np, sklearn, pa)]
    outcome = TypedOutcome()
    for files in (shipped(folders), written(folders)):
        for one in files:
            outcome.add(*one)
    assert outcome.different == []
    assert min(outcome.files[suffix] for suffix in SUFFIXES) >= 15
    assert outcome.cells > 100_000
