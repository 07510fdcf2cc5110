"""Diagnostics are stored apart from the report."""

from app.database.transaction import OpenTransaction
from app.exports.service import Exporting
from app.registry.repository import ModelRepository
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.documents.schema import document_of, version_of
from relevance_bayes.records.models import Reference
from tests.small_diagnostics import FOUND, kept


def test_diagnostics_are_stored_apart_from_the_report_and_exported_with_it(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        stored = ModelRepository(tx).add("ann", kept())
        assert stored.report.diagnostics is None
        assert ModelRepository(tx).version("ann", "kept").report.diagnostics is None
        assert ModelRepository(tx).diagnostics(stored.id) == FOUND
    exported = Exporting(transaction).version("ann", Reference("kept", 1))
    assert exported.report.diagnostics == FOUND
    assert isinstance(exported, ExportedSupervised)
    again = version_of(document_of(exported))
    assert again.report.diagnostics == FOUND
