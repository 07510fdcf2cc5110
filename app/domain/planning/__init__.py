"""From what a caller asks to what a worker does, or to all that is wrong with it."""

from app.domain.planning.plan import plan

__all__ = ["plan"]
