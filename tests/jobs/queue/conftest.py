import pytest
from dbos import DBOSClient
from sqlalchemy import Engine

from app.domain.ports import OpenUnitOfWork
from app.jobs.queue.client import Control, Submitter, make_client
from app.storage.unit_of_work import unit_of_work


@pytest.fixture
def client(engine: Engine) -> DBOSClient:
    return make_client(engine)


@pytest.fixture
def control(client: DBOSClient) -> Control:
    return Control(client)


@pytest.fixture
def open_uow(engine: Engine, client: DBOSClient) -> OpenUnitOfWork:
    """Units of work whose queue is the real one."""
    return unit_of_work(engine, Submitter(client))
