"""Commands of the pages for operators, run by a shell beside a running service, and the runbook beside the alerts."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.database.engine import MAX_OVERFLOW, POOL_SIZE
from relevance_bayes.client.responses import Json
from tests.conftest import migrated_database
from tests.deploy.manifests import read
from tests.deploy.prometheus_server import ALERTS
from tests.docs.test_site import requests_of
from tests.end_to_end.deployment import TIMEOUT, Deployment, deployed
from tests.end_to_end.tables import sinc
from tests.waiting import until

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = ("operations", "runbook")
KEY = "rlv_a key of sixteen characters or more"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (DOCS / "how-to" / f"{name}.md").read_text()


def commands(name: str) -> list[str]:
    """The blocks of commands of a page."""
    return BLOCK.findall(page(name))


@pytest.fixture(scope="module")
def deployment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A service with a key, which has refused a request with 503, and a model that has predicted."""
    directory = tmp_path_factory.mktemp("service")
    with migrated_database("sqlite", request, directory) as url, deployed(url, directory) as deployment:
        spool = directory / "spool"
        spool.mkdir()
        api = deployment.api(RELEVANCE_SPOOL_DIRECTORY=str(spool))
        assert api.http.get("/health/ready?for=training").status_code == 503
        deployment.start("worker", RELEVANCE_SPOOL_DIRECTORY=str(spool))
        dataset = api.calls.create_dataset(sinc(40), name="sinc")
        api.train(dataset_id=dataset.id, target="y")
        api.calls.outcomes.record("sinc", 1.0)
        rows: dict[str, Json] = {"columns": {"x": [0.01 * number for number in range(300)]}}
        api.calls.predict("sinc", rows, row_ids=[str(number) for number in range(300)])
        until(lambda: api.calls.outcomes.send("sinc", {"0": 0.5}).unknown == 0, seconds=TIMEOUT)
        until(lambda: any(spool.glob("relevance-worker-*.health")), seconds=TIMEOUT)
        migration = deployment.environment(RELEVANCE_INITIAL_API_KEY=KEY)
        subprocess.run([sys.executable, "-m", "app.cli", "migrate"], env=migration, check=True)
        yield deployment


@pytest.fixture(scope="module")
def shell(deployment: Deployment) -> dict[str, str]:
    """The environment of an operator's shell: of the service and of a client."""
    folder = deployment.directory / "bin"
    folder.mkdir()
    (folder / "relevance").write_text(f'#!/bin/sh\nexec {sys.executable} -m app.cli "$@"\n')
    (folder / "relevance").chmod(0o755)
    (folder / "python").symlink_to(sys.executable)
    check = Path("app", "jobs", "worker", "health_check.py")
    (deployment.directory / check).parent.mkdir(parents=True)
    shutil.copyfile(ROOT / check, deployment.directory / check)
    shutil.copyfile(next(deployment.directory.glob("api-*.log")), deployment.directory / "api.log")
    return deployment.environment(
        PATH=f"{folder}:{os.environ['PATH']}",
        PYTHONPATH=f"{ROOT}:{ROOT / 'library'}",
        RELEVANCE_SPOOL_DIRECTORY=str(deployment.directory / "spool"),
        RELEVANCE_API_KEY=KEY,
        RELEVANCE_URL=str(deployment.apis[0].http.base_url),
    )


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, id=f"{name} {number}")
        for name in PAGES
        for number, command in enumerate(commands(name), start=1)
    ],
)
def test_each_command_succeeds(command: str, deployment: Deployment, shell: dict[str, str]) -> None:
    (api,) = deployment.apis
    command = command.replace("http://127.0.0.1:8000", str(api.http.base_url).rstrip("/"))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=deployment.directory,
        env=shell,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout or "health_check" in command
    assert not re.search(r"\b401\b", done.stdout)


def test_all_pages_have_commands() -> None:
    assert {name: len(commands(name)) for name in PAGES} == {"operations": 3, "runbook": 16}


def alerts() -> dict[str, str]:
    """The alerts, and the addresses of their sections."""
    (rules,) = read(ALERTS.read_text())
    found = [rule for group in rules["groups"] for rule in group["rules"]]
    return {str(rule["alert"]): str(rule["annotations"]["runbook_url"]) for rule in found}


def test_each_alert_has_its_section_and_each_section_its_alert() -> None:
    assert re.findall(r"^## (.+)$", page("runbook"), re.MULTILINE) == list(alerts())
    assert {name: f"/guide/how-to/runbook.html#{name.lower()}" for name in alerts()} == alerts()


def test_each_section_has_commands_and_remedies() -> None:
    for section in re.split(r"^## ", page("runbook"), flags=re.MULTILINE)[1:]:
        assert BLOCK.search(section), section
        assert re.search(r"^- \*\*", section, re.MULTILINE), section


def test_the_addresses_of_the_runbook_are_on_the_site(tmp_path: Path) -> None:
    build = (sys.executable, "-m", "sphinx", "-W", "-q", "-d", tmp_path / "doctrees", DOCS, tmp_path / "guide")
    subprocess.run(build, check=True)
    for address in alerts().values():
        file, _, section = address.removeprefix("/guide/").partition("#")
        text = (tmp_path / "guide" / file).read_text()
        assert f'id="{section}"' in text
        assert requests_of(text).linked


def test_the_address_of_the_guide_is_set_as_documented(tmp_path: Path) -> None:
    shutil.copyfile(ALERTS, tmp_path / "alerts.yml")
    (command,) = (one for one in commands("monitoring") if one.startswith("sed"))
    subprocess.run(["bash", "-euc", command], cwd=tmp_path, check=True)
    links = re.findall(r"runbook_url: (\S+)", (tmp_path / "alerts.yml").read_text())
    assert links == [f"https://relevance.example.com{address}" for address in alerts().values()]


def test_the_connections_of_a_process_are_those_of_its_pool() -> None:
    size = POOL_SIZE + MAX_OVERFLOW["postgresql"]
    assert f"up to {size} connections for its transactions, and two that receive notifications" in page("operations")
    assert f"`max_connections` to {size + 2} for each process" in page("operations")
    assert f"to {8 * (size + 2) + 10} for 4 API processes and\n4 workers" in page("operations")
