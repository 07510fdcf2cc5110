"""The versions that the calls of the Open Inference Protocol are tested with, over HTTP and over gRPC."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.identity import BUILT_IN_OWNER as OWNER
from relevance_bayes.core.priors import GaussianProcess
from tests.applications import SmallParts, filled_template
from tests.small_models import small_version, version_of_known_noise, version_of_three_classes
from tests.tasks.supervised.test_one_row import version_of_numbers


@pytest.fixture(scope="module")
def module_template(parts_template: Path) -> Path:
    """The others beside a model of five numbers, one of three classes and one of rows with their own noise."""

    def fill(parts: SmallParts) -> None:
        of_numbers = version_of_numbers(GaussianProcess())
        plan = replace(of_numbers.report.plan, model="numbers")
        parts.stored.put_version(OWNER, replace(of_numbers, report=replace(of_numbers.report, plan=plan)), number=1)
        parts.stored.put_version(OWNER, version_of_three_classes(), number=1)
        parts.stored.put_version(OWNER, version_of_known_noise(), number=1)
        parts.stored.put_version(OWNER, small_version(), number=2)
        parts.aliases.move(OWNER, "small", "champion", to=1)

    return filled_template(parts_template, "inference.db", fill)
