"""The delays after which a request is sent again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from relevance_bayes.client.errors import CONNECTION_LOST, KEY_IN_USE, NOT_REACHABLE, ClientError

MAX_RETRIES = 4
"""The default of `connect`."""

MAX_RETRY_AFTER = 60.0
"""The maximum of a service's `Retry-After` in seconds; a request with a longer one is not repeated."""

FIRST_PAUSE, LAST_PAUSE = 0.5, 8.0
"""The seconds before the first retry, which double with each, and their maximum."""

REFUSED = frozenset({429, 503})
"""Statuses of requests that were not executed, and may be later; with `Retry-After` they are repeated."""


@dataclass
class Retries:
    """The retries of one request; `is_repeatable` is that of the request."""

    max_retries: int
    is_repeatable: bool
    was_lost: bool = False
    count: int = 0

    def pause(self, error: ClientError) -> float | None:
        """Return the seconds to wait after an error, None where the request is not sent again."""
        if self.count >= self.max_retries:
            return None
        backoff = min(FIRST_PAUSE * 2.0**self.count, LAST_PAUSE)
        self.count += 1
        if error.problem.status in REFUSED and error.retry_after is not None:
            return max(backoff, error.retry_after) if error.retry_after <= MAX_RETRY_AFTER else None
        if not self.is_repeatable:
            return None
        # An unreachable service is retried only after it was reached before, a key in use only where it is our own.
        kind = error.problem.type
        if kind == CONNECTION_LOST or (self.was_lost and kind in {NOT_REACHABLE, KEY_IN_USE}):
            self.was_lost = True
            return backoff
        return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of the header `Retry-After`, a number or a date (RFC 9110, 10.2.3); None without one."""
    given = headers.get("Retry-After", "").strip()
    if given.isascii() and given.isdecimal():
        return float(given)
    try:
        at = parsedate_to_datetime(given)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max((at - datetime.now(UTC)).total_seconds(), 0.0)
