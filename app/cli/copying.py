"""`relevance copy-database`."""

from typing import Annotated

import typer

from app.cli.database import AsJson, usable_settings
from app.maintenance import copying
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_json, print_table
from relevance_bayes.records.errors import RelevanceError


def copy_database(
    url: Annotated[str, typer.Argument(metavar="URL", help="The database to copy into, which must be empty.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Copy the database of the settings into another one, as from SQLite to PostgreSQL, and compare both.

    The service must not run.
    """
    settings = usable_settings()
    target = settings.model_copy(update={"database_url": url, "database_password_file": None})
    shown = target.shown_database_url
    try:
        tables = copying.copy_database(settings, target)
    except RelevanceError as error:
        refuse(error.detail)
    if as_json:
        print_json({"database": shown, "tables": tables})
        return
    rows = [(table.name, f"{table.rows:,}", table.sha256) for table in tables]
    print_table(("table", "rows", "sha256 of the rows"), rows, if_none="")
    echo(f"Copied to {shown}; each table has the same rows in both databases.")
    echo("Start the service with this URL as RELEVANCE_DATABASE_URL.")
