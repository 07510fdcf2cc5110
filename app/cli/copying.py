"""`relevance copy-database`."""

from app.maintenance import copying
from app.settings import Settings
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_json, print_table
from relevance_bayes.records.errors import RelevanceError


def copy_database(settings: Settings, url: str, *, as_json: bool) -> None:
    """Copy the database into the one at a URL and print each table with its digest; raises typer.Exit."""
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
