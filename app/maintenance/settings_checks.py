"""Checks of the settings: those that contradict each other or the machine."""

from collections.abc import Iterator
from importlib.util import find_spec

from app.jobs.worker.resources import memory_of_fits
from app.maintenance.findings import Finding, error, ok, warning
from app.settings import Settings

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
