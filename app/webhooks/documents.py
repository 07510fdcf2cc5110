"""The events of a webhook as JSON; types and states as the database stores them."""

from pydantic import TypeAdapter

from app.database.json_documents import Document
from relevance_bayes.types.webhooks import DeliveryState, EventType, MessageType, Obstacle

EVENTS: Document[tuple[EventType, ...]] = Document(TypeAdapter(tuple[EventType, ...]))
DELIVERY_STATE: TypeAdapter[DeliveryState] = TypeAdapter(DeliveryState)
MESSAGE_TYPE: TypeAdapter[MessageType] = TypeAdapter(MessageType)
OBSTACLE: TypeAdapter[Obstacle] = TypeAdapter(Obstacle)
