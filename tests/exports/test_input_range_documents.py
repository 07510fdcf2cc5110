"""The range of the inputs in documents: without it, with it, and of members that contradict each other."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.model import InputRange, Model
from relevance_bayes.documents.parts import InputRangePart, ModelPart
from relevance_bayes.documents.schema import SupervisedContent, content_of, predictor_of
from relevance_bayes.documents.validation import supervised_faults
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from tests.exports.trained import LOG_LINKS, far_rows, predicted, trained, with_model
from tests.narrowing import of_kind


def pointers(model: Model) -> set[str | None]:
    predictor = trained("poisson, process").predictor
    return {fault.pointer for fault in supervised_faults(SupervisedPredictor(predictor.encoding, model), "regression")}


@pytest.fixture
def model() -> Model:
    return trained("poisson, process").predictor.model


def content() -> tuple[SupervisedContent, ModelPart]:
    whole = of_kind(SupervisedContent, content_of(trained("poisson, process").predictor))
    return whole, of_kind(ModelPart, whole.model)


@pytest.mark.parametrize("name", sorted({*LOG_LINKS} - {"negative_binomial, process"}))  # that is a constant
def test_a_document_without_a_range_predicts_without_one(name: str) -> None:
    made = trained(name)
    whole = of_kind(SupervisedContent, content_of(made.predictor))
    part = of_kind(ModelPart, whole.model)
    assert part.input_range is not None
    earlier = of_kind(SupervisedPredictor, predictor_of(replace(whole, model=replace(part, input_range=None))))
    rows = far_rows(made.predictor.encoding.inputs, 30, 3)
    found = predicted(replace(made, predictor=earlier), rows)["mean"]
    unbounded = with_model(made, replace(made.predictor.model, input_range=None))
    np.testing.assert_array_equal(found, predicted(unbounded, rows)["mean"])
    assert not np.allclose(found, predicted(made, rows)["mean"], rtol=1e-3)


def test_a_trained_one_has_no_faults(model: Model) -> None:
    assert model.input_range is not None
    assert pointers(model) == set()
    assert pointers(replace(model, input_range=None)) == set()


def test_bounds_are_in_order(model: Model) -> None:
    assert model.input_range is not None
    turned = InputRange(model.input_range.upper, model.input_range.lower)
    assert pointers(replace(model, input_range=turned)) == {"/model/input_range/upper"}


def test_only_a_log_link_has_them() -> None:
    predictor = trained("gaussian learned, process").predictor
    bounds = InputRange(np.zeros(predictor.model.inputs), np.ones(predictor.model.inputs))
    forged = SupervisedPredictor(predictor.encoding, replace(predictor.model, input_range=bounds))
    assert isinstance(predictor.model.likelihood, GaussianNoise)
    assert {fault.pointer for fault in supervised_faults(forged, "regression")} == {"/model/input_range"}


def test_each_input_has_a_lower_and_an_upper_bound() -> None:
    whole, part = content()
    short = InputRangePart(lower=np.zeros(1), upper=np.ones(1))
    with pytest.raises(InvalidRequestError) as caught:
        predictor_of(replace(whole, model=replace(part, input_range=short)))
    assert [fault.pointer for fault in caught.value.faults] == ["/model/input_range/lower"]
