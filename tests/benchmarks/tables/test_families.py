import pytest

from benchmarks.files import DataFolder, NotRun
from benchmarks.options import Options
from benchmarks.tables import comparison, measuring
from benchmarks.tables.catalogue import ENTRIES
from benchmarks.tables.families import family, half


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("yeast3", "yeast"),
        ("kr-vs-k-zero-one_vs_draw", "kr"),
        ("mlc_churn", "mlc"),
        ("Wage", "wage"),
        ("sat.act", "sat.act"),
    ],
)
def test_a_family_is_the_name_up_to_a_digit_or_mark(name: str, expected: str) -> None:
    assert family(name) == expected


def test_a_table_that_shares_columns_belongs_to_the_other_family() -> None:
    assert family("Diamond") == family("diamonds")


@pytest.mark.parametrize(
    ("name", "drawn"), [("yeast", "sealed"), ("abalone", "sealed"), ("wine", "open"), ("bupa", "open")]
)
def test_the_half_of_a_family_never_changes(name: str, drawn: str) -> None:
    assert half(name) == drawn


def test_each_half_has_tables_of_both_tasks() -> None:
    for task in ("regression", "classification"):
        halves = [half(family(entry.name)) for entry in ENTRIES if entry.task == task]
        assert min(halves.count("open"), halves.count("sealed")) >= 20


def test_open_and_sealed_tables_are_all_tables_and_share_no_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_file", lambda entry: entry.name)
    names = {which: {source.name for source in measuring.tables(which)} for which in ("open", "sealed")}
    assert names["open"] | names["sealed"] == {entry.name for entry in ENTRIES}
    assert not {family(name) for name in names["open"]} & {family(name) for name in names["sealed"]}


def test_a_sealed_table_is_not_measured_by_its_name_among_the_open_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_file", lambda entry: entry.name)
    sealed = next(entry for entry in ENTRIES if half(family(entry.name)) == "sealed")
    with pytest.raises(NotRun, match=sealed.name):
        comparison.open_tables(Options(DataFolder(None), tables=(sealed.name,)))
