"""pg_dump and pg_restore: a whole database to a file, and back in one transaction."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from psycopg.conninfo import make_conninfo
from sqlalchemy import Connection, Engine, text

from app.database.failures import translated
from app.database.passwords import Parameters, url_in_use
from app.errors import NotInstalledError, UnavailableError

PACKAGE = "Debian's package `postgresql-client` has it"
LOCK_SECONDS = 10
"""Seconds that pg_dump and pg_restore wait for a lock on a table."""

MAX_MESSAGE = 2_000
"""Characters of a program's messages that are shown."""


def major_version(connection: Connection) -> int:
    """Return the server's major version."""
    number: int = connection.execute(text("SELECT current_setting('server_version_num')::int")).scalar_one()
    return number // 10_000


def program(name: str, *, server: int) -> str:
    """Return the path of pg_dump or pg_restore of at least the server's major version; raises NotInstalledError."""
    path = shutil.which(name)
    if path is None:
        raise NotInstalledError(f"The program {name} is not on the PATH: {PACKAGE}, in version {server} or later.")
    shown = subprocess.run((path, "--version"), capture_output=True, text=True, check=False).stdout
    found = re.search(r"\) (\d+)", shown)
    if found is None or int(found[1]) < server:
        raise NotInstalledError(
            f"{path} is of version {found[1] if found else shown.strip()!r}, and the server of {server}: expected the "
            f"server's version or a later one. {PACKAGE}, as `postgresql-client-{server}`."
        )
    return path


def check_programs(engine: Engine) -> None:
    """Raise NotInstalledError unless backups of the database can be written and restored on this host."""
    with translated(), engine.connect() as connection:
        server = major_version(connection)
    for name in ("pg_dump", "pg_restore"):
        program(name, server=server)


def dump(connection: Connection, target: Path) -> None:
    """Write the database to a file, as the transaction of this connection sees it.

    The transaction is REPEATABLE READ. Raises NotInstalledError, UnavailableError.
    """
    path = program("pg_dump", server=major_version(connection))
    snapshot = connection.execute(text("SELECT pg_export_snapshot()")).scalar_one()
    lock = f"--lock-wait-timeout={LOCK_SECONDS}s"
    options = (
        "--format=custom",
        "--compress=1",
        "--no-owner",
        "--no-privileges",
        f"--snapshot={snapshot}",
        lock,
        f"--file={target}",
    )
    _run(path, *options, engine=connection.engine)


def restore(engine: Engine, content: Iterable[bytes], *, replaces: bool) -> None:
    """Restore a file of `dump` in one transaction; where `replaces`, its tables are dropped first.

    Raises NotInstalledError, UnavailableError.
    """
    with translated(), engine.connect() as connection:
        path = program("pg_restore", server=major_version(connection))
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    if replaces:
        options += ["--clean", "--if-exists"]
    _run(path, *options, engine=engine, content=content)


def other_clients(engine: Engine) -> tuple[str, ...]:
    """Return the other connections to the database: the role, the address and the name of each client.

    A role without privileges sees only the role of others, and no role at the server's own processes.
    """
    query = """
        SELECT concat_ws(' ', usename, host(client_addr), nullif(application_name, '')) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename IS NOT NULL
        AND coalesce(backend_type, 'client backend') = 'client backend'
    """
    with translated(), engine.connect() as connection:
        return tuple(connection.execute(text(query)).scalars())


def _run(path: str, *options: str, engine: Engine, content: Iterable[bytes] | None = None) -> None:
    """Run a program on the database; raises UnavailableError with what it wrote to standard error."""
    parameters, environment = _parameters(engine)
    environment["PGOPTIONS"] = f"-c lock_timeout={LOCK_SECONDS}s"
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            (path, f"--dbname={parameters}", *options),
            env=os.environ | environment,
            stdin=subprocess.DEVNULL if content is None else subprocess.PIPE,
            stderr=errors,
        ) as process,
    ):
        try:
            if content is not None:
                _feed(process, content)
            status = process.wait()
        except BaseException:
            process.kill()
            raise
        if status != 0:
            errors.seek(0)
            message = errors.read().decode(errors="replace").strip()[-MAX_MESSAGE:]
            raise UnavailableError(f"{Path(path).name} failed:\n{message}")


def _feed(process: subprocess.Popen[bytes], content: Iterable[bytes]) -> None:
    """Write to the program's standard input, until it ends."""
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin as standard_input:
        for block in content:
            standard_input.write(block)


def _parameters(engine: Engine) -> tuple[str, dict[str, str]]:
    """Return libpq's connection string without a password, and the environment with it."""
    _, arguments = engine.dialect.create_connect_args(url_in_use(engine))
    given: Parameters = dict(arguments)
    settings = {name: str(one) for name, one in given.items() if isinstance(one, str | int)}
    password = settings.pop("password", None)
    return make_conninfo("", **settings), {} if password is None else {"PGPASSWORD": password}
