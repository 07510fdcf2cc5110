"""Start the service, train models over HTTP, show the results, stop the service."""

import sys
from pathlib import Path

from rich.console import Console

from examples.demo import classification, comparison, regression, terrain
from examples.demo.service import running_service
from relevance_bayes.client import ClientError, connect

DIRECTORY = Path("demo-output")


def main() -> int:
    """Return the exit code: 0 on success."""
    console = Console(highlight=False, soft_wrap=True)
    DIRECTORY.mkdir(exist_ok=True)
    database, log = DIRECTORY / "demo.db", DIRECTORY / "service.log"
    try:
        with running_service(database, log=log) as url, connect(url) as client:
            console.print(f"The service is at {url}; its database is {database}, its log {log}.\n")
            spaces = (regression, classification, comparison, terrain)
            pictures = [space.run(client, console, DIRECTORY) for space in spaces]
    except (ClientError, RuntimeError) as failed:
        Console(stderr=True, highlight=False).print(f"{failed}\nThe service's log: {log}", markup=False)
        return 1
    console.rule("[bold]Pictures", align="left")
    for picture in pictures:
        console.print(f"  {picture}")
    console.print()
    console.rule("[bold]Next steps", align="left")
    for command, what in next_steps(database, DIRECTORY / "sinc.csv"):
        console.print(f"  {command:66} {what}", markup=False)
    return 0


def next_steps(database: Path, data: Path) -> list[tuple[str, str]]:
    """Return commands, and what each of them does."""
    return [
        (f"RELEVANCE_DATABASE_URL=sqlite:///{database} make run", "the service again, with these models; then,"),
        (".venv/bin/relevance models sinc", "in another terminal: the model"),
        (f".venv/bin/relevance predict sinc {data}", "predictions for the rows of a file"),
        (".venv/bin/relevance train YOUR.csv --target COLUMN", "a model of your own data"),
        ("http://127.0.0.1:8000/docs", "every call of the API"),
        ("http://127.0.0.1:8000/#/models", "the page in a browser: these models, their fits, predictions by clicks"),
    ]


if __name__ == "__main__":
    sys.exit(main())
