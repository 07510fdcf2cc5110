import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.tables import reserved
from benchmarks.tables.catalogue import ENTRIES
from benchmarks.tables.reserved import Fingerprint, category_digest, is_reserved, number_digest, reserved_hashes


@pytest.fixture
def _two_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A list that holds the names `secret` and `twowords`."""
    hashes = [hashlib.sha256(name.encode()).hexdigest() for name in ("secret", "twowords")]
    file = tmp_path / "reserved.txt"
    file.write_text("# a comment\n" + "\n".join(hashes) + "\n")
    monkeypatch.setattr(reserved, "HASHES", file)
    reserved_hashes.cache_clear()
    yield
    reserved_hashes.cache_clear()


@pytest.mark.usefixtures("_two_names")
@pytest.mark.parametrize(
    "name", ["secret", "Secret", "secret2", "secret-1_vs_2", "secret.te", "two.words", "Two_Words"]
)
def test_a_reserved_name_is_found_in_every_form(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.usefixtures("_two_names")
@pytest.mark.parametrize("name", ["secrets", "asecret", "words", "two"])
def test_other_names_are_not_reserved(name: str) -> None:
    assert not is_reserved(name)


def test_the_list_is_that_of_hashes_under_a_comment() -> None:
    lines = reserved.HASHES.read_text("utf-8").splitlines()
    assert lines[0].startswith("#")
    assert len(reserved_hashes()) == len(lines) - 1
    assert all(len(line) == 64 and set(line) <= set("0123456789abcdef") for line in lines[1:])


def test_no_table_of_the_catalogue_has_a_reserved_name() -> None:
    assert [entry.path for entry in ENTRIES if is_reserved(entry.name)] == []


def test_no_two_tables_have_one_name() -> None:
    names = [entry.name for entry in ENTRIES]
    assert sorted(names) == sorted(set(names))


def test_a_copy_is_found_whatever_the_order_of_rows_and_the_names_of_labels() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 2))
    colours = ["red" if value > 0.0 else "blue" for value in values[:, 0].tolist()]
    order = rng.permutation(50)
    renamed = [{"red": "rouge", "blue": "bleu"}[colours[row]] for row in order]
    one = Fingerprint(50, (number_digest(values[:, 0]), number_digest(values[:, 1]), category_digest(colours)))
    other = Fingerprint(50, (number_digest(values[order, 1]), category_digest(renamed), "another"))
    assert one.same_data(other)


def test_tables_of_other_rows_or_of_one_common_column_are_not_copies() -> None:
    one = Fingerprint(50, ("a", "b", "c"))
    assert not one.same_data(Fingerprint(51, ("a", "b", "c")))
    assert not one.same_data(Fingerprint(50, ("a", "d", "e")))
