"""The examples of docs/reference/api.md and of the section of docs/reference/jobs.md on idempotency."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from examples.tour.readme import differences, steps_of
from relevance_bayes.client import DEFAULT_URL

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGE = (REFERENCE / "api.md").read_text()
IDEMPOTENCY = (REFERENCE / "jobs.md").read_text().partition("## Idempotency")[2].partition("\n## ")[0]
PRINTED = re.compile(r"^```sh\n([^`]*)^```\n\n```text\n([^`]*)^```$", re.MULTILINE)

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the pages' commands need curl")


def output(command: str, url: str) -> str:
    command = command.replace(DEFAULT_URL, url)
    done = subprocess.run(("sh", "-c", command), cwd=ROOT, capture_output=True, timeout=120, check=True, text=True)
    return done.stdout


def test_the_responses_of_the_conventions_are_as_shown(kiosk_url: str) -> None:
    first, changed = steps_of(PAGE)
    assert differences(first.response, json.loads(output(first.command, kiosk_url))) == []
    assert differences(changed.response, json.loads(output(changed.command, kiosk_url))) == []
    page, following = (json.loads(output(command, kiosk_url)) for command in re.findall(r"curl .*limit=1.*", PAGE))
    assert page["after"] in re.findall(r"&after=(\w+)", PAGE)
    assert following["items"][0]["number"] == page["items"][0]["number"] + 1


def test_an_unchanged_version_is_not_sent_again(kiosk_url: str) -> None:
    ((command, shown),) = PRINTED.findall(PAGE)
    assert output(command, kiosk_url) == shown


def test_a_repeated_request_has_the_first_response(url: str) -> None:
    ((command, shown),) = PRINTED.findall(IDEMPOTENCY)
    assert output(command, url) == shown
    (refused,) = steps_of(IDEMPOTENCY)
    assert differences(refused.response, json.loads(output(refused.command, url))) == []
