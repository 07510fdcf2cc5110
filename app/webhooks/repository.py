"""The repository of webhooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, delete, func, select, update

from app.addresses import read_target
from app.database import keyset
from app.database.changes import changed
from app.database.engine import lock_for_writing
from app.database.pages import Page, PageRequest
from app.database.transaction import Transaction
from app.errors import ConflictError
from app.webhooks.delivery_repository import DELIVERIES_AT_ONCE, forget_deliveries
from app.webhooks.records import MAX_WEBHOOKS, Webhook, webhook_path
from app.webhooks.tables import EVENTS, WebhookDeliveryRow, WebhookRow
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.webhooks import EventType


@dataclass(frozen=True)
class WebhookRepository:
    """Webhooks: URLs that receive messages about the ends of jobs."""

    tx: Transaction

    def add(self, webhook: Webhook, secret: str) -> None:
        """Insert a webhook; raises ConflictError where its owner has MAX_WEBHOOKS already."""
        lock_for_writing(self.tx.session.connection())
        mine = _visible().where(WebhookRow.owner == webhook.owner).subquery()
        if (self.tx.session.scalar(select(func.count()).select_from(mine)) or 0) >= MAX_WEBHOOKS:
            raise ConflictError(f"There are {MAX_WEBHOOKS} webhooks, the maximum: remove one first.")
        self.tx.session.add(
            WebhookRow(
                id=webhook.id,
                owner=webhook.owner,
                url=webhook.url,
                description=webhook.description,
                events=EVENTS.write(webhook.events),
                secret=secret,
                enabled=webhook.enabled,
                created_at=webhook.created_at,
            )
        )
        self.tx.session.flush()
        # Without the path of the URL, which may be a secret and which the audit would keep.
        host, events = read_target(webhook.url).authority, EVENTS.write(webhook.events)
        self.tx.record("webhook.created", webhook.owner, webhook_path(webhook.id), host=host, events=events)

    def get(self, owner: str, webhook_id: UUID) -> Webhook:
        """Return a webhook; raises NotFoundError."""
        return _webhook(self._row(owner, webhook_id))

    def secret(self, owner: str, webhook_id: UUID) -> str:
        """Return the secret that signs a webhook's messages; raises NotFoundError."""
        return self._row(owner, webhook_id).secret

    def page(self, owner: str, part: PageRequest) -> Page[Webhook]:
        """Return a page of webhooks; raises InvalidRequestError for an invalid cursor."""
        query = keyset.by_age(_visible().where(WebhookRow.owner == owner), WebhookRow.id, part, keyset.read_id)
        return keyset.page(self.tx.session.scalars(query).all(), part.limit, _webhook, lambda row: row.id)

    def change(
        self,
        owner: str,
        webhook_id: UUID,
        *,
        url: str | None = None,
        events: Sequence[EventType] | None = None,
        enabled: bool | None = None,
    ) -> Webhook:
        """Change the members that are not None; raises NotFoundError."""
        row = WebhookRow
        listed = None if events is None else EVENTS.write(tuple(events))
        values = {
            "url": url,
            "events": listed,
            "enabled": enabled,
        }
        requested = {name: value for name, value in values.items() if value is not None}
        if requested:
            mine = update(row).where(row.owner == owner, row.id == webhook_id, row.deleted_at.is_(None))
            changed(self.tx.session, mine.values(**requested))
        webhook = self.get(owner, webhook_id)
        if requested:
            host = None if url is None else read_target(url).authority
            self.tx.record(
                "webhook.updated",
                owner,
                webhook_path(webhook_id),
                host=host,
                events=listed,
                enabled=enabled,
            )
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
    return Webhook(row.id, row.owner, row.url, EVENTS.read(row.events), row.created_at, row.description, row.enabled)
