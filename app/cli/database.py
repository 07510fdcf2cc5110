"""Commands that need the settings and the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from app.database.failures import explained
from app.errors import UnavailableError
from app.maintenance.database_url import check_url
from app.settings import Settings, SettingsError, read_settings
from relevance_bayes.cli.console import refuse

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def usable_settings() -> Settings:
    """Return the settings of the environment; where one can't be used, print a line for each fault and exit with 1."""
    try:
        return read_settings()
    except SettingsError as wrong:
        refuse(str(wrong))


@contextmanager
def database_in_reach(settings: Settings) -> Iterator[None]:
    """Run a block that needs the database; where it is unavailable or of another kind, print why and exit with 1."""
    try:
        check_url(settings)
        yield
    except UnavailableError as away:
        refuse(f"{explained(away)}.\nRELEVANCE_DATABASE_URL is the URL of the database.")
