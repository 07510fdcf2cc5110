from datetime import UTC, datetime

import numpy as np
import pytest

from relevance_bayes.records.values import Period
from relevance_bayes.tables.columns import TimestampArray
from relevance_bayes.tables.encoding import EncodedNumber, InputEncoding, column_names, column_units, encode_inputs
from relevance_bayes.tables.encoding.columns import DAY, PeriodStatistics, calendar_columns, phases

PERIODS: tuple[Period, ...] = ("year", "week", "day")


def seconds(*texts: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for text in texts])


def test_the_position_in_a_week_is_the_weekday_from_monday_on() -> None:
    days = seconds(*(f"2024-05-{day:02} 17:30" for day in range(1, 29)), "1901-02-03", "1969-12-29")
    weekdays = [np.datetime64(int(one), "s").astype(datetime).weekday() for one in days.tolist()]
    np.testing.assert_allclose(phases(days, "week") * 7.0, weekdays)


def test_the_position_in_a_day_is_its_time() -> None:
    np.testing.assert_allclose(phases(seconds("2024-05-01 06:00", "1950-01-01 18:00"), "day"), [0.25, 0.75])


def test_the_position_in_a_year_differs_from_the_day_of_the_year_by_a_day_and_a_half_at_most() -> None:
    texts = [f"{year}-{month:02}-15" for year in range(1904, 2097, 7) for month in range(1, 13)]
    found = phases(seconds(*texts), "year") * 365.2425
    expected = [datetime.fromisoformat(text).timetuple().tm_yday - 1 for text in texts]
    assert np.abs(found - expected).max() < 1.5


def test_the_last_day_of_a_year_is_beside_the_first_of_the_next() -> None:
    around = calendar_columns(seconds("2023-12-31", "2024-01-01", "2024-07-01"), ("year",))
    assert np.linalg.norm(around[0] - around[1]) < 0.02
    assert np.linalg.norm(around[0] - around[2]) > 1.9


def test_periods_are_inputs_of_which_the_values_span_two_and_within_which_they_differ() -> None:
    def periods(values: list[float]) -> tuple[Period, ...]:
        statistics = PeriodStatistics()
        for part in np.array_split(np.array(values), 3):
            statistics.add(part)
        return statistics.periods()

    assert periods([k * DAY for k in range(800)]) == ("year", "week")
    assert periods([k * DAY for k in range(20)]) == ("week",)
    assert periods([k * DAY for k in range(13)]) == ()
    assert periods([k * 7.0 * DAY for k in range(60)]) == ()
    assert periods([k * 7_000.0 for k in range(60)]) == ("day",)
    assert PeriodStatistics().periods() == ()


@pytest.mark.parametrize("indicator", [False, True])
def test_a_timestamp_has_its_number_then_sine_and_cosine_of_each_period(indicator: bool) -> None:
    column = EncodedNumber(
        "day", "timestamp", 1e9, 2e6, fill=1e9 if indicator else None, indicator=indicator, periods=PERIODS
    )
    encoding = InputEncoding((column, EncodedNumber("x", "timestamp", 0.0, 1.0, fill=None, indicator=False)))
    values = np.array([1.1e9, 1.2e9, np.nan]) if indicator else np.array([1.1e9, 1.2e9])
    others = TimestampArray(np.arange(float(len(values))))
    encoded, faults = encode_inputs(encoding, {"day": TimestampArray(values), "x": others})
    assert faults == ()
    np.testing.assert_allclose(encoded[:2, 0], [50.0, 100.0])
    turns = 2.0 * np.pi * np.array([phases(values[:2], period) for period in PERIODS])
    np.testing.assert_allclose(encoded[:2, 1:7:2], np.sin(turns).T)
    np.testing.assert_allclose(encoded[:2, 2:7:2], np.cos(turns).T)
    if indicator:
        np.testing.assert_array_equal(encoded[:, 7], [0.0, 0.0, 1.0])
        np.testing.assert_array_equal(encoded[2, 1:7], 0.0)
    np.testing.assert_array_equal(encoded[:, -1], np.arange(len(values)))
    names = column_names(encoding)
    assert names[:4] == ("day", "day (year, sine)", "day (year, cosine)", "day (week, sine)")
    assert names[7:-1] == (("day missing",) if indicator else ())
    assert len(names) == len(column_units(encoding)) == encoded.shape[1]
    assert encoding.derived == (1, 2, 3, 4, 5, 6)
    assert [names[place] for place in range(len(names)) if place not in encoding.derived] == list(
        column_names(encoding.without_periods())
    )
