"""The service itself: the API, the worker, the database."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

UntilEof = Annotated[bool, typer.Option("--until-eof", hidden=True, help="End when standard input ends.")]

Host = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", show_default="127.0.0.1", help="The address to listen on; sets RELEVANCE_HOST."),
]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, show_default="8000", help="The port, 0: any that is free; sets RELEVANCE_PORT."),
]
GrpcPort = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Also serve the Open Inference Protocol over gRPC, at this port; 0: any."),
]


@contextmanager
def imports_that_stay() -> Iterator[None]:
    """Imports of a process that serves: no garbage collection looks at their objects, then or later.

    Next to none of them are garbage, and to look for it takes a sixth of the CPU time in which the API starts.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def serve(*, host: Host = None, port: Port = None, grpc_port: GrpcPort = None, until_eof: UntilEof = False) -> None:
    """Run the API and a worker.

    A SQLite database is created, or migrated to this release, first. Settings: docs/reference/settings.md.
    """
    _listen_at(host, port, grpc_port)
    _run(with_worker=True, until_eof=until_eof)


def api(*, host: Host = None, port: Port = None, grpc_port: GrpcPort = None, until_eof: UntilEof = False) -> None:
    """Run the API without a worker."""
    _listen_at(host, port, grpc_port)
    _run(with_worker=False, until_eof=until_eof)


def _run(*, with_worker: bool, until_eof: bool) -> None:
    """Run the API at the address in the environment."""
    with imports_that_stay():
        from app.cli.config import usable_settings
        from app.cli.run_server import import_application, serve

        import_application()
    serve(usable_settings(), with_worker=with_worker, until_eof=until_eof)


def _listen_at(host: str | None, port: int | None, grpc_port: int | None) -> None:
    """Set address and ports in the environment, where the application reads its settings."""
    given = {"RELEVANCE_HOST": host, "RELEVANCE_PORT": port, "RELEVANCE_GRPC_PORT": grpc_port}
    os.environ.update({name: str(value) for name, value in given.items() if value is not None})


def worker(*, until_eof: UntilEof = False) -> None:
    """Run a worker without the API."""
    with imports_that_stay():
        from app.cli.config import usable_settings
        from app.cli.run_worker import work

    work(usable_settings(), until_eof=until_eof)
