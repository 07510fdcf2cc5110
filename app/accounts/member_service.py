"""Members of projects: list, get, put, remove."""

from dataclasses import dataclass
from uuid import UUID

from app.accounts.member_repository import MemberRepository, no_such_project, project_path
from app.accounts.records import MAX_OWNER_LENGTH, is_label
from app.accounts.repository import ApiKeyRepository
from app.database.keyset import KeysetPage
from app.database.transaction import OpenTransaction, Transaction
from app.errors import ConflictError
from relevance_bayes.records.errors import Fault, InvalidRequestError, NotFoundError
from relevance_bayes.records.keys import ApiKey
from relevance_bayes.records.members import Member, MemberState, ProjectRole, Role


@dataclass(frozen=True)
class MemberService:
    """The members of an owner's project; each API process sees a change within two seconds."""

    transaction: OpenTransaction

    def page(self, owner: str, *, limit: int, after: str | None, state: MemberState = "member") -> KeysetPage[Member]:
        """Return a page of members, or of those invited, by subject; raises InvalidRequestError for a bad cursor."""
        with self.transaction() as tx:
            return MemberRepository(tx).page(owner, limit=limit, after=after, state=state)

    def get(self, owner: str, subject: str) -> Member:
        """Return a member; raises NotFoundError."""
        with self.transaction() as tx:
            return MemberRepository(tx).get(owner, subject)

    def put(self, owner: str, subject: str, role: Role) -> tuple[Member, bool]:
        """Invite an owner, or change its role, and return it with whether it is new; it is a member once it accepts.

        The subject is not verified: it may get its first key later. Raises InvalidRequestError for an invalid one,
        ConflictError for the owner itself, and for more than the maximum.
        """
        if not is_label(subject, MAX_OWNER_LENGTH):
            detail = f"Expected an owner of 1 to {MAX_OWNER_LENGTH} printable characters, got {subject!r}."
            raise InvalidRequestError(detail, [Fault(detail, parameter="subject")])
        if subject == owner:
            raise ConflictError("The owner of a project has all its scopes there, and is no member of it.")
        with self.transaction() as tx:
            repository = MemberRepository(tx)
            is_new = repository.put(owner, subject, role)
            return repository.get(owner, subject), is_new

    def remove(self, owner: str, subject: str, *, revokes_keys: bool = True) -> tuple[ApiKey, ...]:
        """Delete a member, and return the valid keys of the project that it has made, revoked unless they are kept.

        Raises NotFoundError.
        """
        with self.transaction() as tx:
            return _remove(tx, owner, subject, revokes_keys=revokes_keys)

    def accept(self, owner: str, subject: str) -> Member:
        """Make a subject that is invited a member of a project; raises NotFoundError."""
        with self.transaction() as tx:
            repository = MemberRepository(tx)
            repository.accept(owner, subject)
            return repository.get(owner, subject)

    def leave(self, owner: str, subject: str) -> None:
        """Remove a subject from a project by its own request, or decline an invitation; its keys there are revoked.

        Raises NotFoundError.
        """
        try:
            with self.transaction() as tx:
                _remove(tx, owner, subject, revokes_keys=True)
                tx.record("project.left", subject, project_path(owner))
        except NotFoundError as error:
            raise no_such_project(owner) from error

    def projects(
        self, subject: str, *, limit: int, after: str | None, state: MemberState = "member"
    ) -> KeysetPage[tuple[str, ProjectRole]]:
        """Return a page of the projects of a subject, its own too, or of those it is invited to, by name, with roles.

        Raises InvalidRequestError for an invalid cursor.
        """
        with self.transaction() as tx:
            return MemberRepository(tx).projects(subject, limit=limit, after=after, state=state)


def _remove(tx: Transaction, owner: str, subject: str, *, revokes_keys: bool) -> tuple[ApiKey, ...]:
    MemberRepository(tx).remove(owner, subject)
    keys = ApiKeyRepository(tx)
    made = keys.made_by(owner, subject)
    return tuple(keys.revoke(owner, UUID(key.id)) for key in made) if revokes_keys else made
