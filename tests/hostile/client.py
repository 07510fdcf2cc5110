"""A client of a real service that bounds the time of each response, and what a response may never be."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

MAX_SECONDS = 15.0
"""Of one response: a busy machine takes a while, a service that hangs takes longer."""

PROBLEM = "application/problem+json"


@contextmanager
def hostile_client(url: str, key: str) -> Iterator[httpx2.Client]:
    """Yield a client with the key; a response that takes longer than `MAX_SECONDS` is an error."""
    with httpx2.Client(base_url=url, timeout=MAX_SECONDS, headers={"Authorization": f"Bearer {key}"}) as client:
        yield client


def fault(response: httpx2.Response) -> str:
    """Return what is wrong with a response to a hostile request: anything but a success or a refusal as a problem."""
    status, media_type = response.status_code, response.headers.get("Content-Type", "")
    if 200 <= status < 300:
        return ""
    if not 400 <= status < 500:
        return f"{status}: {response.text[:300]}"
    if media_type.partition(";")[0] != PROBLEM:
        return f"{status} as {media_type}: {response.text[:300]}"
    problem = response.json()
    if problem.get("status") != status or not problem.get("detail"):
        return f"{status} without its status or detail: {response.text[:300]}"
    return ""
