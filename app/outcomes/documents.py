"""Statistics and directions as the database stores them."""

from pydantic import TypeAdapter

from relevance_bayes.types.outcomes import Direction, Statistic

STATISTIC: TypeAdapter[Statistic] = TypeAdapter(Statistic)
DIRECTION: TypeAdapter[Direction] = TypeAdapter(Direction)
