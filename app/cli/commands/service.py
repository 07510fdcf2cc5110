"""The service itself: the API, the worker, the database."""

import os
from typing import Annotated

import typer

UntilEof = Annotated[bool, typer.Option("--until-eof", hidden=True, help="End when standard input ends.")]

GrpcPort = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Serve the Open Inference Protocol over gRPC too, at this port; 0: any."),
]


def serve(*, grpc_port: GrpcPort = None, until_eof: UntilEof = False) -> None:
    """Run the API with a worker beside it.

    A SQLite database is made, or brought up to date, first. Settings: docs/reference/settings.md.
    """
    from app.cli.run_server import serve
    from app.settings import Settings

    _listen_at(grpc_port)
    serve(Settings(), with_worker=True, until_eof=until_eof)


def api(*, grpc_port: GrpcPort = None, until_eof: UntilEof = False) -> None:
    """Run the API alone."""
    from app.cli.run_server import serve
    from app.settings import Settings

    _listen_at(grpc_port)
    serve(Settings(), with_worker=False, until_eof=until_eof)


def _listen_at(grpc_port: int | None) -> None:
    """The application reads its settings by itself, wherever it is started from."""
    if grpc_port is not None:
        os.environ["RELEVANCE_GRPC_PORT"] = str(grpc_port)


def worker(*, until_eof: UntilEof = False) -> None:
    """Run a worker alone."""
    from app.cli.run_worker import work
    from app.settings import Settings

    work(Settings(), until_eof=until_eof)


def migrate() -> None:
    """Create the database's tables, or migrate them to this release."""
    from app.cli.run_worker import migrate
    from app.settings import Settings

    migrate(Settings())


def check_worker() -> None:
    """Exit with 0 where a worker that uses this spool directory has written a heartbeat in time."""
    from app.cli.worker_health import check_worker
    from app.settings import Settings

    check_worker(Settings())
