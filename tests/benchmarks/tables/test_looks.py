from pathlib import Path

import pytest

from benchmarks.files import DataFolder, NotRun
from benchmarks.options import Options
from benchmarks.tables import comparison, looks
from benchmarks.tables.looks import MAX_LOOKS, begin, end
from benchmarks.tables.measuring import Results
from benchmarks.tables.splits import Source, divided
from tests.benchmarks.tables.small import small_table


@pytest.fixture
def _record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty record in place of the committed one."""
    monkeypatch.setattr(looks, "FILE", tmp_path / "looks.json")


@pytest.mark.usefixtures("_record")
def test_three_looks_are_recorded_and_a_fourth_is_refused() -> None:
    for number in range(1, MAX_LOOKS + 1):
        look = begin("2026-01-01", f"commit {number}")
        assert look.number == number
        end(look, {"regression": {"ours": {"rmse_ratio": 0.9 / number}}})
    with pytest.raises(NotRun, match="no other"):
        begin("2026-01-02", "commit 4")
    recorded = looks.looks()
    assert [look.figures["regression"]["ours"]["rmse_ratio"] for look in recorded] == [0.9, 0.45, 0.9 / 3]


@pytest.mark.usefixtures("_record")
def test_a_look_that_was_broken_off_goes_on_with_the_same_revision_and_splits_alone() -> None:
    first = begin("2026-01-01", "a")
    assert begin("2026-01-02", "a") == first
    assert begin("2026-01-02", "b").number == 2
    assert begin("2026-01-02", "b", splits=2).number == 3


@pytest.mark.usefixtures("_record")
def test_a_look_that_has_ended_does_not_go_on() -> None:
    end(begin("2026-01-01", "a"), {"classification": {"ours": {"log_loss": 0.3}}})
    assert begin("2026-01-01", "a").number == 2


def test_the_committed_record_is_readable() -> None:
    assert len(looks.looks()) <= MAX_LOOKS


@pytest.fixture
def one_sealed_table(monkeypatch: pytest.MonkeyPatch, _record: None) -> list[str]:
    """The command over a single table; the list of what was measured."""
    measured: list[str] = []
    table = small_table("regression")

    def measure(sources: list[Source], options: Options) -> Results:
        measured.extend(source.name for source in sources)
        splits = {0: {"rmse": 1.0, "nll": 1.0, "inside": 9.0, "measured": 10.0}}
        return Results({source.name: {"ours": splits, "GP": splits} for source in sources})

    source = Source("small", "regression", lambda number: divided(table, number))
    monkeypatch.setattr(comparison, "tables", lambda which: [source])
    monkeypatch.setattr(comparison, "require_environment", lambda: None)
    monkeypatch.setattr(comparison, "_measured", measure)
    monkeypatch.setattr(looks, "revision", lambda: "a commit")
    return measured


def test_the_command_counts_its_looks_and_refuses_the_fourth(
    one_sealed_table: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    options = Options(DataFolder(None))
    for number in range(1, MAX_LOOKS + 1):
        (table,) = comparison.sealed(options)
        assert f"look {number}" in table.title
        assert f"Look {number} of {MAX_LOOKS}" in capsys.readouterr().out
    with pytest.raises(NotRun):
        comparison.sealed(options)
    assert one_sealed_table == ["small"] * MAX_LOOKS
    assert [look.figures["regression"]["ours"]["rmse_ratio"] for look in looks.looks()] == [1.0] * MAX_LOOKS


@pytest.mark.parametrize(
    "options", [Options(DataFolder(None), quick=True), Options(DataFolder(None), tables=("small",))]
)
def test_a_part_of_the_sealed_half_is_not_measured(options: Options, one_sealed_table: list[str]) -> None:
    with pytest.raises(NotRun, match="whole"):
        comparison.sealed(options)
    assert one_sealed_table == []


def test_measuring_the_peers_of_the_sealed_half_is_no_look_and_shows_nothing(
    one_sealed_table: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert comparison.sealed(Options(DataFolder(None), engines="peers")) == []
    assert one_sealed_table == ["small"]
    assert looks.looks() == []
    assert capsys.readouterr().out == ""


def test_the_readme_has_the_figures_of_the_last_look() -> None:
    figures = [look.figures for look in looks.looks() if look.figures][-1]
    regression, classes = figures["regression"], figures["classification"]
    trees = min(classes[engine]["log_loss"] for engine in ("HistGB", "LightGBM", "CatBoost"))
    text = " ".join((looks.ROOT / "README.md").read_text().split())
    assert f"RMSE {regression['ours']['rmse_ratio']:.3f} times" in text
    assert f"Gaussian process ({regression['ours']['tables']:.0f} tables)" in text
    assert f"log loss of {classes['ours']['log_loss']:.3f}" in text
    assert f"boosted trees has {trees:.3f} ({classes['ours']['tables']:.0f} tables)" in text


def test_a_look_by_fewer_splits_records_how_many(one_sealed_table: list[str]) -> None:
    (table,) = comparison.sealed(Options(DataFolder(None), table_splits=2))
    assert any(note.startswith("Splits of each table: 2") for note in table.notes)
    assert [look.splits for look in looks.looks()] == [2]
    assert one_sealed_table == ["small"]
