"""Bounds of how much a reader of service and library must remember, which follow their figures down.

A figure above its bound fails, and so does one far below it, whose bound is then lowered.
"""

import math
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.http.openapi import Json
from app.identity import uuid7
from tests.architecture.executed_figures import Execution, SmallService, default_fit, executed, quick_fit
from tests.architecture.source_figures import (
    ROOT,
    Class,
    Module,
    copies,
    homonyms,
    installed,
    lines,
    lowered_constants,
    module,
    public_names_per_thousand_lines,
    replaced_parts,
    short_files,
    twins,
    without_tests,
)


@dataclass(frozen=True)
class Bound:
    """The maximum of a figure."""

    maximum: float
    step: float = 1
    """Bounds are multiples of it."""

    raised_for: str | None = None
    """Of a total: the feature whose commit raised it last. All others may only fall."""

    @property
    def slack(self) -> float:
        """The distance from the bound that a lower figure may have."""
        return max(0.02 * self.maximum, 2 * self.step)

    def violation(self, figure: float) -> str | None:
        """Return the reason why a figure violates the bound, None where it does not."""
        if figure > self.maximum:
            return f"expected at most {self.maximum:g}, got {figure:g}"
        if figure < self.maximum - self.slack:
            return f"got {figure:g}, which is far below {self.maximum:g}: lower the bound to {self.lowered(figure):g}"
        return None

    def lowered(self, figure: float) -> float:
        """Return the least multiple of the step that is not below a figure."""
        return math.ceil(round(figure / self.step, 6)) * self.step


BOUNDS = {
    # names and records
    "members copied by name": Bound(155),
    "copies of four members or more": Bound(31),
    "records with a twin in another folder": Bound(53),
    "class names of two classes or more": Bound(15),
    "public names per 1,000 lines": Bound(28.9, step=0.1),
    # files and layers
    "files below 40 lines": Bound(7),
    "files that lack a test file of their name": Bound(224),
    "parts that tests replace": Bound(158),
    "constants that tests lower": Bound(273),
    "import layers": Bound(31),
    # of a fit of 120 rows of 3 inputs
    "files executed by a default fit": Bound(68),
    "functions executed by a default fit": Bound(
        965, raised_for="hurdles; pools that keep all functions; announced alternatives"
    ),
    "files executed by a quick fit": Bound(62),
    "functions executed by a quick fit": Bound(732),
    # of a request
    "files executed by a prediction of a row": Bound(25),
    "functions executed by a prediction of a row": Bound(87),
    "files executed by an explained prediction": Bound(42),
    "functions executed by an explained prediction": Bound(157),
    "files executed by a submission of a training": Bound(53),
    "functions executed by a submission of a training": Bound(232),
    # totals
    "files": Bound(
        476,
        raised_for="a CSV's beginning, header, readings, markers and encodings; forms of numbers and of dates; "
        "averages over missing values, the rows they are drawn from and the regressions that weigh these; shares; "
        "hurdles; softmax regression; hosts of requests and of calls over gRPC; heads of audit chains; "
        "heartbeats and shares of processes; vacuum; contents that are made once",
    ),
    "lines": Bound(
        100_000,
        step=500,
        raised_for="forms of cells, headers, missing values of files; a positive class; noise by inputs; wide tables; "
        "missing values of rows to predict; shares and counts; texts of many values; a thousand classes; "
        "hurdles; hosts, makers of keys, invitations, heads of audit chains; bounds of decoded bytes and of waiting "
        "requests; plans of migrations, use of workers, vacuum; cells to the letter; hurdles as programs; jobs that "
        "start by notification; hosts of calls over gRPC",
    ),
}
"""All figures are of `app` and `library/relevance_bayes`, without generated files."""

OF_SOURCE_TEXT: dict[str, Callable[[tuple[Module, ...]], float]] = {
    "members copied by name": lambda modules: sum(copies(modules)),
    "copies of four members or more": lambda modules: len(copies(modules)),
    "records with a twin in another folder": lambda modules: len(twins(modules)),
    "class names of two classes or more": lambda modules: len(homonyms(modules)),
    "public names per 1,000 lines": public_names_per_thousand_lines,
    "files below 40 lines": lambda modules: len(short_files(modules)),
    "files that lack a test file of their name": lambda modules: len(without_tests(modules)),
    "parts that tests replace": lambda _: replaced_parts(),
    "constants that tests lower": lambda _: lowered_constants(),
    "files": len,
    "lines": lines,
}

LISTS: dict[str, Callable[[tuple[Module, ...]], list[str]]] = {
    "files below 40 lines": short_files,
    "files that lack a test file of their name": without_tests,
}
"""The files that some figures count."""

FITS = {"a default fit": default_fit, "a quick fit": quick_fit}

ROW: dict[str, Json] = {"x0": 1.0, "x1": 2.0, "x2": -1.0}

REQUESTS: dict[str, tuple[str, Callable[[str], Json]]] = {
    "a prediction of a row": ("/v1/models/small/predict", lambda _: {"rows": [ROW]}),
    "an explained prediction": (
        "/v1/models/small/predict",
        lambda _: {"columns": {name: [value] for name, value in ROW.items()}, "explain": 1},
    ),
    "a submission of a training": (
        "/v1/training-jobs",
        lambda dataset_id: {"dataset_id": dataset_id, "target": "y", "effort": "quick"},
    ),
}
"""Paths, and bodies by the dataset's id."""


def import_layers() -> int:
    """The number of layers of the containers of the import contracts."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return sum(len(contract["layers"]) for contract in contracts if contract.get("containers"))


def violations(figures: dict[str, float]) -> dict[str, str]:
    found = {name: BOUNDS[name].violation(figure) for name, figure in figures.items()}
    return {name: violation for name, violation in found.items() if violation is not None}


def figures_of(run: str, execution: Execution) -> dict[str, float]:
    return {f"files executed by {run}": len(execution.files), f"functions executed by {run}": len(execution.functions)}


@pytest.fixture(scope="module")
def modules() -> tuple[Module, ...]:
    return installed()


@pytest.fixture(scope="module")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallService]:
    file = tmp_path_factory.mktemp("ratchets") / "relevance.db"
    service = SmallService(shutil.copyfile(sqlite_template, file))
    yield service
    service.close()


@pytest.mark.parametrize("name", OF_SOURCE_TEXT)
def test_a_figure_of_the_source_text_is_within_its_bound(name: str, modules: tuple[Module, ...]) -> None:
    found = violations({name: OF_SOURCE_TEXT[name](modules)})
    assert found == {}, "\n".join([str(found), *(LISTS[name](modules) if name in LISTS else ())])


def test_the_number_of_import_layers_is_within_its_bound() -> None:
    assert violations({"import layers": import_layers()}) == {}


@pytest.mark.parametrize("run", FITS)
def test_a_fit_executes_no_more_files_and_functions_than_its_bounds(run: str) -> None:
    assert violations(figures_of(run, executed(FITS[run]))) == {}


@pytest.mark.parametrize("run", REQUESTS)
def test_a_request_executes_no_more_files_and_functions_than_its_bounds(run: str, service: SmallService) -> None:
    path, body = REQUESTS[run]
    assert violations(figures_of(run, service.execution(path, body(service.dataset_id)))) == {}


def test_every_bound_has_a_figure_and_totals_name_a_feature() -> None:
    executions = {name for run in (*FITS, *REQUESTS) for name in figures_of(run, Execution())}
    assert BOUNDS.keys() == OF_SOURCE_TEXT.keys() | executions | {"import layers"}
    raised = {name for name, bound in BOUNDS.items() if bound.raised_for}
    assert {"files", "lines"} <= raised <= {"files", "lines"} | executions


def test_bounds_follow_figures_down_with_a_slack_of_two_steps_or_two_percent() -> None:
    few, many, ratio = Bound(72), Bound(92_000, step=500), Bound(29.6, step=0.1)
    assert few.violation(73) == "expected at most 72, got 73"
    assert few.violation(72) is few.violation(70) is None
    assert few.violation(69) == "got 69, which is far below 72: lower the bound to 69"
    assert many.violation(90_160) is None
    assert str(many.violation(90_159)).endswith("lower the bound to 90500")
    assert ratio.violation(29.61) is not None
    assert str(ratio.violation(28.93)).endswith("lower the bound to 29")


SAMPLE = """
class Job:
    a: int
    b: int
    c: int
    d: int
    _e: int
    KIND: ClassVar[str]

def to_out(job, c, d):
    return JobOut(a=job.a, b=str(job.b), c=None if d else job.c, d=int(d)), Other(a=job.a, b=job.b), {"c": c}

def _convert(job, d):
    return {"a": job.a, "b": job.b, "c": job.c, "d": d.d, "e": job.a}
"""


def test_copies_records_and_names_of_a_sample_are_counted() -> None:
    here, there = module("app/jobs/records.py", SAMPLE), module("library/relevance_bayes/records/jobs.py", SAMPLE)
    neighbour = module("app/jobs/__init__.py", SAMPLE)
    assert copies([here]) == [4, 4]
    assert [one.members for one in here.classes] == [{"a", "b", "c", "d"}]
    assert twins([here, there]) == {0, 1}
    assert twins([here, neighbour]) == set()
    assert homonyms([here, there]) == {"Job"}
    assert homonyms([here]) == set()
    assert short_files([here, neighbour]) == ["app/jobs/records.py"]
    assert public_names_per_thousand_lines([here]) == 2000 / lines([here]) == 2000 / SAMPLE.count("\n")


def test_a_file_lacks_its_test_where_the_tree_of_tests_has_none_of_its_name() -> None:
    there = [
        module(path, "")
        for path in ("app/accounts/rate_limiter.py", "library/relevance_bayes/core/inference/factors.py")
    ]
    assert without_tests(there) == []
    new = module("library/relevance_bayes/core/new.py", "")
    assert without_tests([new, module("app/jobs/__init__.py", "")]) == [
        f"{new.path} lacks tests/library/core/test_new.py"
    ]


def test_records_with_less_than_six_tenths_of_their_members_in_common_are_no_twins() -> None:
    six, seven = frozenset("abcdef"), frozenset("abcdefg")
    record = Class("Job", "app/jobs", frozenset("abcd"))
    assert record.is_twin_of(Class("Job", "app/tasks", six))
    assert not record.is_twin_of(Class("Job", "app/tasks", seven))


def test_an_execution_has_the_named_functions_that_are_called_while_it_records() -> None:
    execution = Execution()
    with execution.recorded():
        new_id = uuid7()
    uuid7()
    assert new_id.version == 7
    assert execution.files == {str(ROOT / "app" / "identity.py")}
    assert "uuid7" in {name for _, name in execution.functions}
