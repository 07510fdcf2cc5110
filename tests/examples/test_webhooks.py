"""The claims of docs/how-to/webhooks.md."""

import json
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter

from app.webhooks.messages import MessageOut
from app.webhooks.messages import TestMessageOut as WebhookTest
from app.webhooks.records import PAUSES, new_secret, signature
from relevance_bayes.records.webhooks import DeliveryError
from tests.examples.python_blocks import BLOCK

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "webhooks.md").read_text()
UNITS = {"s": 1, "min": 60, "h": 3600}
BODY = b'{"type":"training_job.failed"}'


@pytest.fixture
def is_genuine() -> Callable[[str, Mapping[str, str], bytes], bool]:
    """The page's own."""
    names: dict[str, Callable[[str, Mapping[str, str], bytes], bool]] = {}
    (block,) = BLOCK.findall(PAGE)
    assert len(block.split("\n\n")[1].splitlines()) <= 10
    exec(block, names)
    return names["is_genuine"]


def headers(secret: str, body: bytes, *, age: float = 0.0) -> dict[str, str]:
    stamp = int(time.time() - age)
    return {
        "webhook-id": "one",
        "webhook-timestamp": str(stamp),
        "webhook-signature": f"v1a,other {signature(secret, 'one', stamp, body)}",
    }


def test_the_pages_program_knows_our_messages_from_others(
    is_genuine: Callable[[str, Mapping[str, str], bytes], bool],
) -> None:
    secret = new_secret()
    sent = headers(secret, BODY)
    assert is_genuine(secret, sent, BODY)
    assert not is_genuine(secret, sent, BODY + b" ")
    assert not is_genuine(new_secret(), sent, BODY)
    assert not is_genuine(secret, {**sent, "webhook-id": "two"}, BODY)
    assert not is_genuine(secret, {**sent, "webhook-timestamp": str(int(time.time()) - 1)}, BODY)
    assert not is_genuine(secret, headers(secret, BODY, age=301), BODY)


def test_the_pages_pauses_are_those_that_are_made() -> None:
    (row,) = re.findall(r"^\| after a pause of \| none \| (.*) \|$", PAGE, re.MULTILINE)
    shown = [int(number) * UNITS[unit] for number, unit in (cell.split() for cell in row.split(" | "))]
    assert shown == list(PAUSES)


def test_the_pages_obstacles_are_all_there_are() -> None:
    assert set(re.findall(r"^\| `([a-z-]+)` \| [A-Z]", PAGE, re.MULTILINE)) >= set(get_args(DeliveryError))


def test_the_pages_messages_are_some() -> None:
    _, ended, tried = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert TypeAdapter(MessageOut).validate_json(json.dumps(json.loads(ended)), strict=True).data.version is not None
    assert TypeAdapter(WebhookTest).validate_json(json.dumps(json.loads(tried)), strict=True).type == "webhook.test"
