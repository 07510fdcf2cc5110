"""An API key and a member in a test's database."""

from pydantic import SecretStr

from app.accounts.service import MemberService
from app.maintenance import administration
from app.settings import Settings
from relevance_bayes.records.members import Role


def add_key(database_url: str, secret: str) -> None:
    """Have a key of all scopes, as the settings give the first one."""
    administration.migrate(Settings(database_url=database_url, initial_api_key=SecretStr(secret)))


def share(members: MemberService, owner: str, subject: str, role: Role) -> None:
    """Invite a subject to a project, and have it accept."""
    members.put(owner, subject, role)
    members.accept(owner, subject)
