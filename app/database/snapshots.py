"""Snapshots of a whole database while others write, restored; and copies of all rows to a database of either kind."""

import hashlib
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from psycopg.conninfo import make_conninfo
from sqlalchemy import (
    JSON,
    URL,
    Connection,
    Engine,
    LargeBinary,
    MetaData,
    NullPool,
    Row,
    column,
    create_engine,
    insert,
    select,
    table,
    text,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.database.engine import Parameters, file_of, lock_for_writing, uri_of, url_in_use
from app.database.failures import translated
from app.database.revision import TABLE
from app.errors import NotInstalledError, UnavailableError

Dialect: TypeAlias = Literal["sqlite", "postgresql"]

OF_SQLITE = "SELECT NULL, name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
OF_POSTGRESQL = """
    SELECT nullif(schemaname, current_schema()), tablename FROM pg_catalog.pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
"""


@dataclass(frozen=True)
class Contents:
    """The contents of a database: `rows` by table, the queue's included, as "schema.table" outside the own schema.

    `version` is that of SQLite or of the server; `revision` is None where there is no migration.
    """

    database: Dialect
    version: str
    revision: str | None
    rows: Mapping[str, int]


def contents_of(engine: Engine) -> Contents:
    """Return the contents of an engine's database; raises UnavailableError."""
    with translated(), engine.connect() as connection:
        return contents(connection)


def contents(connection: Connection) -> Contents:
    """Return the contents of a database, as the connection's transaction sees them."""
    quote = connection.dialect.identifier_preparer.quote
    is_file = connection.dialect.name == "sqlite"
    found = connection.exec_driver_sql(OF_SQLITE if is_file else OF_POSTGRESQL).all()
    tables = sorted(tuple(str(part) for part in row if part is not None) for row in found)
    rows: dict[str, int] = {}
    for path in tables:
        query = text(f"SELECT count(*) FROM {'.'.join(map(quote, path))}")
        rows[".".join(path)] = connection.execute(query).scalar_one()
    revision: str | None = None
    if TABLE in rows:
        revision = connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar_one_or_none()
    if is_file:
        return Contents("sqlite", sqlite3.sqlite_version, revision, rows)
    version: str = connection.execute(text("SHOW server_version")).scalar_one()
    return Contents("postgresql", version, revision, rows)


def copy_file(source: Path, target: Path) -> None:
    """Copy a database as it is at one moment; writers go on meanwhile. Raises UnavailableError.

    The copy has no write-ahead log: it is one file.
    """
    try:
        with (
            closing(sqlite3.connect(uri_of(str(source)), uri=True)) as connection,
            closing(sqlite3.connect(target)) as copy,
        ):
            connection.backup(copy)  # all pages in one read transaction
            _make_single(copy)
            copy.execute("PRAGMA auto_vacuum = INCREMENTAL")
            copy.execute("VACUUM")  # without the pages that no row uses
    except sqlite3.Error as error:
        raise UnavailableError(f"The database {source} can't be copied: {error}.") from error


def check_file(path: Path) -> None:
    """Raise UnavailableError unless the pages of a database are consistent."""
    try:
        with closing(sqlite3.connect(uri_of(str(path)), uri=True)) as connection:
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
    except sqlite3.Error as error:
        found = [str(error)]
    if found != ["ok"]:
        raise UnavailableError(f"The database is damaged: {'; '.join(found)}.")


def _make_single(connection: sqlite3.Connection) -> None:
    """End the use of a write-ahead log; raises sqlite3.OperationalError where another connection is open."""
    connection.execute("PRAGMA journal_mode = DELETE")


def make_single_file(path: Path) -> None:
    """Move what is in a database's write-ahead log into its file."""
    with closing(sqlite3.connect(uri_of(str(path)), uri=True)) as connection:
        _make_single(connection)


@contextmanager
def unused_file(path: Path) -> Iterator[None]:
    """Lock the database at a path, whose content is then in that one file; raises UnavailableError if it is in use."""
    try:
        with closing(sqlite3.connect(uri_of(str(path)), uri=True, isolation_level=None)) as connection:
            _make_single(connection)
            connection.execute("BEGIN EXCLUSIVE")
            yield
    except sqlite3.Error as error:
        remedy = "stop the service first" if _is_locked(error) else "move the file away where it is damaged"
        raise UnavailableError(f"{path} can't be used ({error}): {remedy}.") from error


def _is_locked(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", None) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def remove_logs(path: Path) -> None:
    """Remove the logs of a database whose file is gone: SQLite would apply them to the next file at its path."""
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


PACKAGE = "Debian's package `postgresql-client` has it"
LOCK_SECONDS = 10
"""Seconds that pg_dump and pg_restore wait for a lock on a table."""

MAX_MESSAGE = 2_000
"""Characters of a program's messages that are shown."""


def _major_version(connection: Connection) -> int:
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
        server = _major_version(connection)
    for name in ("pg_dump", "pg_restore"):
        program(name, server=server)


def dump(connection: Connection, target: Path) -> None:
    """Write the database to a file, as the transaction of this connection sees it.

    The transaction is REPEATABLE READ. Raises NotInstalledError, UnavailableError.
    """
    path = program("pg_dump", server=_major_version(connection))
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
        path = program("pg_restore", server=_major_version(connection))
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


CLOSING_SECONDS = 2.0
"""Seconds in which a server notices that connections were closed."""


def write_snapshot(engine: Engine, target: Path) -> Contents:
    """Write the database as it is at one moment into a file, and return its contents.

    The file is a SQLite database, or an archive of pg_dump. Raises NotInstalledError, UnavailableError.
    """
    if engine.dialect.name == "sqlite":
        copy_file(path_of(engine.url), target)
        check_file(target)
        return contents_of_file(target)
    with translated(), engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        dump(connection, target)
        return contents(connection)


def path_of(url: URL) -> Path:
    """Return the path of SQLite's file; raises UnavailableError for a database in memory."""
    path = file_of(url)
    if path is None:
        raise UnavailableError("Expected a database in a file, got one in memory.")
    return Path(path)


def url_of_file(path: Path) -> URL:
    """Return the URL of a SQLite file."""
    return URL.create("sqlite", database=str(path))


def contents_of_file(path: Path) -> Contents:
    """Return the contents of a SQLite file, which stays one file; raises UnavailableError."""
    engine = create_engine(url_of_file(path), poolclass=NullPool)
    return contents_of(engine)


def check_unused(engine: Engine) -> None:
    """Raise UnavailableError where another process has the database open."""
    if engine.dialect.name == "sqlite":
        engine.dispose()
        with unused_file(path_of(engine.url)):
            pass
        return
    give_up = time.monotonic() + CLOSING_SECONDS
    while others := other_clients(engine):
        if time.monotonic() > give_up:
            names = ", ".join(sorted({*others}))
            raise UnavailableError(f"Other connections use the database ({names}): stop the service first.")
        time.sleep(CLOSING_SECONDS / 20)


Batch: TypeAlias = Sequence[Row[tuple[object, ...]]]

BATCH_ROWS, BATCH_ROWS_OF_BYTES = 1_000, 10
"""The number of rows in memory, and that of rows with bytes, which may be megabytes each."""


class NullableJson(TypeDecorator[object]):
    """JSON in which None is NULL, not the JSON `null`."""

    impl: TypeEngine[object] | type[TypeEngine[object]] = JSON(none_as_null=True)
    cache_ok: bool | None = True


@dataclass(frozen=True)
class TableShape:
    """A table with the types of its columns; PostgreSQL has it in a schema, where that is not None."""

    name: str
    types: Mapping[str, TypeEngine[object]]
    schema: str | None = None

    def batches(self, connection: Connection) -> Iterator[Batch]:
        """Return the rows, some at a time."""
        has_bytes = any(isinstance(kind, LargeBinary) for kind in self.types.values())
        options = {"yield_per": BATCH_ROWS_OF_BYTES if has_bytes else BATCH_ROWS}
        columns = (column(name, kind) for name, kind in self.types.items())
        query = select(table(self.name, *columns, schema=self._schema(connection)))
        return connection.execute(query, execution_options=options).partitions()

    def replace(self, connection: Connection, batches: Iterable[Batch]) -> None:
        """Write rows in the place of those that there are."""
        columns = (column(name, kind) for name, kind in self.types.items())
        written = table(self.name, *columns, schema=self._schema(connection))
        connection.execute(written.delete())
        for batch in batches:
            connection.execute(insert(written), [dict(zip(self.types, row, strict=True)) for row in batch])

    def _schema(self, connection: Connection) -> str | None:
        return self.schema if connection.dialect.name == "postgresql" else None


def shapes(metadata: MetaData, schema: str | None = None) -> tuple[TableShape, ...]:
    """Return the tables of a metadata, each after those that it refers to."""
    return tuple(
        TableShape(
            one.name,
            {part.name: NullableJson() if isinstance(part.type, JSON) else part.type for part in one.columns},
            schema,
        )
        for one in metadata.sorted_tables
    )


@dataclass(frozen=True)
class CopiedTable:
    """A copied table: its number of rows, and the digest of its rows in both databases."""

    name: str
    rows: int
    sha256: str


def copy_rows(source: Engine, target: Engine, tables: Iterable[TableShape]) -> tuple[CopiedTable, ...]:
    """Copy tables into those of another database, in one transaction; compare both at the end.

    The target has the same tables, without content. On SQLite no other process can write to the source meanwhile.
    Raises UnavailableError.
    """
    is_file = source.dialect.name == "sqlite"
    snapshot = source if is_file else source.execution_options(isolation_level="REPEATABLE READ")
    with translated(), snapshot.connect() as reader, target.begin() as writer:
        lock_for_writing(reader)
        for connection in (reader, writer):
            if connection.dialect.name == "postgresql":
                connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        return tuple(_copy(reader, writer, one) for one in tables)


def _copy(reader: Connection, writer: Connection, shape: TableShape) -> CopiedTable:
    copied, stored = _Digest(), _Digest()
    shape.replace(writer, copied.added(shape.batches(reader)))
    for _ in stored.added(shape.batches(writer)):
        pass
    if copied != stored:
        raise UnavailableError(
            f"The copy of {shape.name} differs: {copied.rows} rows were copied, and {stored.rows} rows are stored, of "
            "another digest. Nothing was changed."
        )
    return CopiedTable(shape.name, copied.rows, copied.sha256)


@dataclass
class _Digest:
    """The digest of rows in any order, since databases sort texts differently: the sum of their digests."""

    rows: int = 0
    total: int = 0

    def added(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the same batches, and add their rows."""
        for batch in batches:
            for row in batch:
                digest = hashlib.sha256()
                for value in row:
                    content = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
                    digest.update(f"{type(value).__name__} {len(content)} ".encode() + content)
                self.total = (self.total + int.from_bytes(digest.digest(), "big")) % 2**256
            self.rows += len(batch)
            yield batch

    @property
    def sha256(self) -> str:
        """Return the digest in hexadecimal digits."""
        return f"{self.total:064x}"
