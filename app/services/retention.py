"""What is forgotten for its age."""

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.ports import OpenUnitOfWork, UnitOfWork


@dataclass(frozen=True)
class Retention:
    """Keeps the progress of jobs that ended, and what webhooks were told, for `seconds`; kept answers say their own."""

    open_uow: OpenUnitOfWork
    seconds: float

    def sweep(self) -> None:
        """Forget what is older, in transactions that are short."""
        self._drain(lambda uow: uow.keys.sweep())
        self._drain(lambda uow: uow.jobs.forget_progress(ended_before=self.seconds))
        self._drain(lambda uow: uow.deliveries.sweep(older_than=self.seconds))
        self._drain(lambda uow: uow.webhooks.sweep())

    def _drain(self, forget: Callable[[UnitOfWork], bool]) -> None:
        found = True
        while found:
            with self.open_uow() as uow:
                found = forget(uow)
