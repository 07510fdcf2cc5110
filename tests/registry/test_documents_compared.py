"""Compared models, in the documents of plans and reports."""

from dataclasses import replace

from app.registry.trainings import TRAINING
from app.registry.version_repository import REPORT
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels.hyperparameters import InheritedWidth
from relevance_bayes.core.likelihoods import GaussianNoise, LogGaussian
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.tasks.supervised.report import Alternative
from tests import samples
from tests.narrowing import of_data


def test_what_was_compared_comes_back_as_it_was_written() -> None:
    compared = (
        Alternative(None, GaussianProcess("rows", 2.5, 40), LogGaussian(), 7, "integrated_evidence", -1.0 / 3.0),
        Alternative(KernelBasis(), Independent(price=True), GaussianNoise(0.1), 70, "fold_log_density", -1e300),
    )
    report = replace(samples.new_version().report, alternatives=compared)
    assert of_data(REPORT.read(REPORT.write(report))).alternatives == compared


def test_alternatives_of_a_plan_come_back_as_they_were_written() -> None:
    beside = Spec(GaussianNoise(), (KernelBasis(width=InheritedWidth()), Bias()), Independent(price=True))
    made = replace(samples.plan(), compared_models=(beside, replace(beside, likelihood=LogGaussian())))
    assert TRAINING.plan.read(TRAINING.plan.write(made)) == made
