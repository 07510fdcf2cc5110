"""Members that contradict each other in a model whose noise is a function of the inputs."""

from dataclasses import replace

import pytest

from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.model import Model
from relevance_bayes.documents.parts import ModelPart
from relevance_bayes.documents.schema import SupervisedContent, content_of, predictor_of
from relevance_bayes.documents.validation import supervised_faults
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from tests.exports.trained import trained
from tests.narrowing import of_kind


def pointers(model: Model) -> set[str | None]:
    predictor = trained("heteroscedastic noise").predictor
    return {fault.pointer for fault in supervised_faults(SupervisedPredictor(predictor.encoding, model), "regression")}


@pytest.fixture
def model() -> Model:
    return trained("heteroscedastic noise").predictor.model


def test_a_trained_one_has_no_faults(model: Model) -> None:
    assert pointers(model) == set()


def test_the_second_function_and_the_likelihood_go_together(model: Model) -> None:
    assert pointers(replace(model, log_noise=None)) == {"/model/log_noise"}
    assert pointers(replace(model, likelihood=GaussianNoise())) == {"/model/log_noise"}


def test_faults_of_the_second_function_have_their_place(model: Model) -> None:
    second = model.log_noise
    assert second is not None
    forged = replace(second.model, rows=model.rows + 1, gamma=second.model.gamma + 5.0)
    found = pointers(replace(model, log_noise=replace(second, model=forged)))
    assert found == {"/model/log_noise/model/rows", "/model/log_noise/model/gamma/0"}


def test_a_document_whose_noise_has_a_noise_is_refused() -> None:
    content = of_kind(SupervisedContent, content_of(trained("heteroscedastic noise").predictor))
    part = of_kind(ModelPart, content.model)
    assert part.log_noise is not None
    nested = replace(part.log_noise, model=replace(part.log_noise.model, log_noise=part.log_noise))
    with pytest.raises(InvalidRequestError) as caught:
        predictor_of(replace(content, model=replace(part, log_noise=nested)))
    assert [fault.pointer for fault in caught.value.faults] == ["/model/log_noise/model/log_noise"]
