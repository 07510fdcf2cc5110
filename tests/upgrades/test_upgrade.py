"""An upgrade without downtime: the last release serves while this one migrates and then serves beside it."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests.end_to_end.deployment import TIMEOUT, Api, Deployment, deployed
from tests.end_to_end.tables import sinc
from tests.upgrades.load import PREDICTION, Balancer, Load, running
from tests.upgrades.release import PRESENT, NoHistoryError, Release, installed, last_release
from tests.waiting import until

OPERATOR = "/v1/limits"
"""The path of recorded requests that only the operator's key may send: no other owner repeats them."""

WHILE_A_JOB_RUNS = "Resource in use"
"""The summary of a recorded request whose status is another one once a job, which may be faster here, has ended."""

SETTINGS = {"RELEVANCE_DRAIN_SECONDS": "1", "RELEVANCE_LOG_REQUESTS": "0"}
LONG = {"effort": "normal", "prior": None, "basis": None}

FIT: dict[str, object] = {
    "effort": "quick",
    "prior": {"type": "independent"},
    "basis": {"type": "kernel", "width": {"type": "fixed", "value": 3.0}},
}
"""All that a release may choose otherwise by default."""


@pytest.fixture(scope="session")
def before(tmp_path_factory: pytest.TempPathFactory) -> Release:
    try:
        tag = last_release()
        if tag is None:
            pytest.skip("there is no earlier release to upgrade from")
        return installed(tag, tmp_path_factory.mktemp("before"))
    except NoHistoryError as error:
        pytest.exit(f"`make upgrades` needs the last release. {error}", 1)


COPY_SECONDS = 0.2
"""A release before this one may refuse a key for a tenth of a second, if it has just read all keys."""


@dataclass
class Side:
    """One release, its processes, and the operator's key."""

    release: Release
    deployment: Deployment
    key: str = ""

    def api(self) -> Api:
        api = self.deployment.api(**SETTINGS)
        api.http.headers["Authorization"] = f"Bearer {self.key}"
        return api

    def worker(self) -> subprocess.Popen[str]:
        return self.deployment.start("worker", RELEVANCE_WORKER_SLOTS="2", RELEVANCE_CHECKPOINT_SECONDS="1")

    def new_key(self, owner: str) -> str:
        shown = self.deployment.run("keys", "create", owner, "--owner", owner, "--scope", "admin")
        found = re.search(r"rlv_\S+", shown)
        assert found is not None, shown
        time.sleep(COPY_SECONDS)
        return found[0]


@pytest.fixture
def sides(before: Release, empty_database_url: str, tmp_path: Path) -> Iterator[tuple[Side, Side]]:
    """The release before, by which the database is migrated, and this one."""
    with ExitStack() as stack:
        both = []
        for name, release in (("before", before), ("present", PRESENT)):
            folder = tmp_path / name
            folder.mkdir()
            both.append(Side(release, stack.enter_context(deployed(empty_database_url, folder, release.folder))))
        old, new = both
        old.deployment.run("migrate")
        old.key = new.key = old.new_key("local")
        yield old, new


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(TIMEOUT) == 0


def upload(api: Api, rows: int) -> str:
    response = api.http.post("/v1/datasets?name=sinc", json={"columns": sinc(rows)})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def submit(api: Api, dataset: str, **request: object) -> str:
    """A training job; the model has its id's name."""
    body = {"dataset_id": dataset, "target": "y", **FIT, **request}
    response = api.http.post("/v1/training-jobs", json=body)
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


def state(api: Api, job: str) -> str:
    return str(api.http.get(f"/v1/training-jobs/{job}").json()["state"])


def numbers(value: object) -> Iterator[float]:
    """All numbers of a value of JSON, in order."""
    match value:
        case dict():
            yield from numbers([*value.values()])
        case list():
            for member in value:
                yield from numbers(member)
        case int() | float():
            yield float(value)
        case _:
            raise AssertionError(f"expected numbers, got {value!r}")


def predictions(api: Api, job: str) -> dict[str, object]:
    """The response of the version that a job trains, once it has ended."""
    until(lambda: state(api, job) not in {"queued", "running"}, seconds=TIMEOUT)
    ended = api.http.get(f"/v1/training-jobs/{job}").json()
    assert ended["state"] == "succeeded", ended
    model, version = ended["version"]["model"], ended["version"]["version"]
    response = api.http.post(f"/v1/models/{model}/versions/{version}/predict", json=PREDICTION)
    assert response.status_code == 200, response.text
    found: dict[str, object] = response.json()
    return found


def test_no_request_and_no_job_is_lost_by_an_upgrade(sides: tuple[Side, Side]) -> None:
    old, new = sides
    recorded = [
        one
        for one in old.release.recorded()
        if not str(one["path"]).startswith(OPERATOR) and one["summary"] != WHILE_A_JOB_RUNS
    ]
    first, old_worker = old.api(), old.worker()
    dataset = upload(first, 60)
    job = submit(first, dataset, model="served")
    expected = predictions(first, job)
    balancer = Balancer((first,))
    commands = [old]  # of the release that has migrated the tables
    load = Load(balancer, (commands[-1].new_key(f"owner-{number}") for number in count()))
    probed = [first]
    with running(
        load,
        partial(load.replay, recorded),
        partial(load.predict, old.key, "/v1/models/served/predict", expected),
        partial(load.predict, old.key, "/v1/models/served/versions/1/predict", expected),
        partial(load.read, old.key),
        partial(load.probe, lambda: probed),
    ):
        load.goes_on()
        begun_before = submit(first, upload(first, 1_000), model="begun-before", **LONG)
        until(lambda: state(first, begun_before) == "running", seconds=TIMEOUT)
        new.deployment.run("migrate")
        commands.append(new)
        load.goes_on()  # the release before, on the new tables

        second, new_worker = new.api(), new.worker()
        probed.append(second)
        balancer.use(first, second)
        load.goes_on(with_replay=True)  # both, side by side

        stop(old_worker)  # whose jobs the other one takes over
        by_new = predictions(second, submit(first, dataset, model="finished-by-new"))
        assert predictions(first, begun_before) == predictions(second, begun_before)
        stop(new_worker)
        old_worker = old.worker()
        by_old = predictions(first, submit(second, dataset, model="finished-by-old"))
        new_worker = new.worker()
        stop(old_worker)
        load.goes_on()

        balancer.use(second)
        probed[:] = [second]
        stop(first.process)
        load.goes_on()  # this release alone
    assert load.failed == []
    assert by_old["predictions"] == expected["predictions"]
    # A release may order its sums otherwise, which changes the rounding of what it trains.
    assert [*numbers(by_new["predictions"])] == pytest.approx([*numbers(by_old["predictions"])], rel=1e-9)
