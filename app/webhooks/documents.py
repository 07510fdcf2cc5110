"""The events of a webhook as JSON; types and states as the database stores them."""

from pydantic import TypeAdapter

from app.database.json_documents import Document
from relevance_bayes.types.webhooks import DeliveryError, DeliveryState, EventType, MessageType

EVENTS: Document[tuple[EventType, ...]] = Document(TypeAdapter(tuple[EventType, ...]))
DELIVERY_STATE: TypeAdapter[DeliveryState] = TypeAdapter(DeliveryState)
MESSAGE_TYPE: TypeAdapter[MessageType] = TypeAdapter(MessageType)
ERROR: TypeAdapter[DeliveryError] = TypeAdapter(DeliveryError)
