"""The repository of webhooks."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, delete, func, select, update

from app.addresses import read_target
from app.database import keyset
from app.database.base import Columns, changed
from app.database.engine import lock_for_writing
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import Transaction
from app.errors import ConflictError
from app.webhooks.delivery_repository import DELIVERIES_AT_ONCE, forget_deliveries
from app.webhooks.records import MAX_WEBHOOKS, webhook_path
from app.webhooks.tables import EVENTS, WebhookDeliveryRow, WebhookRow
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.webhooks import Webhook, WebhookChange

WEBHOOK = Columns(Webhook)


@dataclass(frozen=True)
class WebhookRepository:
    """Webhooks: URLs that receive messages about the ends of jobs."""

    tx: Transaction

    def add(self, owner: str, webhook: Webhook, secret: str) -> None:
        """Insert a webhook; raises ConflictError where its owner has MAX_WEBHOOKS already."""
        lock_for_writing(self.tx.session.connection())
        mine = _visible().where(WebhookRow.owner == owner).subquery()
        if (self.tx.session.scalar(select(func.count()).select_from(mine)) or 0) >= MAX_WEBHOOKS:
            raise ConflictError(f"There are {MAX_WEBHOOKS} webhooks, the maximum: remove one first.")
        events = EVENTS.write(webhook.events)
        others = {"id": UUID(webhook.id), "owner": owner, "events": events, "secret": secret}
        self.tx.session.add(WEBHOOK.write(WebhookRow, webhook, **others))
        self.tx.session.flush()
        # Without the path of the URL, which may be a secret and which the audit would keep.
        host = read_target(webhook.url).authority
        self.tx.record("webhook.created", owner, webhook_path(webhook.id), host=host, events=events)

    def get(self, owner: str, webhook_id: UUID) -> Webhook:
        """Return a webhook; raises NotFoundError."""
        return _webhook(self._row(owner, webhook_id))

    def secret(self, owner: str, webhook_id: UUID) -> str:
        """Return the secret that signs a webhook's messages; raises NotFoundError."""
        return self._row(owner, webhook_id).secret

    def page(self, owner: str, part: PageRequest) -> KeysetPage[Webhook]:
        """Return a page of webhooks; raises InvalidRequestError for an invalid cursor."""
        query = keyset.by_age(_visible().where(WebhookRow.owner == owner), WebhookRow.id, part, keyset.read_id)
        return keyset.page(self.tx.session.scalars(query).all(), part.limit, _webhook, lambda row: row.id)

    def change(self, owner: str, webhook_id: UUID, change: WebhookChange) -> Webhook:
        """Change the members that are not None; raises NotFoundError."""
        row = WebhookRow
        events = None if change.events is None else EVENTS.write(change.events)
        values = {name: value for name, value in (vars(change) | {"events": events}).items() if value is not None}
        if values:
            mine = update(row).where(row.owner == owner, row.id == webhook_id, row.deleted_at.is_(None))
            changed(self.tx.session, mine.values(**values))
        webhook = self.get(owner, webhook_id)
        if values:
            host = None if change.url is None else read_target(change.url).authority
            path = webhook_path(webhook_id)
            self.tx.record("webhook.updated", owner, path, host=host, events=events, enabled=change.enabled)
        return webhook

    def disable(self, webhook_id: UUID) -> None:
        """Disable a webhook whose receiver has unsubscribed."""
        row = WebhookRow
        enabled = update(row).where(row.id == webhook_id, row.enabled.is_(True)).values(enabled=False)
        owner = self.tx.session.scalar(enabled.returning(row.owner), execution_options={"synchronize_session": False})
        if owner is not None:
            self.tx.record("webhook.disabled", owner, webhook_path(webhook_id))

    def remove(self, owner: str, webhook_id: UUID) -> None:
        """Remove a webhook and its secret; `remove_expired` deletes its deliveries. Raises NotFoundError."""
        row = WebhookRow
        mine = update(row).where(row.owner == owner, row.id == webhook_id, row.deleted_at.is_(None))
        if not changed(self.tx.session, mine.values(deleted_at=self.tx.clock(), enabled=False, secret="")):
            raise NotFoundError(f"There is no webhook {webhook_id}.")
        self.tx.record("webhook.deleted", owner, webhook_path(webhook_id))

    def remove_expired(self) -> bool:
        """Delete some deliveries of a removed webhook, at last the webhook itself; return whether to call again."""
        removed = self.tx.session.scalar(select(WebhookRow.id).where(WebhookRow.deleted_at.is_not(None)).limit(1))
        if removed is None:
            return False
        mine = select(WebhookDeliveryRow.id).where(WebhookDeliveryRow.webhook_id == removed).limit(DELIVERIES_AT_ONCE)
        if forget_deliveries(self.tx.session, mine) < DELIVERIES_AT_ONCE:
            changed(self.tx.session, delete(WebhookRow).where(WebhookRow.id == removed))
        return True

    def _row(self, owner: str, webhook_id: UUID) -> WebhookRow:
        row = self.tx.session.scalar(_visible().where(WebhookRow.owner == owner, WebhookRow.id == webhook_id))
        if row is None:
            raise NotFoundError(f"There is no webhook {webhook_id}.")
        return row


def _visible() -> Select[WebhookRow]:
    return select(WebhookRow).where(WebhookRow.deleted_at.is_(None)).execution_options(populate_existing=True)


def _webhook(row: WebhookRow) -> Webhook:
    return WEBHOOK.read(row, id=str(row.id), events=EVENTS.read(row.events))
