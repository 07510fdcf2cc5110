"""The database's password changes while an API process and a worker run: no request and no job fails."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Engine

from tests.database.test_passwords import ROLE, Administrator, administrator
from tests.end_to_end.deployment import Api, deployed
from tests.end_to_end.tables import sinc
from tests.waiting import until

__all__ = ["administrator"]

N_CLIENTS = 12
"""More than the connections that the pool keeps, so that it opens new ones all the time."""


@pytest.mark.parametrize("database", ["postgresql"])
def test_no_request_and_no_job_fails_while_the_password_of_the_database_changes(
    engine: Engine, administrator: Administrator, tmp_path: Path
) -> None:
    file, logs = tmp_path / "password", tmp_path / "logs"
    logs.mkdir()
    file.write_text("first")
    url = engine.url.set(username=ROLE, password=None).render_as_string(hide_password=False)
    with deployed(url, logs) as deployment:
        settings = {"RELEVANCE_DATABASE_PASSWORD_FILE": str(file), "RELEVANCE_LOG_REQUESTS": "0"}
        worker = deployment.start("worker", **settings)
        api = deployment.api(**settings)
        dataset = str(api.calls.create_dataset(sinc(40), name="sinc").id)
        api.train(dataset_id=dataset, target="y")
        end, statuses = Event(), list[int]()
        with ThreadPoolExecutor(N_CLIENTS) as pool:
            clients = [pool.submit(read, api, end, statuses) for _ in range(N_CLIENTS)]
            try:
                for lines, password in (("first\nsecond", None), (None, "second"), ("second", None)):
                    if lines is not None:
                        file.write_text(lines)
                    if password is not None:
                        administrator.change(password)
                    until_more(statuses)
            finally:
                end.set()
            for client in clients:
                client.result()
        assert set(statuses) == {200}
        administrator.end_connections()  # those of before, too: from here on all are made with the new password
        until(lambda: api.http.get("/health/ready?for=training").json()["worker"], seconds=60)
        api.train(dataset_id=dataset, target="y")
        assert worker.poll() is None


def until_more(statuses: list[int]) -> None:
    before = len(statuses)
    until(lambda: len(statuses) > before + 3 * N_CLIENTS, seconds=60)


def read(api: Api, end: Event, statuses: list[int]) -> None:
    while not end.is_set():
        statuses.append(api.http.get("/v1/training-jobs").status_code)
