"""Requests and responses of pages whose service is not started are those that were recorded."""

import json
import re
from pathlib import Path

import pytest

from app.http.openapi import recorded
from examples.tour.readme import differences, steps_of
from tests.docs.members import object_of
from tests.end_to_end.exchanges import UUID

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["reference/errors.md", "how-to/api-keys.md", "how-to/webhooks.md"])
def test_the_example_was_recorded(page: str) -> None:
    (step,) = steps_of((DOCS / page).read_text())
    (path,) = re.findall(r"http://127.0.0.1:8000(/\S+)", step.command)
    (body,) = re.findall(r"-d '(.*)'", step.command, re.DOTALL)
    sent = (f"POST {path}", _without_ids(json.loads(body)))
    found = [one["response"] for one in recorded() if (one["operation"], _without_ids(one["request"])) == sent]
    assert len(found) == 1
    assert differences(step.response, found[0]) == []
    assert object_of(step.response).get("detail") == object_of(found[0]).get("detail")


def _without_ids(value: object) -> str:
    return UUID.sub("", json.dumps(value, sort_keys=True))
