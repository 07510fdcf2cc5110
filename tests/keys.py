"""An API key in a test's database."""

from pydantic import SecretStr

from app import administration
from app.settings import Settings


def add_key(database_url: str, secret: str) -> None:
    """Have a key of all scopes, as the settings give the first one."""
    administration.migrate(Settings(database_url=database_url, initial_api_key=SecretStr(secret)))
