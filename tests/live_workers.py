"""The workers of a deployment that are alive."""

from app.services import build
from app.settings import Settings


def workers_alive(settings: Settings) -> tuple[str, ...]:
    """Return the executors ("host:id") with a recent heartbeat; raises UnavailableError."""
    parts = build(settings)
    try:
        return parts.base.workers_alive(settings.heartbeat_timeout_seconds)
    finally:
        parts.close()
