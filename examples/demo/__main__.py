"""Start the service, train two models over HTTP, show what was learned, stop the service."""

import sys
from pathlib import Path

from rich.console import Console

from app.client import ClientError, connect
from examples.demo import classification, regression
from examples.demo.service import running_service

DIRECTORY = Path("demo-output")


def main() -> int:
    """The exit code: 0 when all went well."""
    console = Console(highlight=False, soft_wrap=True)
    DIRECTORY.mkdir(exist_ok=True)
    database, log = DIRECTORY / "demo.db", DIRECTORY / "service.log"
    try:
        with running_service(database, log=log) as url, connect(url) as client:
            console.print(f"The service answers at {url}; its database is {database}, its log {log}.\n")
            pictures = [room.run(client, console, DIRECTORY) for room in (regression, classification)]
    except (ClientError, RuntimeError) as failed:
        Console(stderr=True, highlight=False).print(f"{failed}\nThe service's log: {log}", markup=False)
        return 1
    console.rule("[bold]Pictures", align="left")
    for picture in pictures:
        console.print(f"  {picture}")
    console.print()
    console.rule("[bold]To go on", align="left")
    console.print(HOW_TO_GO_ON.format(database=database, data=DIRECTORY / "sinc.csv"), markup=False, soft_wrap=True)
    return 0


HOW_TO_GO_ON = """\
  RELEVANCE_DATABASE_URL=sqlite:///{database} make run     the service again, with these two models
and in another terminal:
  .venv/bin/relevance models sinc                            what was learned
  .venv/bin/relevance predict sinc {data}     predictions for the rows of a file
  .venv/bin/relevance train YOUR.csv --target COLUMN         a model of your own data
  http://127.0.0.1:8000/docs                                 everything, as HTTP"""


if __name__ == "__main__":
    sys.exit(main())
