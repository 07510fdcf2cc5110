"""Pages name every member of the unions that they list, and files and names that exist."""

import re
from pathlib import Path
from typing import get_args

import pytest

from relevance_bayes.core.dictionaries import Dictionary
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.likelihoods import LogVariance, TargetLikelihood
from relevance_bayes.records.webhooks import EVENT_TYPES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TYPES = {
    "kernels": {member().type for member in get_args(Kernel)},
    "likelihoods": {member().type for member in get_args(TargetLikelihood) if member is not LogVariance},
    "dictionaries": {member().type for member in get_args(Dictionary)},
}


def unknown_names(page: Path) -> list[str]:
    """The paths in a page that lead nowhere; and where a path follows a name, `name` in `path`, those names."""
    text = " ".join(page.read_text().split())
    paths = [path for path in re.findall(r"`((?:app|library|tests|docs)/[\w/.-]*)`", text) if "NAME" not in path]
    found = [path for path in paths if not (ROOT / path).exists()]
    for name, path in re.findall(r"`(\w+)` (?:in|of) `((?:app|library|tests)/[\w/.]+\.py)`", text):
        if "NAME" not in path and not re.search(rf"\b{name}\b", (ROOT / path).read_text()):
            found.append(f"{name} in {path}")
    return found


@pytest.mark.parametrize("union", TYPES)
def test_the_glossary_names_every_kernel_likelihood_and_dictionary(union: str) -> None:
    page = (DOCS / "reference" / "glossary.md").read_text()
    lacking = {name for name in TYPES[union] if f"`{name}`" not in page}
    assert lacking == set(), f"add each to the row of {union} in docs/reference/glossary.md"


def test_the_page_of_webhooks_names_the_subject_of_every_event() -> None:
    page = (DOCS / "how-to" / "webhooks.md").read_text()
    subjects = {event.partition(".")[0] for event in EVENT_TYPES}
    lacking = {subject for subject in subjects if not re.search(rf"`{subject}[`.]", page)}
    assert lacking == set(), "add a row for each to the table of events in docs/how-to/webhooks.md"


@pytest.mark.parametrize(
    "page", [ROOT / "CONTRIBUTING.md", DOCS / "how-to" / "extending.md"], ids=lambda page: page.name
)
def test_files_and_names_that_contributors_are_sent_to_exist(page: Path) -> None:
    assert unknown_names(page) == []
