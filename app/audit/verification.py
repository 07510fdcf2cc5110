"""Verification of a chain of entries.

It shows that no entry up to a checkpoint that is kept elsewhere was changed, inserted or deleted. Without one, those
who can write to the database could have replaced all hashes from some entry on. Heads with a code of authentication
are such checkpoints of all chains.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from app.audit.heads import Heads
from app.audit.records import GENESIS, ChainHead, hash_of
from relevance_bayes.records.audit import AuditEntry

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
