"""Spoiled requests, one after the other, to a real service: each is answered or refused with a reason."""

import http.client
import json
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from app.exports.formats import NPZ
from tests.fuzz.seeds import Sent, seeds
from tests.fuzz.spoiling import spoiled
from tests.served import Service

TIMEOUT = 30.0
WARM = 0.4
"""After this share of the time a process has met all that it keeps, and is to grow no more."""


@dataclass
class Fuzzed:
    """The count of each status, the errors, and the process's size in MB once it was warm, and at the end."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    warm: float = 0.0
    last: float = 0.0


def fuzz(service: Service, *, seconds: float, seed: int) -> Fuzzed:
    """Which requests are sent depends on `seed` alone, how many on the time."""
    random, found = Random(seed), Fuzzed()
    sound = [*seeds(_exported(service))]
    for sent in sound:
        status, reported = _send(service, sent)
        if status >= 300:
            found.wrong.append(f"{status} to what is sound, {_shown(sent)}: {reported[:200]!r}")
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds and len(found.wrong) < 20:
        if not found.warm and passed > WARM * seconds:
            found.warm = _megabytes(service.pid)
        sent = spoiled(random, random.choice(sound), sound)
        try:
            status, reported = _send(service, sent)
        except (OSError, http.client.HTTPException) as error:
            found.wrong.append(f"{error!r} to {_shown(sent)}")
            continue
        found.statuses[status] += 1
        if status >= 500 or (status >= 400 and not _has_reason(reported)):
            found.wrong.append(f"{status} to {_shown(sent)}: {reported[:300]!r}")
    found.last = _megabytes(service.pid)
    return found


def _exported(service: Service) -> dict[str, bytes]:
    files = {}
    for name, media_type in (("json", "application/json"), ("npz", NPZ)):
        sent = Sent("GET", f"/v1/models/mixed/versions/1/export?format={name}", {}, b"")
        status, files[media_type] = _send(service, sent)
        assert status == 200, files[media_type]
    return files


def _send(service: Service, sent: Sent) -> tuple[int, bytes]:
    """On a connection of its own: how one request ends has nothing to do with the next."""
    where = urlsplit(service.url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=TIMEOUT)
    headers = {"Authorization": f"Bearer {service.key}", **sent.headers}
    try:
        connection.request(sent.method, sent.path, sent.body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def _has_reason(reported: bytes) -> bool:
    try:
        problem = json.loads(reported)
    except ValueError:
        return False
    return isinstance(problem, dict) and bool(problem.get("detail") or problem.get("error"))


def _megabytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _shown(sent: Sent) -> str:
    return f"{sent.method} {sent.path} {dict(sent.headers)} {sent.body[:400]!r} ({len(sent.body)} bytes)"
