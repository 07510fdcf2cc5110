"""Checks of a deployment: its settings, its database, its workers and its disks."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

from app.accounts.repository import ApiKeyRepository
from app.addresses import LOOPBACK
from app.database import revision, snapshots, transaction
from app.database.failures import explained
from app.database.migrations import has_migration
from app.database.snapshots import contents_of, path_of
from app.errors import NotInstalledError, UnavailableError
from app.jobs.statistics_repository import BacklogRepository
from app.jobs.worker.health_check import default_directory
from app.jobs.worker.pool import memory_of_fits
from app.maintenance.backups import reason_against
from app.services import ProcessParts, build
from app.settings import Settings

Level: TypeAlias = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """The result of a check; a warning and an error have a remedy."""

    level: Level
    check: str
    detail: str
    remedy: str | None = None


def ok(check: str, detail: str) -> Finding:
    """Return a finding without fault."""
    return Finding("ok", check, detail)


def warning(check: str, detail: str, remedy: str) -> Finding:
    """Return the finding of a risk."""
    return Finding("warning", check, detail, remedy)


def error(check: str, detail: str, remedy: str) -> Finding:
    """Return the finding of a fault."""
    return Finding("error", check, detail, remedy)


PACKAGES = (
    ("grpc_port", "grpc", "grpcio"),
    ("grpc_port", "hpack", "hpack"),
    ("grpc_port", "hyperframe", "hyperframe"),
    ("jwt_issuer", "jwt", "pyjwt"),
    ("tracing", "opentelemetry.sdk", "opentelemetry-sdk"),
)
"""Settings that need an optional package: the setting, its module, its distribution."""

MAX_CACHE_SHARE = 0.5
"""The share of the memory for fits above which a cache is a risk."""


def check_settings(settings: Settings) -> Iterator[Finding]:
    """Yield the findings about the settings alone; one that is ok where there is no other."""
    found = [*_packages(settings), *_memory(settings), *_times(settings)]
    yield from found or [ok("settings", "the settings agree with each other")]


def _packages(settings: Settings) -> Iterator[Finding]:
    for name, module, distribution in PACKAGES:
        value = getattr(settings, name)
        if value is not None and value is not False and find_spec(module) is None:
            variable = f"RELEVANCE_{name.upper()}"
            yield error(
                "settings",
                f"{variable} needs the Python package `{distribution}`, which is not installed",
                f"Install the package, or unset {variable}.",
            )


def _memory(settings: Settings) -> Iterator[Finding]:
    available = memory_of_fits()
    if settings.fit_memory_bytes is not None and settings.fit_memory_bytes > available:
        yield warning(
            "settings",
            f"a fit may not use {settings.fit_memory_bytes:,} bytes: four fifths of the memory are {available:,}",
            "Lower RELEVANCE_FIT_MEMORY_BYTES, or unset it.",
        )
    if settings.cache_bytes > MAX_CACHE_SHARE * available:
        yield warning(
            "settings",
            f"the cache of versions may use {settings.cache_bytes:,} bytes of about {available:,}",
            "Lower RELEVANCE_CACHE_BYTES.",
        )


def _times(settings: Settings) -> Iterator[Finding]:
    if settings.job_timeout_seconds < settings.checkpoint_seconds:
        yield warning(
            "settings",
            "jobs time out before their first checkpoint",
            "Set RELEVANCE_CHECKPOINT_SECONDS to less than RELEVANCE_JOB_TIMEOUT_SECONDS.",
        )


MAX_CLOCK_SECONDS, MAX_TOLERATED_SECONDS = 2.0, 60.0
"""The differences of clocks above which there is a warning, and an error."""


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield the findings of all checks; those of the database end where it is unreachable."""
    yield from check_settings(settings)
    if (reason := reason_against(settings)) is not None:
        yield error(
            "database",
            f"the URL can't be used: {reason}",
            "Correct RELEVANCE_DATABASE_URL or RELEVANCE_DATABASE_PASSWORD_FILE.",
        )
        return
    yield from _disks(settings)
    parts = build(settings)
    try:
        yield from _database(settings, parts)
    except UnavailableError as unavailable:
        yield _unavailable(settings, unavailable)
    finally:
        parts.close()


def _database(settings: Settings, parts: ProcessParts) -> Iterator[Finding]:
    engine = parts.base.engine
    is_migrated = parts.base.is_migrated()
    yield ok("database", f"{settings.shown_url} responds")
    if not is_migrated:
        yield _not_migrated(contents_of(engine).revision)
        return
    later = "" if revision.is_current(engine) else "a later revision, compatible with "
    yield ok("migrations", f"the tables are at {later}{revision.EXPECTED}")
    found = transaction.examine(engine)
    yield _writes(found.write_error or _full_disk(settings))
    yield _clock(found.ahead_seconds)
    alive = parts.base.workers_alive(settings.heartbeat_timeout_seconds)
    with parts.base.transaction() as tx:
        is_waiting = BacklogRepository(tx).activity().is_waiting
        has_keys = ApiKeyRepository(tx).has_any()
    yield _workers(alive, is_waiting=is_waiting)
    yield _keys(settings, has_keys=has_keys)
    if "*" in settings.allowed_origins and not (has_keys or settings.needs_keys or settings.jwt_issuer is not None):
        yield warning(
            "origins",
            "any web page may call the API (RELEVANCE_CORS_ORIGINS=*), and requests need no API key",
            "List the origins, or create an API key.",
        )
    if engine.dialect.name == "postgresql":
        try:
            snapshots.check_programs(engine)
        except NotInstalledError as missing:
            yield warning("backup", missing.detail.rstrip("."), "Install it on the host that writes backups.")
        else:
            yield ok("backup", "pg_dump and pg_restore are installed")


def _not_migrated(found: str | None) -> Finding:
    if found is None or has_migration(found):
        return error("migrations", f"the tables are not at {revision.EXPECTED}", "Run `relevance migrate`.")
    detail = f"the tables are of a newer release, at {found}, which this one can't use"
    return error("migrations", detail, "Run that release, or restore a backup of this one.")


def _unavailable(settings: Settings, unavailable: UnavailableError) -> Finding:
    detail = explained(unavailable)
    if settings.url.get_backend_name() == "sqlite":
        return error("database", detail, "Let this user read and write the file, or correct RELEVANCE_DATABASE_URL.")
    return error("database", detail, "Start the database, or correct RELEVANCE_DATABASE_URL.")


def _full_disk(settings: Settings) -> str | None:
    """Return why the disk of a database in a file takes no more writes, None where it does, and for a server."""
    if settings.url.get_backend_name() != "sqlite":
        return None
    with suppress(UnavailableError):  # in memory
        if not transaction.has_space(path_of(settings.url).absolute().parent):
            return "its disk is full"
    return None


def _writes(reason: str | None) -> Finding:
    if reason is None:
        return ok("writes", "the database accepts writes")
    remedy = "Free space on its disk, make the file writable, or name the primary server and a role that may write."
    return error("writes", f"the database refuses writes: {reason}", remedy)


def _clock(ahead: float) -> Finding:
    if abs(ahead) <= MAX_CLOCK_SECONDS:
        return ok("clock", "the clocks of this host and of the database agree")
    detail = f"this host's clock is {abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} the database's"
    remedy = "Synchronise both clocks by NTP."
    return (warning if abs(ahead) <= MAX_TOLERATED_SECONDS else error)("clock", detail, remedy)


def _workers(alive: tuple[str, ...], *, is_waiting: bool) -> Finding:
    if alive:
        return ok("workers", f"{len(alive)} alive: {', '.join(alive)}")
    remedy = "Start `relevance worker`, or `relevance serve`, which has one."
    if is_waiting:
        return error("workers", "no worker is alive, and jobs are queued", remedy)
    return warning("workers", "no worker is alive: jobs would stay queued", remedy)


def _keys(settings: Settings, *, has_keys: bool) -> Finding:
    if has_keys:
        return ok("keys", "requests need an API key")
    if settings.jwt_issuer is not None:
        return ok("keys", "requests need a token of the issuer")
    if settings.needs_keys:
        remedy = "Create one by `relevance keys create`."
        return warning("keys", "there is no API key, and all requests are refused until there is one", remedy)
    if settings.host in LOOPBACK:
        return ok("keys", "requests need no API key; the service listens on loopback alone")
    remedy = "Create one by `relevance keys create`, and unset RELEVANCE_INSECURE."
    return error("keys", f"anybody who reaches {settings.host} has all access: there is no API key", remedy)


def _disks(settings: Settings) -> Iterator[Finding]:
    yield _disk("spool directory", settings.spool_directory or Path(default_directory()), "RELEVANCE_SPOOL_DIRECTORY")
    if settings.url.get_backend_name() == "sqlite":
        with suppress(UnavailableError):  # in memory
            yield _disk("database folder", path_of(settings.url).absolute().parent, "RELEVANCE_DATABASE_URL")


def _disk(check: str, folder: Path, variable: str) -> Finding:
    try:
        free = transaction.free_bytes(folder)
    except OSError as failure:
        return error(check, f"{folder} can't be used: {failure.strerror}", f"Create it, or correct {variable}.")
    if not os.access(folder, os.W_OK | os.X_OK):
        detail = f"{folder} can't be written by this user, or its file system is read-only"
        return error(check, detail, f"Change its owner or its mount, or {variable}.")
    detail = f"{folder} has {free / 2**30:,.1f} GiB free"
    if free >= transaction.LOW_BYTES:
        return ok(check, detail)
    return (error if free < transaction.EXHAUSTED_BYTES else warning)(
        check, detail, f"Free space, or change {variable}."
    )
