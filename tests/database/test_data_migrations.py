"""The rows of earlier releases after the migrations of data."""

import base64
import json
from dataclasses import replace
from datetime import timedelta
from math import log
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Engine, inspect, select, text

from app.accounts.session_repository import SessionRepository
from app.database.holds import JobHoldRow
from app.database.migrations import downgrade, migrate
from app.database.transaction import OpenTransaction
from app.datasets.repository import DatasetRepository
from app.errors import InUseError
from app.exports.formats import DOCUMENT
from app.http.conditions import Condition
from app.identity import Principal
from app.jobs.attempts import Claim
from app.jobs.histories import PROBLEM
from app.jobs.records import Problem
from app.jobs.repository import JobRepository
from app.registry.alias_repository import AliasRepository
from app.registry.records import Annotation
from app.registry.repository import ModelRepository
from app.registry.submission import submit
from app.registry.vector_repository import VectorRepository
from relevance_bayes.core.evidence import LogEvidence
from relevance_bayes.core.pool import members_of
from relevance_bayes.documents.exported import ExportedSupervised
from relevance_bayes.documents.former_members import current_document
from relevance_bayes.documents.models import SupervisedPredictor
from relevance_bayes.documents.reading import version_of
from relevance_bayes.types.reports import InputWidth
from tests import samples
from tests.narrowing import of_data, of_kind

pytestmark = pytest.mark.thorough


def test_versions_of_one_width_for_all_inputs_become_versions_of_named_widths(
    engine: Engine, transaction: OpenTransaction
) -> None:
    samples.stored_version(transaction)
    downgrade(engine, "2026_11_21_first_tables")
    with engine.connect() as connection:
        report = json.loads(connection.execute(text("SELECT report FROM model_versions")).scalar_one())
    assert report["widths"] == [0.5, 1e300, 2.0]
    assert "warps" not in report
    migrate(engine)
    with transaction() as tx:
        version = ModelRepository(tx).version(samples.OWNER, "prices")
        vectors = VectorRepository(tx).page(version.id, limit=9, after=None, sort="number").items
    widths = tuple(InputWidth(None, width) for width in (0.5, 1e300, 2.0))
    before = samples.new_version().report
    (member,) = before.members
    found = replace(member.hyperparameters, widths=widths, warps=(), signal_sd=None, last_gain=None, next_gain=None)
    evidence = samples.predictor().model.evidence  # of the first versions its price was taken off
    evidence = LogEvidence(evidence.value - evidence.price - 10 * log(2.0), "exact")
    member = replace(member, functions=5, hyperparameters=found, evidence=evidence, evidence_unreduced=None, score=None)
    assert of_data(version.report).members == (member,)
    assert vectors == tuple(replace(vector, input=None, optimised=False) for vector in samples.vectors())


BEFORE = json.loads((Path(__file__).parents[1] / "exports" / "versions_before_members.json").read_text())
"""Reports and predictors as they were written before versions had members, and documents of the same versions."""


@pytest.mark.parametrize("name", BEFORE["versions"])
def test_versions_from_before_they_had_members_are_read_as_documents_of_theirs_are(
    name: str, engine: Engine, transaction: OpenTransaction
) -> None:
    samples.stored_version(transaction)
    downgrade(engine, "2026_11_24_pools")
    written = BEFORE["versions"][name]
    with engine.begin() as connection:
        connection.execute(text("UPDATE model_versions SET report = :report"), {"report": written["report"]})
        content = base64.b64decode(written["predictor"])
        connection.execute(text("UPDATE posteriors SET content = :content"), {"content": content})
    migrate(engine)
    with transaction() as tx:
        version = ModelRepository(tx).version(samples.OWNER, "prices")
        predictor = of_kind(SupervisedPredictor, ModelRepository(tx).predictor(version.id))
    document = current_document(json.loads(written["document"]))
    exported = version_of(DOCUMENT.validate_json(json.dumps(document), strict=True))
    assert isinstance(exported, ExportedSupervised)
    report = of_data(version.report)
    assert replace(report, plan=replace(report.plan, model="before")) == exported.report
    for one, other in zip(members_of(predictor.learned), members_of(exported.predictor.learned), strict=True):
        assert one.evidence == other.evidence
        np.testing.assert_array_equal(one.covariance, other.covariance)
    downgrade(engine, "2026_11_24_pools")
    with engine.connect() as connection:
        before = json.loads(connection.execute(text("SELECT report FROM model_versions")).scalar_one())
    assert set(before) == set(json.loads(written["report"]))
    assert before["widths"] == json.loads(written["report"])["widths"]


def test_jobs_from_before_know_which_model_they_are_for(engine: Engine, transaction: OpenTransaction) -> None:
    samples.stored_version(transaction)
    job_id = samples.queued_job(transaction)
    downgrade(engine, "2026_11_26_checkpoints")
    assert "request_keys" not in inspect(engine).get_table_names()
    migrate(engine)
    with pytest.raises(InUseError), transaction() as tx:
        ModelRepository(tx).delete(samples.OWNER, "prices")
    with transaction() as tx:
        job = JobRepository(tx).get(samples.OWNER, job_id)
    assert (job.priority, job.retry_of) == (0, None)


def test_going_back_to_when_every_version_had_a_job_keeps_those_that_have(
    engine: Engine, transaction: OpenTransaction
) -> None:
    samples.stored_version(transaction)
    with transaction() as tx:
        added = ModelRepository(tx).add(samples.OWNER, samples.new_version())
        ModelRepository(tx).annotate_version(added, Annotation(tags={"stage": "live"}))
        AliasRepository(tx).move(
            samples.OWNER, "prices", "best", to=added.number, by="me", reason=None, condition=Condition()
        )
    downgrade(engine, "2026_11_30_annotations")
    with engine.connect() as connection:
        counts = [
            connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
            for table in ("model_versions", "posteriors", "version_tags", "model_aliases", "relevance_vectors")
        ]
    assert counts == [1, 1, 0, 0, len(samples.vectors())]
    migrate(engine)
    with transaction() as tx:
        assert ModelRepository(tx).version(samples.OWNER, "prices").number == 1


def test_a_promotion_that_failed_because_its_alias_was_moved_reports_it_by_the_new_name(
    engine: Engine, transaction: OpenTransaction
) -> None:
    samples.stored_version(transaction)
    job_id = samples.queued_job(transaction)
    former = Problem("holder-changed", "A title", 'With "holder-changed" in its detail.')
    with transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(1)
        assert JobRepository(tx).fail(job_id, 1, former)
    migrate(engine)
    assert _stored_problem(engine) == former
    downgrade(engine, "2026_12_04_names")
    migrate(engine)
    assert _stored_problem(engine) == replace(former, kind="alias-moved")
    downgrade(engine, "2026_12_04_names")
    assert _stored_problem(engine) == former


def test_what_unfinished_jobs_need_is_held(engine: Engine, transaction: OpenTransaction) -> None:
    number = samples.stored_version(transaction)  # by a job that has ended, and holds nothing
    training = samples.queued_job(transaction, made=samples.plan(model="not yet made"))
    dataset_id = samples.stored_dataset(transaction, blocks=1).id
    evaluation = samples.new_evaluation(dataset_id, version=number)
    with transaction() as tx:
        submit(tx, evaluation)
    before = _holds(engine)
    assert [(job_id, kind) for job_id, kind, _ in before] == [
        (job_id, kind)
        for job_id, kinds in ((training, ("dataset", "model")), (evaluation.id, ("dataset", "model", "version")))
        for kind in kinds
    ]
    downgrade(engine, "2026_12_05_alias_moved")
    migrate(engine)
    assert _holds(engine) == before
    with pytest.raises(InUseError, match=r"\(1\) use version 1"), transaction() as tx:
        ModelRepository(tx).delete_version(samples.OWNER, "prices", number)


def _holds(engine: Engine) -> list[tuple[UUID, str, str]]:
    row = JobHoldRow
    with engine.connect() as connection:
        held = select(row.job_id, row.kind, row.resource).order_by(row.job_id, row.kind)
        return [(job_id, kind, resource) for job_id, kind, resource in connection.execute(held)]


def _stored_problem(engine: Engine) -> Problem:
    with engine.connect() as connection:
        return PROBLEM.read(
            connection.execute(text("SELECT error FROM training_jobs WHERE error IS NOT NULL")).scalar_one()
        )


def test_datasets_from_before_have_the_size_of_their_blocks(engine: Engine, transaction: OpenTransaction) -> None:
    for blocks in (1, 3):
        samples.stored_dataset(transaction, blocks=blocks)
    with transaction() as tx:
        DatasetRepository(tx).begin(samples.upload())
        size = DatasetRepository(tx).stored_bytes(samples.OWNER)
    downgrade(engine, "2026_12_10_job_totals")
    migrate(engine)
    with transaction() as tx:
        assert DatasetRepository(tx).stored_bytes(samples.OWNER) == size > 0


def test_sessions_in_projects_do_not_act_elsewhere_in_a_release_without_projects(
    engine: Engine, transaction: OpenTransaction
) -> None:
    own = Principal("vision", key_id=None, expires_at=2e9)
    for secret, principal in ((b"own", own), (b"shared", own.acting_in("local", own.scopes))):
        with transaction() as tx:
            SessionRepository(tx).add(secret, principal, tx.clock() + timedelta(days=1))
    downgrade(engine, "2026_12_12_ended_sessions")
    migrate(engine)
    with transaction() as tx:
        assert [*SessionRepository(tx).principals()] == [b"own"]
