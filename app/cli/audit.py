"""`relevance audit`: the audit in the database itself."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import TypeAdapter, ValidationError

from app.audit.heads import Heads, Verification, VerifiedChain, read_heads, read_key
from app.audit.records import AuditFilter, ChainHead
from app.audit.service import EXPORTS, Audit
from app.cli.config import database_in_reach, usable_settings
from app.database.keyset import PageRequest
from app.maintenance import administration
from relevance_bayes.cli.console import echo, refuse, warn
from relevance_bayes.cli.rendering import print_json, print_table, time_text
from relevance_bayes.records.audit import AUDIT_ACTIONS, AuditEntry
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.formats import CSV, NDJSON

CHAINS: TypeAdapter[tuple[VerifiedChain, ...]] = TypeAdapter(tuple[VerifiedChain, ...])
ENTRY: TypeAdapter[AuditEntry] = TypeAdapter(AuditEntry)
MEDIA_TYPES = {one.name: one.media_type for one in (NDJSON, CSV)}


Owner = Annotated[str, typer.Option(metavar="NAME", help="The owner of the resources.")]
Action = Annotated[str | None, typer.Option(metavar="NAME", help="Only this action, such as key.created.")]
Actor = Annotated[str | None, typer.Option(metavar="ID", help="Only changes by this actor.")]
Resource = Annotated[str | None, typer.Option(metavar="PATH", help="Only changes of this path.")]
Since = Annotated[datetime | None, typer.Option(help="Only entries at this time (UTC) or later.")]
Until = Annotated[datetime | None, typer.Option(help="Only entries before this time (UTC).")]


def _filter(
    action: str | None, actor: str | None, resource: str | None, since: datetime | None, until: datetime | None
) -> AuditFilter:
    """Return the filter of these options; raises typer.Exit for an unknown action."""
    known = next((one for one in AUDIT_ACTIONS if one == action), None)
    if known != action:
        refuse(f"Expected one of {', '.join(AUDIT_ACTIONS)}; got {action!r}.")
    begin, end = (None if at is None else at.replace(tzinfo=UTC) for at in (since, until))
    return AuditFilter(known, actor, resource, begin, end)


def list_entries(
    *,
    owner: Owner = "local",
    action: Action = None,
    actor: Actor = None,
    resource: Resource = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The maximum number of entries.")] = 50,
) -> None:
    """List the newest entries."""
    which = _filter(action, actor, resource, since, until)
    with _audit() as audit:
        found = audit.page(owner, PageRequest(limit), which).items
    header = ("number", "time", "action", "resource", "actor", "address", "result")
    print_table(header, map(_row, found), if_none=f"There is no such entry of the owner {owner!r}.")


def export(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; - is standard output.")],
    *,
    owner: Owner = "local",
    action: Action = None,
    actor: Actor = None,
    resource: Resource = None,
    since: Since = None,
    until: Until = None,
    written: Annotated[Literal["ndjson", "csv"], typer.Option("--format", help="The format.")] = "ndjson",
) -> None:
    """Export entries, oldest first."""
    which = _filter(action, actor, resource, since, until)
    with _audit() as audit:
        content = EXPORTS[MEDIA_TYPES[written]](audit.batches(owner, which))
        if str(path) == "-":
            for piece in content:
                sys.stdout.buffer.write(piece)
            return
        try:
            with path.open("xb") as file:
                file.writelines(content)
        except OSError as error:
            refuse(f"The export can't be written: {error}.")


def verify(
    *,
    owner: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default="all", help="The owner whose chain is verified."),
    ] = None,
    checkpoints: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An earlier output of `relevance audit verify --json`.")
    ] = None,
    heads: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default="that of the settings", help="A file of heads, or a copy of one."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An export without filters, verified in place of the database.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, to be kept as checkpoints.")] = False,
) -> None:
    """Verify that no entry was changed, inserted or deleted; ends with exit code 1 where one was.

    Only heads or checkpoints that are kept elsewhere show that somebody who can write to the database has replaced
    entries with all hashes, or deleted the newest ones.
    """
    kept = () if checkpoints is None else _checkpoints(checkpoints)
    authenticated = None if file is not None and heads is None else _heads(heads)  # before the entries are read
    if file is not None:
        chains = _of_file(file, owner, kept, authenticated)
    else:
        with _audit() as audit:
            known = {one.owner for one in kept} | {*audit.owners(), *(authenticated.latest if authenticated else ())}
            owners = sorted(known) if owner is None else [owner]
            chains = tuple(audit.verify(one, kept, authenticated) for one in owners)
    _warn_of_limits(authenticated)
    if as_json:
        print_json(chains)
    else:
        print_table(("owner", "entries", "from", "to", "last hash", "faults"), map(_facts, chains), if_none="No entry.")
        for chain in chains:
            for fault in chain.faults:
                echo(f"{chain.owner}: {fault}")
    if any(chain.faults for chain in chains) or (authenticated is not None and authenticated.faults):
        raise typer.Exit(1)


def _heads(path: Path | None) -> Heads | None:
    """Return the heads in a file, or in that of the settings; None without either. Raises typer.Exit."""
    settings = usable_settings()
    file, key = path or settings.audit_head_file, settings.audit_head_key_file
    if file is None:
        return None
    if key is None:
        refuse("RELEVANCE_AUDIT_HEAD_KEY_FILE is needed to verify heads.")
    try:
        return read_heads(file, read_key(key))
    except (OSError, ValueError) as error:
        refuse(f"The heads can't be read: {error}.")


def _warn_of_limits(heads: Heads | None) -> None:
    """Print on standard error what the verification shows, and what it can't show."""
    if heads is None:
        warn(
            "Without the heads of the chains outside the database (RELEVANCE_AUDIT_HEAD_FILE) this does not show "
            "newest entries that were deleted, a deleted chain, hashes that were computed anew, or an expiry that was "
            "made up by somebody who can write to the database."
        )
        return
    for fault in heads.faults:
        warn(fault)
    if heads.times:
        first, last = (time_text(one) for one in (heads.times[0], heads.times[-1]))
        warn(
            f"The heads vouch for the entries up to those of {last}, and for expiry since {first}; "
            "they don't for later changes."
        )
    else:
        warn("There are no heads yet: they vouch for no entry.")


def _of_file(
    path: Path, owner: str | None, kept: Sequence[ChainHead], heads: Heads | None
) -> tuple[VerifiedChain, ...]:
    """Return the chains in a file, or that of an owner, also where the file has none of its entries."""

    def of(name: str) -> Verification:
        return Verification(name, (*kept, *(() if heads is None else heads.checkpoints(name))), heads)

    verified = {} if owner is None else {owner: of(owner)}
    try:
        with path.open("rb") as file:
            for line in file:
                entry = ENTRY.validate_json(line)
                if entry.owner not in verified:
                    verified[entry.owner] = of(entry.owner)
                verified[entry.owner].add(entry)
    except OSError as error:
        refuse(f"The export can't be read: {error}.")
    except ValidationError as error:
        refuse(f"Expected an export as NDJSON: {error.errors()[0]['msg']}.")
    return tuple(one.result() for name, one in verified.items() if owner in {None, name})


def _checkpoints(path: Path) -> tuple[ChainHead, ...]:
    try:
        chains = CHAINS.validate_json(path.read_bytes())
    except OSError as error:
        refuse(f"The checkpoints can't be read: {error}.")
    except ValidationError as error:
        refuse(f"Expected the output of `relevance audit verify --json`: {error.errors()[0]['msg']}.")
    return tuple(chain.last for chain in chains if chain.last is not None)


@contextmanager
def _audit() -> Iterator[Audit]:
    """The audit of the database; raises typer.Exit."""
    settings = usable_settings()
    try:
        with database_in_reach(settings), administration.audit(settings) as audit:
            yield audit
    except RelevanceError as error:
        refuse(str(error.detail))


def _row(entry: AuditEntry) -> tuple[str, ...]:
    actor = entry.actor.kind if entry.actor.id is None else f"{entry.actor.kind} {entry.actor.id}"
    facts = entry.action, entry.resource, actor, entry.address or "", entry.result
    return str(entry.number), time_text(entry.at), *facts


def _facts(chain: VerifiedChain) -> tuple[str, ...]:
    last = chain.last
    ends = ("", "", "") if last is None else (str(chain.first), str(last.number), last.hash)
    return chain.owner, f"{chain.entries:,}", *ends, str(len(chain.faults))
