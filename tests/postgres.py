"""A real PostgreSQL for tests and benchmarks: on loopback, as an unprivileged user, gone when they are."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import URL

from tests.processes import children

INSTALL = "apt-get install postgresql   or   brew install postgresql@17"
HOMES = ("/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin")
USER = "relevance"
START_SECONDS = 60.0

HASTY = ("-F", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "autovacuum=off")
"""Of a server whose data nobody misses after a crash."""

MEMORY_BYTES = 4 * 2**30
"""Free in `/dev/shm`, that a server's files are there; each of the test processes has one, of some 200 MB."""

# Ends the server and its files when its standard input closes: also when those were killed who started it.
KEEPER = """
server=$1 home=$2 port=$3
shift 3
"$server" -D "$home/data" -k "$home" -p "$port" -h 127.0.0.1 -c shared_buffers=32MB -c max_connections=200 "$@" \
    >"$home/log" 2>&1 &
server=$!
cat >/dev/null
kill -INT "$server"
wait "$server"
rm -rf "$home"
"""


@dataclass(frozen=True)
class Server:
    """A running server; databases on it are made and dropped by name."""

    port: int

    def url(self, database: str) -> URL:
        return URL.create("postgresql+psycopg", username=USER, host="127.0.0.1", port=self.port, database=database)

    def create(self, database: str, template: str = "template1") -> None:
        self._run(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(database), sql.Identifier(template)
            )
        )

    def drop(self, database: str) -> None:
        self._run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))

    def rename(self, database: str, name: str) -> None:
        """Give a database that nobody is connected to another name."""
        self._run(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(database), sql.Identifier(name)))

    def allow_connections(self, database: str, *, allowed: bool) -> None:
        """Refuse new connections to a database and end those it has, or allow them again."""
        self._run(
            sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format(sql.Identifier(database), sql.Literal(allowed))
        )
        if not allowed:
            self._run(
                sql.SQL("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = {}").format(
                    sql.Literal(database)
                )
            )

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(self._address(), autocommit=True) as connection:
            connection.execute(statement)

    def _address(self) -> str:
        return f"host=127.0.0.1 port={self.port} user={USER} dbname=postgres connect_timeout=5"

    def responses(self) -> bool:
        try:
            psycopg.connect(self._address()).close()
        except psycopg.OperationalError:
            return False
        return True


def programs() -> Path | None:
    """The folder that holds `initdb` and `postgres`, the newest where there are several; None when there is none."""
    folders = [Path(found).resolve().parent for found in [shutil.which("postgres")] if found]
    if config := shutil.which("pg_config"):
        shown = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=False, timeout=30)
        folders.append(Path(shown.stdout.strip()))
    for home in HOMES:
        folders += sorted(Path("/").glob(home.removeprefix("/")), key=_version, reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def _version(folder: Path) -> int:
    digits = "".join(filter(str.isdigit, folder.parent.name))
    return int(digits or 0)


@contextmanager
def running(folder: Path, options: tuple[str, ...] = HASTY) -> Iterator[Server]:
    """Start a server with an empty cluster of its own and these options, and stop it at the end."""
    with _cluster(folder) as (home, user), _started(folder, home, user, options) as server:
        yield server


@contextmanager
def mortal(folder: Path) -> Iterator["MortalServer"]:
    """One that may be stopped, killed and started again, and forgets nothing that was committed."""
    with _cluster(folder) as (home, user):
        server = MortalServer(_free_port(), folder, home, user)
        server.start()
        try:
            yield server
        finally:
            server.kill()


@dataclass(frozen=True)
class MortalServer(Server):
    """A server on its own, which dies with nobody but by `kill`."""

    folder: Path
    home: Path
    user: int | None
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        """Let it run again."""
        with (self.home / "log").open("ab") as log:
            where = ("-D", str(self.home / "data"), "-k", str(self.home), "-p", str(self.port), "-h", "127.0.0.1")
            leader = subprocess.Popen(
                [str(self.folder / "postgres"), *where, "-c", "max_connections=200"],
                user=self.user,
                cwd=self.home,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(leader)
        give_up = time.monotonic() + START_SECONDS
        while not self.responses():
            if time.monotonic() > give_up:
                raise RuntimeError(f"PostgreSQL did not start:\n{(self.home / 'log').read_text()}")
            time.sleep(0.05)

    def stop(self) -> None:
        """As an operator would, without waiting for a client that is connected."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """With all its processes, in the middle of whatever they do."""
        self._signal(signal.SIGKILL)

    def freeze(self) -> None:
        """Let all its processes stand still: it accepts connections and statements, and answers nothing."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        for leader in self.started:
            os.kill(leader.pid, number)  # first, so that it makes no more of them
            for child in children(leader.pid):
                with suppress(ProcessLookupError):  # it may end meanwhile
                    os.kill(child, number)

    def _signal(self, number: signal.Signals) -> None:
        while self.started:
            leader = self.started.pop()
            if number is signal.SIGKILL:
                os.killpg(leader.pid, number)
            else:
                leader.send_signal(number)
            leader.wait(START_SECONDS)
        # What a killed server leaves behind would keep the next from starting once another process has its number.
        (self.home / "data" / "postmaster.pid").unlink(missing_ok=True)


@contextmanager
def _cluster(folder: Path) -> Iterator[tuple[Path, int | None]]:
    """An empty one, its home and whom its server runs as."""
    home = Path(tempfile.mkdtemp(prefix="rlv-pg-", dir=_place()))
    user = _unprivileged()
    if user is not None:
        os.chown(home, user, -1)
    initialise = [str(folder / "initdb"), "-D", str(home / "data"), "-U", USER, "-A", "trust", "-E", "UTF8"]
    try:
        subprocess.run(
            [*initialise, "--locale=C", "--no-sync"],
            user=user,
            cwd=home,
            check=True,
            capture_output=True,
            timeout=120,
        )
        yield home, user
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _place() -> str:
    """Memory where there is enough of it, in which a database is made in a third of the time.

    Else not the system's temporary folder: macOS's is too deep for the path of a socket.
    """
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > MEMORY_BYTES
    return str(memory) if roomy else "/tmp"


def _unprivileged() -> int | None:
    """Whom to run the server as: PostgreSQL refuses root, which tests in containers often are."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    raise RuntimeError("the tests run as root, and there is no unprivileged user for PostgreSQL: add a user 'postgres'")


@contextmanager
def _started(folder: Path, home: Path, user: int | None, options: tuple[str, ...]) -> Iterator[Server]:
    server = Server(_free_port())
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", KEEPER, "keeper", folder / "postgres", home, str(server.port), *options],
        stdin=subprocess.PIPE,
        user=user,
        cwd=home,
    )
    try:
        give_up = time.monotonic() + START_SECONDS
        while not server.responses():
            if time.monotonic() > give_up:
                raise RuntimeError(f"PostgreSQL did not start:\n{(home / 'log').read_text()}")
            time.sleep(0.05)
        yield server
    finally:
        keeper.communicate(timeout=60)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
