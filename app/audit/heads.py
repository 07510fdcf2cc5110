"""Verification of chains of entries, and the heads of all chains in a file outside the database.

The file is made with a key that the database does not have. Who can write to the database can delete the newest
entries, delete a chain, or compute all hashes anew. A line of the file has the last entry of each chain at a time, the
hash-based message authentication code (HMAC, RFC 2104) of its content, and that of the line before. So nobody without
the key can write a line, change one, or leave one out between others.

Verification shows that no entry up to a checkpoint that is kept elsewhere was changed, inserted or deleted. Without
one, those who can write to the database could have replaced all hashes from some entry on. Heads with a code of
authentication are such checkpoints of all chains.
"""

import fcntl
import hashlib
import hmac
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import structlog
from pydantic import TypeAdapter, ValidationError

from app.audit.records import GENESIS, ChainHead, canonical, hash_of
from relevance_bayes.records.audit import AuditEntry

MIN_KEY_BYTES = 32
"""The minimum length of the key: that of the output of SHA-256 (RFC 2104, section 3)."""

MAX_UNSENT = 1_440
"""The maximum number of lines that wait for their receiver; the oldest is left out, which later ones show."""

log = structlog.stdlib.get_logger("app.audit")


@dataclass(frozen=True)
class _HeadLine:
    """The heads of the chains that have changed since the line before, and the digest of all.

    `retention_seconds` is the age at which entries expire; `previous` is the `mac` of the line before.
    """

    number: int
    at: str
    retention_seconds: int
    chains: tuple[ChainHead, ...]
    digest: str
    previous: str
    mac: str

    @property
    def time(self) -> datetime:
        """Return the time at which the heads were read; raises ValueError for another form."""
        return datetime.strptime(self.at, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


LINE: TypeAdapter[_HeadLine] = TypeAdapter(_HeadLine)


def digest_of(heads: Iterable[ChainHead]) -> str:
    """Return the SHA-256 digest of heads, in the order of their owners."""
    listed = [[head.owner, head.number, head.hash] for head in sorted(heads, key=lambda head: head.owner)]
    return hashlib.sha256(canonical({"chains": listed})).hexdigest()


def _mac_of(line: _HeadLine, key: bytes) -> str:
    """Return the code that a line must have, which covers all members but itself."""
    content = {**vars(line), "chains": [vars(head) for head in line.chains]}
    del content["mac"]
    return hmac.new(key, canonical(content), hashlib.sha256).hexdigest()


def read_key(path: Path) -> bytes:
    """Return the key in a file, without white space at its ends; raises OSError, ValueError for a short one."""
    key = path.read_bytes().strip()
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"expected a key of at least {MIN_KEY_BYTES} bytes in {path}, got {len(key)}")
    return key


@dataclass
class Heads:
    """The lines of a file as far as they were read: the time of each, and by owner the heads with their line.

    `latest` are the heads after the last line, and `faults` what is wrong with the lines. Without `has_history`, as for
    those who append, only what the next line depends on is kept.
    """

    key: bytes
    has_history: bool = True
    times: list[datetime] = field(default_factory=list)
    retentions: list[int] = field(default_factory=list)
    by_owner: dict[str, list[tuple[int, ChainHead]]] = field(default_factory=dict)
    latest: dict[str, ChainHead] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _lines: int = 0
    _mac: str = GENESIS

    def add(self, content: bytes) -> None:
        """Verify a line and its link to the one before, and add what it has."""
        number = self._lines = self._lines + 1
        try:
            line = LINE.validate_json(content, strict=False)
            time = line.time
        except (ValidationError, ValueError):
            self.faults.append(f"Line {number} of the heads can't be read.")
            return
        if not hmac.compare_digest(_mac_of(line, self.key), line.mac):
            self.faults.append(f"Line {number} of the heads was changed, or written with another key.")
            return
        if (line.number, line.previous) != (number, self._mac):
            self.faults.append(f"Line {line.number} of the heads does not follow the line before.")
        self._mac = line.mac
        self.latest |= {head.owner: head for head in line.chains}
        if digest_of(self.latest.values()) != line.digest:
            self.faults.append(f"A chain of an earlier line was missing in the database at {line.at}.")
        if self.has_history:
            for head in line.chains:
                self.by_owner.setdefault(head.owner, []).append((len(self.times), head))
            self.times.append(time)
            self.retentions.append(line.retention_seconds)

    def following(self, heads: Sequence[ChainHead], at: datetime, retention_seconds: int) -> bytes:
        """Return the next line for the heads of all chains at a time, with its end."""
        changed = tuple(head for head in heads if self.latest.get(head.owner) != head)
        text = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        line = _HeadLine(self._lines + 1, text, retention_seconds, changed, digest_of(heads), self._mac, "")
        content = {**vars(line), "chains": [vars(head) for head in changed], "mac": _mac_of(line, self.key)}
        return canonical(content) + b"\n"

    def checkpoints(self, owner: str) -> tuple[ChainHead, ...]:
        """Return all heads of the chain of an owner."""
        return tuple(head for _, head in self.by_owner.get(owner, ()))

    def not_before(self, owner: str, number: int) -> datetime | None:
        """Return a time before which an entry was not there; None where no line is that early."""
        first = self._first(owner, number)
        index = len(self.times) if first is None else first
        return self.times[index - 1] if index else None

    def not_after(self, owner: str, number: int) -> tuple[datetime, int] | None:
        """Return the time of the first line that has an entry, and the retention then; None where no line has it."""
        first = self._first(owner, number)
        return None if first is None else (self.times[first], self.retentions[first])

    def _first(self, owner: str, number: int) -> int | None:
        return next((index for index, head in self.by_owner.get(owner, ()) if head.number >= number), None)


def read_heads(path: Path, key: bytes) -> Heads:
    """Return the complete lines of a file; raises OSError."""
    heads = Heads(key)
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):  # otherwise it is being written, or its writer was killed
                heads.add(line)
    return heads


class HeadFile:
    """A file to which processes append lines, one at a time."""

    def __init__(self, path: Path, key: bytes) -> None:
        self._path = path
        self._heads = Heads(key, has_history=False)
        self._size = 0

    def append(self, heads: Sequence[ChainHead], at: datetime, *, retention_seconds: int) -> bytes:
        """Append a line for the heads of all chains, and return it once it is on the disk; raises OSError."""
        with self._path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._read(file.fileno())
            line = self._heads.following(heads, at, retention_seconds)
            file.truncate(self._size)  # the beginning of a line whose writer was killed
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            self._heads.add(line)
            self._size += len(line)
            return line

    def _read(self, descriptor: int) -> None:
        """Read the lines that other processes have added; all anew where the file is another one, or shorter."""
        if os.fstat(descriptor).st_size < self._size:
            self._heads, self._size = Heads(self._heads.key, has_history=False), 0
        with os.fdopen(os.dup(descriptor), "rb") as file:
            file.seek(self._size)
            for line in file:
                if line.endswith(b"\n"):
                    self._heads.add(line)
                    self._size += len(line)


class HeadWriter:
    """Appends the heads of all chains to a file, and sends each line to where `send` does, in order."""

    def __init__(
        self,
        read: Callable[[], Sequence[ChainHead]],
        file: HeadFile,
        retention_seconds: float,
        *,
        send: Callable[[bytes], None] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._read = read
        self._file = file
        self._retention_seconds = round(retention_seconds)
        self._send = send
        self._now = now
        self._unsent: deque[bytes] = deque(maxlen=MAX_UNSENT)

    def write(self) -> None:
        """Write a line; one that can't be written or sent is logged. Raises UnavailableError of the database."""
        heads = self._read()
        try:
            line = self._file.append(heads, self._now(), retention_seconds=self._retention_seconds)
            if self._send is not None:
                self._unsent.append(line)
                while self._unsent:
                    self._send(self._unsent[0])
                    self._unsent.popleft()
        except OSError as error:
            log.error("audit heads not written", reason=str(error), unsent=len(self._unsent))


MAX_FAULTS = 20
"""The maximum number of faults that are reported of one chain."""


MAX_CLOCK_SECONDS = 3_600
"""The maximum difference between the clocks of the processes that write entries and heads."""


@dataclass(frozen=True)
class VerifiedChain:
    """The result of a verification: the kept entries from `first` on, the last one as a checkpoint, and faults."""

    owner: str
    entries: int
    first: int | None
    last: ChainHead | None
    faults: tuple[str, ...]


@dataclass
class Verification:
    """The verification of one chain, to which entries are added in their order."""

    owner: str
    checkpoints: Iterable[ChainHead] = ()
    heads: Heads | None = None
    entries: int = 0
    faults: list[str] = field(default_factory=list)
    _first: AuditEntry | None = None
    _last: AuditEntry | None = None
    _expired: tuple[int, str] | None = None
    _expiries: list[tuple[AuditEntry, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._kept: dict[int, str] = {}
        for one in self.checkpoints:
            if one.owner == self.owner and self._kept.setdefault(one.number, one.hash) != one.hash:
                self._fault(f"Entry {one.number} was replaced: two checkpoints have different hashes.")

    def add(self, entry: AuditEntry) -> None:
        """Verify an entry by itself, and its link to the one before."""
        number, last = entry.number, self._last
        if last is None:
            self._first = entry
        elif number != last.number + 1:
            self._fault(f"Expected entry {last.number + 1} after entry {last.number}, got {number}.")
        elif entry.previous_hash != last.hash:
            self._fault(f"Entry {number} does not follow entry {last.number}: its `previous_hash` is another.")
        if entry.owner != self.owner:
            self._fault(f"Entry {number} is of another owner, {entry.owner!r}.")
        if hash_of(entry) != entry.hash:
            self._fault(f"Entry {number} was changed: its content has another hash.")
        if self._kept.get(number, entry.hash) != entry.hash:
            self._fault(f"Entry {number} was replaced: the checkpoint has another hash.")
        if entry.action == "audit.expired":
            through, last_hash = entry.details.get("through"), entry.details.get("hash")
            if isinstance(through, int) and isinstance(last_hash, str):
                self._expired = through, last_hash
                self._expiries.append((entry, through))
                if self._kept.get(through, last_hash) != last_hash:
                    self._fault(f"Entry {number} has another hash of entry {through} than the checkpoint.")
        self._last = entry
        self.entries += 1

    def unreadable(self) -> None:
        """Add a fault for an entry whose stored form is not valid."""
        after = "the beginning" if self._last is None else f"entry {self._last.number}"
        self._fault(f"An entry after {after} can't be read: its stored form was changed.")

    def result(self, head: ChainHead | None = None) -> VerifiedChain:
        """Return the result for a chain that ends with `head`, where that is known."""
        self._check_beginning()
        self._check_expiries()
        last = None if self._last is None else ChainHead(self.owner, self._last.number, self._last.hash)
        if head is not None and head != (last or ChainHead(self.owner, 0, GENESIS)):
            got = "none" if last is None else f"entry {last.number}"
            self._fault(f"Expected entry {head.number} with the recorded hash as the last one, got {got}.")
        latest = max(self._kept, default=0)
        if latest > (0 if last is None else last.number):
            self._fault(f"Entries are missing at the end: there is a checkpoint of entry {latest}.")
        first = None if self._first is None else self._first.number
        return VerifiedChain(self.owner, self.entries, first, last, tuple(self.faults))

    def _check_beginning(self) -> None:
        first = self._first
        if first is None:
            return
        if first.number == 1:
            if first.previous_hash != GENESIS:
                self._fault("Expected zeros as the `previous_hash` of entry 1.")
            return
        through, last_hash = self._expired or (0, "")
        if through < first.number - 1:
            self._fault(f"Entries before {first.number} are missing, and no entry `audit.expired` is about them.")
        elif through == first.number - 1 and last_hash != first.previous_hash:
            self._fault(f"Entry {first.number} does not follow the deleted one of which `audit.expired` has the hash.")

    def _check_expiries(self) -> None:
        """Find entries that were deleted earlier than by retention, where the heads show how old they were at most."""
        if self.heads is None:
            return
        for entry, through in self._expiries:
            made, recorded = self.heads.not_before(self.owner, through), self.heads.not_after(self.owner, entry.number)
            if made is None or recorded is None:
                continue
            at, retention = recorded
            age = (min(at, entry.at) - made).total_seconds()
            if age < retention - MAX_CLOCK_SECONDS:
                detail = f"which were at most {max(age, 0.0):.0f} s old; they are kept for {retention} s"
                self._fault(f"Entry {entry.number} is about the expiry of entries up to {through}, {detail}.")

    def _fault(self, text: str) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(text)
