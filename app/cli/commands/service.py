"""The service itself: the API, the worker, the database."""

from app.cli.commands.options import UntilEof


def serve(*, until_eof: UntilEof = False) -> None:
    """Run the API with a worker beside it.

    A SQLite database is made, or brought up to date, first. Settings: the README.
    """
    from app.cli.serving import serve
    from app.settings import Settings

    serve(Settings(), with_worker=True, until_eof=until_eof)


def api(*, until_eof: UntilEof = False) -> None:
    """Run the API alone."""
    from app.cli.serving import serve
    from app.settings import Settings

    serve(Settings(), with_worker=False, until_eof=until_eof)


def worker(*, until_eof: UntilEof = False) -> None:
    """Run a worker alone."""
    from app.cli.working import work
    from app.settings import Settings

    work(Settings(), until_eof=until_eof)


def migrate() -> None:
    """Make the database, or bring it up to date."""
    from app.cli.working import migrate
    from app.settings import Settings

    migrate(Settings())


def check_worker() -> None:
    """Whether a worker of this host has been heard of lately."""
    from app.cli.working import check_worker
    from app.settings import Settings

    check_worker(Settings())
