"""Versions of format 1 state in one figure what stands apart now: each is what the oracle makes of it."""

import json
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from app.exports.formats import DOCUMENT, RENDERINGS
from app.tasks.supervised.importing import checked
from relevance_bayes.documents.exported import ExportedSupervised
from relevance_bayes.documents.former_members import current_document
from relevance_bayes.documents.reading import version_of
from relevance_bayes.tables.columns import NumberColumn
from relevance_bayes.tables.encoding import encode_inputs, encode_target
from relevance_bayes.types.lineage import ImportedFrom
from tests.exports import oracle
from tests.exports.oracle import Members

BEFORE = json.loads((Path(__file__).parent / "versions_before_members.json").read_text())


def read(name: str) -> ExportedSupervised:
    document = current_document(json.loads(BEFORE["versions"][name]["document"]))
    found = version_of(DOCUMENT.validate_json(json.dumps(document), strict=True))
    assert isinstance(found, ExportedSupervised)
    return found


@pytest.mark.parametrize("name", BEFORE["versions"])
def test_an_earlier_document_is_a_version_that_can_be_taken_in(name: str) -> None:
    made = read(name)
    assert checked(made, "before", ImportedFrom("before", 1, "0" * 64)).report.members == made.report.members
    again = version_of(DOCUMENT.validate_json(RENDERINGS["json"].render(made), strict=True))
    assert again.report == made.report


@pytest.mark.parametrize("name", ["priced", "hyperpriors", "compared"])
def test_the_evidence_of_an_earlier_version_is_that_of_its_rows(name: str) -> None:
    made = read(name)
    encoding = made.predictor.encoding
    block = {column: NumberColumn(np.array(BEFORE[column])) for column in ("x", "w", "y")}
    rows, _ = encode_inputs(encoding, block)
    t = encode_target(encoding.target, block)
    document: Members = json.loads(RENDERINGS["json"].render(made))
    model = document["model"]
    assert isinstance(model, dict)
    K, c = oracle.prior_covariance(rows, model)
    if name == "compared":
        t = t - t.mean()
    noise = np.full(len(t), float(str(model["noise_sd"])) ** 2)
    value = oracle.gaussian_evidence(t, K, c, noise)
    (member,) = made.report.members
    assert member.evidence is not None
    assert member.evidence.value == pytest.approx(value - len(t) * log(encoding.target.scale), rel=1e-6)
    alpha = np.array(model["alpha"], np.float64)
    if name == "priced":
        assert member.evidence.price == pytest.approx(oracle.price(int(str(model["candidates"])), len(alpha)))
    if name == "hyperpriors":
        expected = oracle.log_gamma_densities(alpha, 0.5, 0.1) + oracle.log_gamma_densities(1.0 / noise[:1], 2.0, 0.05)
        assert member.evidence.log_hyperprior == pytest.approx(expected, abs=1e-9)
        prior, unit = made.report.plan.spec.prior, encoding.target.latent_unit
        assert (prior.type, getattr(prior, "b", None), getattr(prior, "d", None)) == (
            "independent",
            pytest.approx(0.1 * unit**2),
            pytest.approx(0.05 * unit**2),
        )


def test_what_an_earlier_version_compared_is_listed_once() -> None:
    compared, pool = read("compared").report, read("pool").report
    assert compared.integrated_evidence is not None
    assert [one.kind for one in compared.alternatives] == ["integrated_evidence"]
    assert len(pool.members) == 2
    assert {one.kind for one in pool.alternatives} == {"fold_log_density"}
    assert len(pool.members) + len(pool.alternatives) == 4 + 1  # four processes, and independent weights beside them
    assert None not in [member.score for member in pool.members]
    assert pool.evidence is None
    assert replace(pool.hyperparameters) == type(pool.hyperparameters)()
