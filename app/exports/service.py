"""Export and import of versions as documents."""

from dataclasses import dataclass, replace

from app.database.transaction import OpenTransaction
from app.http.idempotency_records import Keyed
from app.http.key_repository import IdempotencyKeyRepository
from app.registry.records import Version
from app.registry.repository import ModelRepository
from app.registry.submission import check_model_quota
from app.tasks import task_of
from relevance_bayes.documents.reports import ExportedVersion
from relevance_bayes.records.models import Reference
from relevance_bayes.records.versions import ImportedFrom
from relevance_bayes.tasks.planning import name_faults
from relevance_bayes.tasks.prediction import refuse
from relevance_bayes.tasks.union import NewVersion


@dataclass(frozen=True)
class Exporting:
    """Versions for other programs."""

    transaction: OpenTransaction

    def version(self, owner: str, reference: Reference) -> ExportedVersion:
        """One version; raises NotFoundError, ConflictError for the code of an image."""
        with self.transaction() as tx:
            version = ModelRepository(tx).version(owner, *reference)
            predictor = ModelRepository(tx).predictor(version.id)
            diagnostics = ModelRepository(tx).diagnostics(version.id)
        whole = replace(version, report=version.report.with_diagnostics(diagnostics))
        return task_of(version.report).exported(whole, predictor)


@dataclass(frozen=True)
class Importing:
    """Versions that were trained elsewhere."""

    transaction: OpenTransaction

    def add(
        self, owner: str, name: str, exported: ExportedVersion, *, digest: str, keyed: Keyed[Version] | None = None
    ) -> Version:
        """Record it as the next version of model `name`; `digest` is SHA-256 of what came.

        Raises InvalidRequestError for what can't predict, ConflictError where the model answers another question,
        QuotaExceededError.
        """
        new = _checked(exported, name, ImportedFrom(exported.model, exported.number, digest))
        with self.transaction() as tx:
            check_model_quota(tx, owner, name)
            version = ModelRepository(tx).add(owner, new)
            if keyed is not None:
                # Within the transaction, since only that gives the number.
                IdempotencyKeyRepository(tx).keep(keyed.key, keyed.response(version))
        return version


def _checked(exported: ExportedVersion, name: str, imported: ImportedFrom) -> NewVersion:
    refuse(name_faults(name))
    return task_of(exported.report).imported(exported, name, imported)
