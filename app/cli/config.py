"""`relevance config`: the settings in effect, and where each comes from."""

import os
from collections.abc import Collection, Iterator

from pydantic import SecretStr, ValidationError

from app.settings import Settings
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_table

PREFIX = "RELEVANCE_"
OF_CLIENTS = frozenset({"RELEVANCE_PROJECT", "RELEVANCE_URL"})
"""Variables that only the client commands read."""

MASK = "********"


def show_config() -> None:
    """Print each setting with its value and its origin, and the variables that no setting has; raises typer.Exit.

    Secrets are masked, as is the password in the database's URL.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        refuse("\n".join(refusals(error)))
    environment = {name.upper() for name in os.environ}
    rows = [
        (
            variable,
            _text(settings.shown_database_url if name == "database_url" else getattr(settings, name)),
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


def refusals(error: ValidationError) -> Iterator[str]:
    """Yield a line for each setting that is refused; without values, since some are secrets."""
    for one in error.errors(include_input=False, include_url=False, include_context=False):
        place = "".join(f"{PREFIX}{str(part).upper()}: " for part in one["loc"][:1])
        yield f"{place}{one['msg'].removeprefix('Value error, ')}"
