"""The readiness of a process."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Readiness:
    """The readiness of a process: the database responds, it has the tables that this release expects, a worker is
    alive, a version is cached, which predicts without the database, and the disk of a database in a file has space."""

    database: bool
    migrated: bool
    worker: bool
    has_loaded_versions: bool = False
    has_space: bool = True

    @property
    def can_predict(self) -> bool:
        """Return whether predictions can be served, at least from cached versions."""
        return self.has_loaded_versions or (self.database and self.migrated)

    @property
    def can_train(self) -> bool:
        """Return whether trainings are accepted and will run."""
        return self.database and self.migrated and self.worker and self.has_space
