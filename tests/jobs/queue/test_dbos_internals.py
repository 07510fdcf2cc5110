import re
from importlib.metadata import version
from pathlib import Path

import pytest

from app.jobs.queue import dbos_internals
from app.jobs.queue.dbos_internals import CHECKED, PollWaits

ROOT = Path(__file__).parents[3]
PRIVATE = re.compile(r"dbos\._|\._sys_db\b|\b_partition_worker_concurrency\b")


def test_the_installed_release_is_the_one_that_was_checked() -> None:
    assert version("dbos").split(".")[:2] == CHECKED.split(".")


def test_no_other_file_uses_private_members() -> None:
    users = {path.name for path in (ROOT / "app").rglob("*.py") if PRIVATE.search(path.read_text())}
    assert users == {"dbos_internals.py"}


def test_a_claimed_entry_counts_until_it_starts_which_ends_a_wait() -> None:
    waits = PollWaits()
    waits.claim("training", ["a", "b"])
    waits.claim("webhooks", ["c"])
    assert (waits.claimed("training"), waits.claimed("webhooks")) == (2, 1)
    waits.start("a")
    waits.wait(60.0)
    assert (waits.claimed("training"), waits.claimed("webhooks")) == (1, 1)


def test_an_entry_that_does_not_start_leaves_its_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbos_internals, "CLAIM_SECONDS", 0.0)
    waits = PollWaits()
    waits.claim("training", ["a"])
    assert waits.claimed("training") == 0
