"""docs/reference/errors.md has every type of problem with its status."""

import re
from pathlib import Path

from app.http.cross_origin import REFUSED
from app.http.problems import FORBIDDEN, FRAMEWORK, KINDS, UNAUTHENTICATED, UNEXPECTED, ProblemKind
from app.jobs.worker import attempts
from app.server import protocol

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "errors.md").read_text()
RESPONSES, JOBS = PAGE.split("## Errors of jobs")
IN_LOGS_ALONE = "client-closed-request"

SERVER = (protocol.MALFORMED, protocol.REQUEST_TIMEOUT, protocol.URI_TOO_LONG, protocol.HEADERS_TOO_LARGE)


def slugs_of_jobs() -> set[str]:
    """The types in the calls of `JobFailure` and `TrainingFailedError`, and those by the errors of a fit."""
    folders = (ROOT / "app", ROOT / "library" / "relevance_bayes" / "tasks")
    source = "".join(path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py"))
    named = re.findall(r'\bJobFailure\(\s*"([a-z-]+)"', source)
    raised = re.findall(r"TrainingFailedError\((?:(?!TrainingFailedError)[\s\S]){0,400}?kind=([^\n]*)", source)
    return {*named, *(slug for kinds in raised for slug in re.findall(r'"([a-z]+-[a-z-]+)"', kinds))} | {
        slug for slug, *_ in attempts._ADVICE.values()
    }


def test_the_page_has_every_type_of_a_response_with_its_status() -> None:
    kinds: set[ProblemKind] = {*KINDS.values(), *FRAMEWORK.values(), UNAUTHENTICATED, FORBIDDEN, UNEXPECTED, REFUSED}
    expected = {(kind.status, kind.slug) for kind in {*kinds, *SERVER} if kind.slug != IN_LOGS_ALONE}
    listed = {(int(status), slug) for status, slug in re.findall(r"^\| (\d+) \| `([a-z-]+)`", RESPONSES, re.MULTILINE)}
    assert listed == expected
    assert f"`{IN_LOGS_ALONE}` (499)" in RESPONSES


def test_the_page_has_every_type_of_a_failed_job() -> None:
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", JOBS, re.MULTILINE))
    assert len(listed) > 15
    assert listed == slugs_of_jobs()
