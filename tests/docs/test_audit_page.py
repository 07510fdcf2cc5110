"""docs/reference/audit.md has each action, each member and each kind of actor."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

from relevance_bayes.records.audit import AUDIT_ACTIONS, ActorKind, AuditEntry

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "audit.md").read_text("utf-8")


def first_cells(section: str) -> list[str]:
    rows = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]


def test_the_page_has_each_action_in_order() -> None:
    assert first_cells(PAGE.partition("## Actions")[2].partition("\n## ")[0]) == list(AUDIT_ACTIONS)


def test_the_page_has_each_member_and_each_kind_of_actor() -> None:
    members, _, actors = PAGE.partition("## Members")[2].partition("\n## ")[0].partition("| `actor.kind`")
    assert set(first_cells(members)) == {field.name for field in fields(AuditEntry)}
    assert first_cells(actors) == list(get_args(ActorKind))
