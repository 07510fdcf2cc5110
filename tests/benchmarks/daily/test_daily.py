from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.scoring import PredictedNumbers
from benchmarks.daily import catalogue, ours, peer
from benchmarks.daily.catalogue import DAILY, DailyTable
from benchmarks.daily.splits import TEST_SHARE, split_of
from benchmarks.files import NotRun
from benchmarks.tables.families import family, half
from benchmarks.tables.reserved import is_reserved
from relevance_bayes.tables.columns import kind_of
from relevance_bayes.tasks.supervised.request import SupervisedRequest

SALES = DailyTable("shop/sales", "regression", "sold", (), "a date, a text, gaps")
ROWS = 120


@pytest.fixture
def sales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DailyTable:
    """Sales that depend on the day of the week, of some shops, with gaps and one shop that is rare."""
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    rng = np.random.default_rng(3)
    days = np.datetime64("2024-01-01") + np.arange(ROWS)
    lines = ["day,shop,price,sold"]
    for place, day in enumerate(days.tolist()):
        shop = "kiosk" if place == 7 else rng.choice(["north", "south"])
        price = "" if place % 10 == 0 else f"{rng.uniform(1.0, 2.0):.3f}"
        lines.append(f"{day.isoformat()},{shop},{price},{10.0 * (day.weekday() > 4) + rng.normal():.3f}")
    SALES.file.write_text("\n".join(lines) + "\n", "utf-8")
    return SALES


def test_no_table_is_reserved_or_of_a_sealed_family() -> None:
    assert len(DAILY) == 10
    assert [table.name for table in DAILY if is_reserved(table.name) or half(family(table.name)) == "sealed"] == []


def test_a_split_has_the_kinds_that_an_upload_infers(sales: DailyTable) -> None:
    split = split_of(sales, 0)
    assert {name: kind_of(column) for name, column in split.learned.items()} == {
        "day": "timestamp",
        "shop": "category",
        "price": "number",
        "sold": "number",
    }
    assert (len(split.t), len(split.t_test)) == (ROWS * (1 - TEST_SHARE), ROWS * TEST_SHARE)
    assert not set(split.t.tolist()) & set(split.t_test.tolist())
    assert split_of(sales, 0).digest == split.digest != split_of(sales, 1).digest


def test_without_its_file_a_table_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    with pytest.raises(NotRun, match="make tables"):
        split_of(SALES, 0)


def test_the_peer_predicts_all_rows_with_parts_of_the_date(sales: DailyTable) -> None:
    split = split_of(sales, 0)
    _, predicted = peer.predictions(split)
    assert isinstance(predicted, PredictedNumbers)
    assert np.sqrt(np.mean((predicted.mean - split.t_test) ** 2)) < 0.6 * split.t_test.std()


def test_ours_predicts_the_rows_whose_categories_occurred(sales: DailyTable) -> None:
    split = split_of(sales, 0)
    request = replace(SupervisedRequest(ours.DEFAULTS.dataset_id, ""), effort="quick")
    _, predicted_rows, predicted = ours.predictions(split, request)
    assert isinstance(predicted, PredictedNumbers)
    assert len(predicted.mean) == len(predicted_rows) >= len(split.t_test) - 1
