"""The metrics of requests, by method and by the template of their path."""

from bisect import bisect_left
from time import perf_counter_ns

from starlette.types import Scope

from app.http.paths import TEMPLATE
from app.metrics.numbers import NANOSECONDS, Family, Numbers, counter

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds that the requests of each bucket took at most."""

_SUM = len(BOUNDS) + 1
_BOUNDS = tuple(round(NANOSECONDS * bound) for bound in BOUNDS)

STATUSES = ("2xx", "3xx", "4xx", "5xx")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_METHOD = "other"
UNMATCHED = "unmatched"
"""The route of requests that no route of the API matches, and of those that were refused before."""

REQUESTS = counter(
    "relevance_http_requests_total",
    "Requests by method, route and class of the response's status.",
    "method",
    "route",
    "status",
)
DURATIONS = Family(
    "relevance_http_request_duration_seconds",
    "histogram",
    "Time from a request's headers to the end of its response.",
    ("method", "route"),
    BOUNDS,
    NANOSECONDS,
)


class RequestMetrics:
    """Counts requests on the event loop; the labels are bounded, since routes are."""

    def __init__(self, numbers: Numbers | None = None) -> None:
        self._numbers = Numbers() if numbers is None else numbers
        self._values = self._numbers.values
        self._places: dict[tuple[str, str], tuple[int, int]] = {}

    def count(self, scope: Scope, status: int, began: int) -> None:
        """Count a response to a request that began at this time of `time.perf_counter_ns`."""
        took = perf_counter_ns() - began
        template: str = scope.get(TEMPLATE, "") or getattr(scope.get("route"), "path_format", UNMATCHED)
        places = self._places.get((scope["method"], template)) or self._places_of(scope["method"], template)
        requests, durations = places
        values = self._values
        values[requests + status // 100 - 2] += 1
        values[durations + bisect_left(_BOUNDS, took)] += 1
        values[durations + _SUM] += took

    def _places_of(self, method: str, template: str) -> tuple[int, int]:
        """Return the places of a method and a template, seen for the first time; a method may be any word."""
        key = (method if method in METHODS else OTHER_METHOD, template)
        if key not in self._places:
            requests = [self._numbers.place(REQUESTS, *key, status) for status in STATUSES]
            self._places[key] = requests[0], self._numbers.place(DURATIONS, *key)
        return self._places[key]
