"""The functions that the page of the architecture names exist, and a request passes those of its way."""

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.executed_figures import SmallService, default_fit, executed

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/architecture.md").read_text()
STEP = re.compile(r"`([\w/]+\.py)`\s+`([\w.]+)`")

Function = tuple[str, str]


def functions_of(title: str) -> list[Function]:
    """Return the files and functions of the steps below a title."""
    text = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [(file, name) for file, name in STEP.findall(text)]


ROW, TRAINING = functions_of("The way of one row"), functions_of("The way of a training")

FIRST_OF_WORKER = ("app/jobs/queue/engine.py", "Engine._start")


@pytest.fixture(scope="module")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallService]:
    file = tmp_path_factory.mktemp("ways") / "relevance.db"
    service = SmallService(shutil.copyfile(sqlite_template, file))
    yield service
    service.close()


def defined_in(file: str) -> set[str]:
    """Return the qualified names of the functions of a file."""
    tree = ast.parse((ROOT / file).read_text())
    methods = {
        f"{each.name}.{method.name}"
        for each in tree.body
        if isinstance(each, ast.ClassDef)
        for method in each.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return methods | {each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize(("file", "name"), [*ROW, *TRAINING])
def test_a_function_that_is_named_exists(file: str, name: str) -> None:
    assert name in defined_in(file)


def test_one_row_passes_the_functions_of_its_way(service: SmallService) -> None:
    execution = service.execution("/v1/models/small/predict", {"rows": [{"x0": 1.0, "x1": 2.0, "x2": 3.0}]})
    assert missing(ROW, execution.functions) == []


def test_a_training_passes_the_functions_of_its_way(service: SmallService) -> None:
    submission = service.execution("/v1/training-jobs", {"dataset_id": service.dataset_id, "target": "y"})
    in_api = TRAINING[: TRAINING.index(FIRST_OF_WORKER)]
    assert missing(in_api, submission.functions) == []
    of_fit = [step for step in TRAINING if step[0].startswith("library/") and step not in in_api]
    assert len(of_fit) >= 5
    assert missing(of_fit, executed(default_fit).functions) == []


def missing(steps: list[Function], functions: set[Function]) -> list[Function]:
    """Return the steps that were not executed."""
    return [step for step in steps if (f"{ROOT}/{step[0]}", step[1]) not in functions]
