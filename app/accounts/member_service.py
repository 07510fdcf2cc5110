"""Members of projects: list, get, put, remove."""

from dataclasses import dataclass

from app.accounts.member_repository import MemberRepository
from app.accounts.records import MAX_OWNER_LENGTH, Member, ProjectRole, is_label
from app.database.pages import Page
from app.database.transaction import OpenTransaction
from app.errors import ConflictError
from relevance_bayes.types.errors import Fault, InvalidRequestError
from relevance_bayes.types.members import Role


@dataclass(frozen=True)
class Members:
    """The members of an owner's project; each API process sees a change within two seconds."""

    transaction: OpenTransaction

    def page(self, owner: str, *, limit: int, after: str | None) -> Page[Member]:
        """Return a page of members by subject; raises InvalidRequestError for an invalid cursor."""
        with self.transaction() as tx:
            return MemberRepository(tx).page(owner, limit=limit, after=after)

    def get(self, owner: str, subject: str) -> Member:
        """Return a member; raises NotFoundError."""
        with self.transaction() as tx:
            return MemberRepository(tx).get(owner, subject)

    def put(self, owner: str, subject: str, role: Role) -> tuple[Member, bool]:
        """Add a member, or change its role, and return it with whether it is new.

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

    def remove(self, owner: str, subject: str) -> None:
        """Delete a member; raises NotFoundError."""
        with self.transaction() as tx:
            MemberRepository(tx).remove(owner, subject)

    def projects(self, subject: str, *, limit: int, after: str | None) -> Page[tuple[str, ProjectRole]]:
        """Return a page of the projects of a subject, its own too, by name, with its roles.

        Raises InvalidRequestError for an invalid cursor.
        """
        with self.transaction() as tx:
            return MemberRepository(tx).projects(subject, limit=limit, after=after)
