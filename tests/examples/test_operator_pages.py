"""The commands of the pages about keys, members, limits and the audit do what the pages state, in a shell."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from examples.demo.service import running_service
from examples.tour.data import KIOSK
from relevance_bayes.client import DEFAULT_URL, connect

pytestmark = pytest.mark.thorough

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
SERVES = "relevance serve\n"
"""The end of blocks that start a service of their own: `test_readme` and tests of settings start those."""


@dataclass(frozen=True)
class Shell:
    """A shell in a directory with a table, and the service and database that its commands use."""

    url: str
    directory: Path

    def run(self, block: str, *, key: str = "") -> str:
        """Run a block of a page with a key; return what it prints."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCE_")}
        own = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "RELEVANCE_URL": self.url,
            "RELEVANCE_DATABASE_URL": f"sqlite:///{self.directory / 'pages.db'}",
            **({"RELEVANCE_API_KEY": key} if key else {}),
        }
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.replace(DEFAULT_URL, self.url)],
            cwd=self.directory,
            env=inherited | own,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, (block, done.stdout, done.stderr)
        return done.stdout

    def created(self, *options: str) -> str:
        """Create a key with the options of `relevance keys create`; return its secret."""
        return secret(self.run(f"relevance keys create {' '.join(options)}"))


def secret(printed: str) -> str:
    """Return the only secret in an output."""
    (found,) = set(re.findall(r"rlv_[0-9A-Za-z_-]{20,}", printed))
    return str(found)


def blocks(page: str, language: str = "sh") -> list[str]:
    """Return the blocks of a page in a language, but those that start a service."""
    found = re.findall(rf"(?ms)\n\n```{language}\n(.*?)^```$", (HOW_TO / f"{page}.md").read_text())
    return [block for block in found if not block.endswith(SERVES)]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A service with a model `kiosk`, and no key yet."""
    directory = tmp_path_factory.mktemp("operators")
    header, *lines = KIOSK.read_text().splitlines()
    (directory / "rows.csv").write_text("\n".join([header, *lines[:5]]) + "\n")
    with running_service(directory / "pages.db", log=directory / "service.log") as url:
        with connect(url) as service:
            dataset = service.upload(KIOSK)
            job = service.trainings.wait(
                service.trainings.submit({"dataset_id": dataset.id, "target": "litres", "effort": "quick"}).id
            )
            assert job.state == "succeeded", job
        yield Shell(url, directory)


@pytest.fixture(scope="module")
def operator(shell: Shell) -> str:
    """The first key, by the first command of the page of keys."""
    first, *_ = blocks("api-keys")
    return secret(shell.run(first))


def test_keys_are_created_listed_rotated_and_revoked(shell: Shell, operator: str) -> None:
    first, use, more, rotate, revoke, over_http = blocks("api-keys")
    assert first == "relevance keys create operator --scope admin\n"
    assert "kiosk" in shell.run(use.replace("rlv_...", operator))
    assert secret(shell.run(more)) != operator
    (key,) = set(re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", shell.run("relevance keys create nightly --scope read")))
    assert secret(shell.run(rotate.replace("KEY", key)))
    shell.run(revoke.replace("KEY", key))
    assert '"secret":"rlv_' in shell.run(over_http, key=operator)


def test_limits_of_an_owner_are_set_shown_and_replaced(shell: Shell, operator: str) -> None:
    in_database, over_http = blocks("owner-limits")
    printed = shell.run(in_database)
    (shown,) = (text for text in blocks("owner-limits", "") if text.startswith("Owner acme"))
    limits = re.compile(r"(?m)^(\w[\w ]*?) {2,}(\S+) +(settings|this owner)")
    assert limits.findall(printed) == 2 * limits.findall(shown)  # `set` prints what `show` does
    assert len(limits.findall(shown)) == 7
    assert '"requests_per_second":500' in shell.run(over_http, key=operator)
    assert "settings" in shell.run("relevance limits reset acme\nrelevance limits show acme")


def test_another_team_acts_in_the_project_until_it_is_removed(shell: Shell, operator: str) -> None:
    invite, accept, act, request, remove, look = blocks("sharing")
    assert re.search(r"(?m)^vision +viewer\b", shell.run(invite, key=operator))
    accepting = shell.created("vision", "--owner", "vision", "--scope", "train", "--scope", "read")
    assert "local" in shell.run(accept, key=accepting)
    theirs = shell.created("vision", "--owner", "vision", "--scope", "predict", "--scope", "read")
    assert "local" in shell.run(act, key=theirs)
    assert (shell.directory / "predicted.csv").read_text().count("\n") == 6
    assert '"name":"kiosk"' in shell.run(request, key=theirs)
    (code,) = blocks("sharing", "python")
    table = {"rows": [{"temperature": 20.0, "weather": "sunny", "holiday": False}]}
    exec(code.replace(DEFAULT_URL, shell.url), {"key": theirs, "table": table})
    shell.run(remove, key=operator)
    shell.run(look, key=operator)


def test_the_audit_is_listed_exported_and_verified(shell: Shell, operator: str) -> None:
    listed, exported, verified, with_heads, heads_verified = blocks("audit")
    assert '"items":[' in shell.run(listed, key=operator)
    shell.run(exported, key=operator)
    assert (shell.directory / "audit.csv").read_text().startswith("owner,number,at,action")
    assert re.search(r"(?m)^local +\d", shell.run(verified))
    heads = shell.directory / "heads.ndjson"
    stop = f"< <(for _ in {{1..1000}}; do [ -s {heads} ] && break; sleep 0.2; done)"
    started = with_heads.replace("relevance worker\n", f"relevance worker --until-eof {stop}\n")
    shell.run(started.replace("/srv/audit/heads.ndjson", str(heads)))
    vouched = shell.run("exec 2>&1\n" + heads_verified.replace("/srv/audit/heads.ndjson", str(heads)))
    assert "The heads vouch for the entries up to those of" in vouched
