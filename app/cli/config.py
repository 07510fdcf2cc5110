"""The settings of commands, the database that they need, and `relevance config`."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from pydantic import SecretStr

from app.database.failures import explained
from app.errors import UnavailableError
from app.maintenance.backups import check_url
from app.settings import PREFIX, Settings, SettingsError, read_settings
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_table

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


OF_CLIENTS = frozenset({"RELEVANCE_PROJECT", "RELEVANCE_URL"})
"""Variables that only the client commands read."""

MASK = "********"


def config() -> None:
    """Print the settings with their origin, secrets masked."""
    settings = usable_settings()
    environment = {name.upper() for name in os.environ}
    rows = [
        (
            variable,
            _text(settings.shown(name)),
            _origin(name, variable, settings, environment),
        )
        for name, variable in _variables()
    ]
    print_table(("variable", "value", "origin"), rows, if_none="There are no settings.")
    for variable in unknown_variables():
        echo(f"{variable} is set in the environment, but no setting has this name.")


def unknown_variables() -> list[str]:
    """Return the variables of the environment that look like a setting and are none."""
    known = OF_CLIENTS.union(variable for _, variable in _variables())
    return sorted(name for name in {name.upper() for name in os.environ} - known if name.startswith(PREFIX))


def _variables() -> Iterator[tuple[str, str]]:
    for name in Settings.model_fields:
        yield name, PREFIX + name.upper()


def _origin(name: str, variable: str, settings: Settings, environment: Collection[str]) -> str:
    if variable in environment:
        return "environment"
    return "file" if name == "initial_api_key" and settings.initial_api_key is not None else "default"


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return MASK
    return f"{value:.12g}" if isinstance(value, bool | float) else str(value)
