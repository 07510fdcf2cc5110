"""Dictionaries and groups of inputs in a request: what they are resolved to, and what can't be."""

from dataclasses import replace

import pytest

from relevance_bayes.core.algorithms import ReEstimation, Sequential
from relevance_bayes.core.basis import Bias, Group, Inputs, KernelBasis
from relevance_bayes.core.dictionaries import BSplines, Fourier, Gabor, Steps
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import EncodedCategory, EncodedNumber, EncodedTarget, Encoding, in_columns
from relevance_bayes.tasks.supervised.request import BasisChoice, GroupChoice, KernelChoice, SupervisedRequest
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of, flags, numbers, texts

TABLE: Block = {
    "x": numbers(0.5, 1.5, 2.0, 3.5),
    "colour": texts("red", "blue", "red", "green"),
    "z": numbers(4.0, 1.0, 2.5, 7.0),
    "on": flags(True, False, True, True),
    "y": numbers(1, 2.5, 3, 5),
}
DATASET = dataset_of(TABLE)


def requesting(*basis: BasisChoice, target: str = "y") -> SupervisedRequest:
    return SupervisedRequest(DATASET_ID, target, basis=basis)


@pytest.mark.parametrize("dictionary", [Steps(), Fourier(), BSplines()], ids=repr)
def test_a_dictionary_alone_has_a_bias_beside_it_and_every_function_pays(
    dictionary: Steps | Fourier | BSplines,
) -> None:
    spec = plan(replace(requesting(), basis=dictionary), DATASET).spec
    assert (spec.basis, spec.prior, spec.algorithm) == ((dictionary, Bias()), Independent(price=True), Sequential())
    assert plan(replace(requesting(), basis=dictionary), DATASET).compared_models == ()


def test_a_list_is_exact() -> None:
    basis = (Steps(), KernelChoice(width=FixedWidth(0.5)))
    found = plan(requesting(*basis), DATASET)
    assert found.spec.basis == (Steps(), KernelBasis(width=FixedWidth(0.5)))
    assert not found.standardise


def test_nothing_is_paid_where_it_cannot_be_or_where_classes_are_distinguished() -> None:
    by_all = replace(requesting(Steps()), algorithm=ReEstimation())
    assert plan(by_all, DATASET).spec.prior == Independent()
    classes = plan(requesting(Steps(), target="on"), DATASET).spec
    assert (classes.likelihood, classes.prior) == (Bernoulli(), Independent())


def test_a_prior_that_is_requested_is_kept_and_a_process_refused_beside_dictionaries() -> None:
    assert plan(replace(requesting(Steps()), prior=Independent()), DATASET).spec.prior == Independent()
    with pytest.raises(InvalidRequestError, match="no other functions") as refused:
        plan(replace(requesting(KernelChoice(), Steps()), prior=GaussianProcess()), DATASET)
    assert [fault.pointer for fault in refused.value.faults] == ["/basis"]


def test_a_group_sees_the_inputs_that_it_names() -> None:
    """Inputs are x, colour, z and on, in the table's order."""
    found = plan(requesting(GroupChoice(("z", "x"), Gabor()), GroupChoice(("colour",), Inputs()), Bias()), DATASET)
    assert found.spec.basis == (Group((2, 0), Gabor()), Group((1,), Inputs()), Bias())


def test_a_width_in_a_group_is_given_and_one_for_each_of_its_inputs() -> None:
    widths = KernelChoice(width=FixedWidth((0.5, 2.0)))
    found = plan(requesting(GroupChoice(("z", "x"), widths)), DATASET)
    assert found.spec.basis == (Group((2, 0), KernelBasis(width=FixedWidth((0.5, 2.0)))),)
    assert not found.standardise
    for group, pointer in (
        (GroupChoice(("z", "x", "on"), widths), "/basis/0/of/width/value"),
        (GroupChoice(("z",), KernelChoice(width=FixedWidth(-1.0))), "/basis/0/of/width/value"),
        (GroupChoice(("z", "x"), KernelChoice()), "/basis"),
    ):
        with pytest.raises(InvalidRequestError) as refused:
            plan(requesting(group), DATASET)
        assert [fault.pointer for fault in refused.value.faults] == [pointer]


@pytest.mark.parametrize(
    ("group", "pointer", "detail"),
    [
        (GroupChoice(("x", "moon"), Steps()), "/basis/1/inputs/1", "`moon` is not among the inputs"),
        (GroupChoice(("y",), Steps()), "/basis/1/inputs/0", "`y` is not among the inputs"),
        (GroupChoice((), Steps()), "/basis/1/inputs", "at least one input in a group"),
        (GroupChoice(("x", "x"), Steps()), "/basis/1/inputs/1", "named twice"),
        (GroupChoice(("x", "z", "on"), Gabor()), "/basis/1", "one or two numeric inputs for wavelets, got 3"),
        (GroupChoice(("colour",), Gabor()), "/basis/1", "got `colour`, which holds texts"),
        (Gabor(), "/basis/1", "got `colour`, which holds texts"),
    ],
)
def test_what_a_group_cannot_be_is_reported_where_it_is(group: BasisChoice, pointer: str, detail: str) -> None:
    with pytest.raises(InvalidRequestError, match=detail) as refused:
        plan(requesting(Bias(), group), DATASET)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


def plain_encoding() -> Encoding:
    x, z = (EncodedNumber(name, "number", 0.0, 1.0, fill=None, indicator=False) for name in ("x", "z"))
    colour = EncodedCategory("colour", ("blue", "green", "red"), fill=None, indicator=False)
    on = EncodedNumber("on", "boolean", 0.0, 1.0, fill=None, indicator=False)
    return Encoding((x, colour, z, on), EncodedTarget("y", "number", 0.0, 1.0, ()))


def test_a_group_has_all_columns_that_its_inputs_become() -> None:
    """x, three colours, z, on."""
    encoding = plain_encoding()
    spec = Spec(
        GaussianNoise(),
        (Group((2, 1), KernelBasis(width=FixedWidth((0.5, 2.0)))), Group((3,), Steps()), Group((1,), Inputs())),
    )
    assert in_columns(spec, encoding, ("x", "colour", "z", "on")).basis == (
        Group((1, 2, 3, 4), KernelBasis(width=FixedWidth((2.0, 2.0, 2.0, 0.5)))),
        Group((5,), Steps()),
        Group((1, 2, 3), Inputs()),
    )
