import re
from importlib.metadata import version
from pathlib import Path

from app.jobs.queue.dbos_internals import CHECKED

ROOT = Path(__file__).parents[3]
PRIVATE = re.compile(r"dbos\._|\._sys_db\b|\b_partition_worker_concurrency\b")


def test_the_installed_release_is_the_one_that_was_checked() -> None:
    assert version("dbos").split(".")[:2] == CHECKED.split(".")


def test_no_other_file_uses_private_members() -> None:
    users = {path.name for path in (ROOT / "app").rglob("*.py") if PRIVATE.search(path.read_text())}
    assert users == {"dbos_internals.py"}
