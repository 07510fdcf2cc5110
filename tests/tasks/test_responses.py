"""Responses have each member from the plan or the report: none is a default of its record."""

from dataclasses import fields
from datetime import UTC, datetime

import pytest

from app.identity import uuid7
from app.registry.records import Version
from app.tasks.responses import version_members, version_record
from tests.exports.trained import trained


@pytest.mark.parametrize("name", ["constant", "gaussian learned, process"])
def test_no_member_of_a_version_is_left_to_its_default(name: str) -> None:
    version = Version(uuid7(), "local", "twin", 3, None, datetime(2026, 1, 2, tzinfo=UTC), trained(name).report)
    names = {one.name for one in fields(version_record(version))}
    assert names <= version_members(version).keys()
