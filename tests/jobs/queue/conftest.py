import pytest
from dbos import DBOSClient
from sqlalchemy import Engine

from app.database.transaction import OpenTransaction, open_transactions
from app.jobs.queue.client import Control, Submitter, make_client
from app.webhooks.repository import SUBSCRIBERS


@pytest.fixture
def client(engine: Engine) -> DBOSClient:
    return make_client(engine)


@pytest.fixture
def control(client: DBOSClient) -> Control:
    return Control(client)


@pytest.fixture
def transaction(engine: Engine, client: DBOSClient) -> OpenTransaction:
    """Transactions whose queue is the real one."""
    return open_transactions(engine, Submitter(client), subscribers=SUBSCRIBERS)
