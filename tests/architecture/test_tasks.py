"""Each task has all its parts, each record is of one task, and no other code depends on the task of a record."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest

from app.jobs.child import FOR_FITS
from app.tasks import TASKS, task_of
from app.tasks.task import Record, Task
from relevance_bayes.documents.reports import ExportedVersion
from relevance_bayes.records.values import AnyTask
from relevance_bayes.tasks.union import Predictor, TrainingPlan, TrainingRequest, VersionReport

ROOT = Path(__file__).parents[2]
PACKAGES = [path.parent.name for path in (ROOT / "library/relevance_bayes/tasks").glob("*/fit.py")]


def package_of(task: Task) -> str:
    return type(task).__module__.split(".")[-1]


def test_each_package_has_one_task_in_the_union() -> None:
    assert sorted(map(package_of, TASKS)) == sorted(PACKAGES)


def classes_of(union: object) -> list[type]:
    """The classes of a union, of which each may be annotated."""
    if get_origin(union) is Annotated:
        return classes_of(get_args(union)[0])
    return [union] if isinstance(union, type) else [one for member in get_args(union) for one in classes_of(member)]


@pytest.mark.parametrize("union", [TrainingRequest, TrainingPlan, VersionReport, Predictor])
def test_each_member_of_a_union_of_records_is_of_one_task(union: object) -> None:
    members = classes_of(union)
    assert Counter(record for task in TASKS for record in task.records if record in members) == Counter(members)


def test_each_name_is_of_one_task_whose_records_have_it() -> None:
    assert sorted(name for task in TASKS for name in task.names) == sorted(get_args(AnyTask))
    for task in TASKS:
        report = next(record for record in task.records if record in get_args(VersionReport))
        assert get_args(get_type_hints(report)["task"]) == task.names


def test_each_exported_version_is_of_the_task_of_its_report() -> None:
    exported = {get_type_hints(one)["report"]: one for one in get_args(ExportedVersion)}
    for task in TASKS:
        returned = get_type_hints(type(task).exported)["return"]
        report = next(record for record in task.records if record in get_args(VersionReport))
        assert returned in (exported.pop(report, ExportedVersion), ExportedVersion)
    assert not exported


def test_a_child_loads_the_fit_of_each_task_before_one_comes() -> None:
    assert {f"relevance_bayes.tasks.{package}.fit" for package in PACKAGES} <= set(FOR_FITS)
    assert all(f"relevance_bayes.tasks.{package}.fit" in sys.modules for package in PACKAGES)


class NewTask(Task):
    """One that lacks all but its names."""

    names = ("regression",)


def test_a_task_without_one_of_its_parts_is_refused_by_name() -> None:
    parts = {name for name in vars(Task) if name in Task.__abstractmethods__}
    assert parts >= {"records", "prepare", "model", "outputs", "exported", "imported"}
    with pytest.raises(TypeError) as refused:
        NewTask()  # type: ignore[abstract]
    assert set(re.findall(r"\w+", str(refused.value))) >= parts - {"names"}


def test_a_record_finds_its_task() -> None:
    for task in TASKS:
        for record in task.records:
            assert task_of(object.__new__(record)) is task


# Branches on tasks

NAMES = frozenset(get_args(AnyTask))

PREFIXES = ("Supervised", "Approximation", "Image", "Components")
PREDICTIONS = ("Regression", "Classification", "Value", *PREFIXES)
RECORDS = ("Request", "Plan", "Report", "Predictor", "Fit", "Training", "Model", "Version", "Document", "Content")
MEMBERS = frozenset(
    {
        *(prefix + kind for prefix in PREFIXES for kind in RECORDS),
        *(f"{kind}Prediction" for kind in PREDICTIONS),
        *(f"Exported{prefix}" for prefix in PREFIXES),
        *(f"New{prefix}Version" for prefix in PREFIXES),
    }
)
"""Classes that are of one task."""

REMAINING: Mapping[str, tuple[int, str]] = {
    "app/prediction/routes.py": (1, "the image of a version is an endpoint of one task"),
    "app/evaluation/jobs.py": (3, "metrics are of numbers or of classes; only versions with a target are judged"),
    "app/exports/onnx_file/model.py": (1, "encodes a tagged union, in one place: only exports know ONNX"),
    "app/exports/python_file/program.py": (1, "encodes a tagged union, in one place"),
    "app/prediction/dataset_rows.py": (1, "only versions with a target are judged"),
    "library/relevance_bayes/cli/predictions.py": (1, "the commands print versions by their records"),
    "library/relevance_bayes/cli/prediction_output.py": (1, "columns on the terminal, in one place"),
    "library/relevance_bayes/cli/verdict.py": (1, "the sentences on a version are of its task"),
    "library/relevance_bayes/cli/versions.py": (3, "the commands print versions by their records"),
    "library/relevance_bayes/client/encodings.py": (2, "images are of one task"),
    "library/relevance_bayes/documents/validation/supervised.py": (3, "a part of the supervised task"),
    "library/relevance_bayes/documents/reports.py": (2, "what the report has of the document is of its task"),
    "library/relevance_bayes/documents/schema.py": (3, "encodes and decodes a tagged union, in one place"),
    "library/relevance_bayes/estimators/classifier.py": (1, "an estimator is of one task"),
    "library/relevance_bayes/estimators/regressor.py": (1, "an estimator is of one task"),
    "library/relevance_bayes/estimators/fitting.py": (2, "an estimator is of one task, and reads no others' documents"),
    "app/web/report.py": (
        3,
        "a report embeds the responses of the page's view, which has figures of its own for each task",
    ),
    "app/web/figures.py": (1, "only versions that predict from rows have figures of rows"),
}
"""Files outside of the folders of tasks that distinguish tasks: the number of places, and why."""


def is_member(node: ast.expr) -> bool:
    return any(
        (isinstance(one, ast.Name) and one.id in MEMBERS) or (isinstance(one, ast.Attribute) and one.attr in MEMBERS)
        for one in ast.walk(node)
    )


def is_name(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value in NAMES


def is_branch_on_task(node: ast.AST) -> bool:
    """Return whether a node is a branch on a task's classes or on values of `task`."""
    match node:
        case ast.Match(subject=subject, cases=cases):
            patterns = [one for case in cases for one in ast.walk(case.pattern)]
            named = "task" in ast.unparse(subject)
            return any(
                (isinstance(one, ast.MatchClass) and is_member(one.cls))
                or (named and isinstance(one, ast.MatchValue) and is_name(one.value))
                for one in patterns
            )
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind]):
            return is_member(kind)
        case ast.Compare(left=left, comparators=comparators):
            sides = [left, *comparators]
            return any(map(is_name, sides)) and any("task" in ast.unparse(side) for side in sides)
        case ast.Dict(keys=keys):
            return sum(key is not None and (is_name(key) or is_member(key)) for key in keys) > 1
    return False


def branches(folder: str) -> Iterator[str]:
    """The file of each branch."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if is_branch_on_task(node):
                yield path.relative_to(ROOT).as_posix()


def test_tasks_are_distinguished_by_their_classes_alone() -> None:
    found = Counter(path for path in [*branches("app"), *branches("library")] if "/tasks/" not in path)
    assert found == {path: count for path, (count, _) in REMAINING.items()}


@pytest.mark.parametrize(
    "source",
    [
        "match plan:\n    case ImagePlan(): pass",
        "match one.task:\n    case 'image': pass",
        "isinstance(report, SupervisedReport | ImageReport)",
        "version.task == 'components'",
        "{'regression': 1, 'classification': 2}",
        "{models.ImageReport: 1, models.ComponentsReport: 2}",
    ],
)
def test_each_way_to_distinguish_tasks_is_found(source: str) -> None:
    assert any(map(is_branch_on_task, ast.walk(ast.parse(source))))


def test_each_class_of_a_record_is_known_as_one_of_a_task() -> None:
    assert {record.__name__ for record in (*classes_of(Record), *get_args(ExportedVersion))} <= MEMBERS
