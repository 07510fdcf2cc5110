"""The readiness of a process."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Readiness:
    """Readiness: the database answers, has the tables that this version expects, and some worker is alive; and whether
    there is a version in memory, which can be predicted with without the database."""

    database: bool
    migrated: bool
    worker: bool
    has_loaded_versions: bool = False

    @property
    def can_predict(self) -> bool:
        """Return whether predictions can be answered: those of versions in memory, at least."""
        return self.has_loaded_versions or (self.database and self.migrated)

    @property
    def can_train(self) -> bool:
        """Return whether trainings can be taken and will run."""
        return self.database and self.migrated and self.worker
