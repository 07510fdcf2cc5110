from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from relevance_bayes.core.basis import Bias, ConstantFunction, Functions, Group, KernelBasis, KernelFunctions
from relevance_bayes.core.kernels import Additive, Gaussian
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, InputMap
from relevance_bayes.core.likelihoods import (
    Categorical,
    GaussianNoise,
    Hurdle,
    LogGaussian,
    LogitGaussian,
    Poisson,
    StudentT,
)
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.selection import Compared, PoolMember, RankedModel, Rows, Trained
from relevance_bayes.records.reports import Evidence, InputTerm, InputWarp, InputWidth
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import EncodedCategory, EncodedNumber, EncodedTarget, Encoding, in_columns
from relevance_bayes.tasks.listing import model_terms, model_warps
from relevance_bayes.tasks.supervised.materialise import Materialised
from relevance_bayes.tasks.supervised.report import Alternative, derived_members
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion, _members, _recorded, new_version
from relevance_bayes.tasks.union import plan
from tests.jobs.worker.trainers import model_of
from tests.small_tables import dataset_of, numbers, texts

SPEC = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(2.0)), Bias()))
X = np.arange(6.0).reshape(2, 3)
ENCODING = Encoding(
    (
        EncodedNumber("size", "number", 0.0, 1.0, fill=None, indicator=False),
        EncodedCategory("colour", ("red", "blue"), fill=None, indicator=False),
    ),
    EncodedTarget("y", "number", 0.0, 1.0, ()),
)


def trained(*functions: Functions) -> Trained:
    model = model_of(Rows(X, np.arange(2.0)), SPEC)
    return Trained(replace(model, functions=functions), SPEC, {}, {})


def kernels(*widths: float, skew: list[float] | None = None, tail: list[float] | None = None) -> KernelFunctions:
    bent = InputMap(np.array(widths), *(None if warp is None else np.array(warp) for warp in (skew, tail)))
    return KernelFunctions(Gaussian(), bent, X, np.arange(2))


def widths_of(found: Trained, encoding: Encoding) -> tuple[InputWidth, ...]:
    (member,) = _members(found, encoding, [column.name for column in encoding.inputs])
    return member.hyperparameters.widths


def test_a_shared_width_has_no_name_and_others_are_named() -> None:
    each = (InputWidth("size", 0.5), InputWidth("colour=red", 3.0), InputWidth("colour=blue", 1.0))
    assert widths_of(trained(kernels(2.0), ConstantFunction()), ENCODING) == (InputWidth(None, 2.0),)
    assert widths_of(trained(kernels(0.5, 3.0, 1.0), ConstantFunction()), ENCODING) == each
    assert widths_of(trained(kernels(0.5, 3.0, 1.0), kernels(4.0)), ENCODING) == (*each, InputWidth(None, 4.0))


def test_a_model_without_kernels_names_the_width_that_was_requested() -> None:
    assert widths_of(trained(ConstantFunction()), ENCODING) == (InputWidth(None, 2.0),)
    each = replace(SPEC, basis=(KernelBasis(width=FixedWidth((0.5, 3.0, 1.0))), Bias()))
    named = (InputWidth("size", 0.5), InputWidth("colour=red", 3.0), InputWidth("colour=blue", 1.0))
    assert widths_of(replace(trained(ConstantFunction()), spec=each), ENCODING) == named


def test_warps_are_named_where_there_are_some() -> None:
    assert model_warps(trained(kernels(2.0), ConstantFunction()).model, ENCODING) == ()
    bent = kernels(2.0, skew=[0.1, 0.0, -0.2])
    assert model_warps(trained(bent).model, ENCODING) == (
        InputWarp("size", 0.1, 0.0),
        InputWarp("colour=red", 0.0, 0.0),
        InputWarp("colour=blue", -0.2, 0.0),
    )
    assert model_warps(trained(kernels(2.0, tail=[1.0, 2.0, 3.0])).model, ENCODING)[2] == InputWarp(
        "colour=blue", 0.0, 3.0
    )


def test_terms_of_single_inputs_are_named_in_the_order_of_the_inputs() -> None:
    full = kernels(0.5, 3.0, 1.0)
    assert model_terms(trained(full, ConstantFunction()).model, ENCODING) == ()
    apart = replace(full, kernel=Additive(Gaussian(), (2, 0), (0.2, 0.3)))
    assert model_terms(trained(apart, ConstantFunction()).model, ENCODING) == (
        InputTerm("size", 0.3),
        InputTerm("colour=blue", 0.2),
    )


def test_degrees_of_freedom_are_reported_where_noise_has_some() -> None:
    gaussian = trained(kernels(2.0), ConstantFunction()).model
    expected = {
        replace(gaussian, likelihood=StudentT(2.5)): 2.5,
        replace(gaussian, likelihood=StudentT()): None,
        replace(gaussian, likelihood=GaussianNoise()): None,
        replace(gaussian, likelihood=GaussianNoise(), degrees_of_freedom=7.5): 7.5,
    }
    for model, degrees_of_freedom in expected.items():
        (member,) = derived_members(model, ENCODING)
        assert member.hyperparameters.degrees_of_freedom == degrees_of_freedom


def test_the_width_of_an_only_input_has_its_name() -> None:
    alone = Encoding(ENCODING.inputs[:1], ENCODING.target)
    assert widths_of(trained(kernels(2.0), ConstantFunction()), alone) == (InputWidth("size", 2.0),)


def test_a_group_is_recorded_by_the_inputs_that_were_named_and_not_by_their_columns() -> None:
    """A group of the second input, of which the columns are the second and the third."""
    planned = replace(SPEC, basis=(Group((1,), KernelBasis(width=FixedWidth(0.7))), Bias()))
    planned_columns = in_columns(planned, ENCODING, ("size", "colour"))
    assert planned_columns.basis[0] == Group((1, 2), KernelBasis(width=FixedWidth(0.7)))
    assert _recorded(planned_columns, planned) == planned


TABLE: Block = {"size": numbers(3, 4), "colour": texts("red", "blue"), "y": numbers(1, 100)}
OPEN = EncodedTarget("y", "number", 0.0, 10.0, ())
"""As a target is encoded while it is open whether its logarithm is learned."""


def recorded(of_fit: Trained, target: EncodedTarget, directory: Path) -> NewSupervisedVersion:
    """The record of a fit on the two rows of TABLE."""
    path = directory / "rows"
    np.hstack((X, np.array([[0.1, 0.0, 0.0, 0.0], [10.0, 0.0, 0.0, 1.0]]))).tofile(path)
    dataset = dataset_of(TABLE)
    planned = plan(SupervisedRequest(dataset.id, "y"), dataset)
    made = Materialised(path, replace(ENCODING, target=target), training=2, held_out=0, dropped=0, inputs=3)
    return new_version(planned, dataset, of_fit, made=made, seconds=1.0, holding=lambda _: (0, TABLE))


def compared(*likelihoods: GaussianNoise | LogGaussian) -> Trained:
    """The first of these was taken; scores are -1, -2, ... in encoded units. It was measured by leave-one-out."""
    specs = [Spec(likelihood, SPEC.basis, GaussianProcess(min_gain=2.0)) for likelihood in likelihoods]
    specs.append(Spec(GaussianNoise(), SPEC.basis, Independent(price=True)))
    ranked = tuple(RankedModel(spec, 3 + rank, -1.0 - rank) for rank, spec in enumerate(specs))
    model = model_of(Rows(X, np.arange(2.0)), specs[0])
    return Trained(model, specs[0], {}, {"rmse": 0.5, "nll": 0.25, "coverage_95": 1.0}, ranked)


def test_what_was_compared_is_reported_in_nats_of_the_users_own_target(tmp_path: Path) -> None:
    report = recorded(compared(GaussianNoise(), LogGaussian()), OPEN, tmp_path).report
    process, of_users = GaussianProcess(min_gain=2.0), -2 * log(10.0)
    assert report.integrated_evidence == -1.0 + of_users
    assert report.alternatives == (
        Alternative(SPEC.basis[0], process, LogGaussian(), 4, "integrated_evidence", -2.0 + of_users),
        Alternative(SPEC.basis[0], Independent(price=True), GaussianNoise(), 5, "integrated_evidence", -3.0 + of_users),
    )


def test_what_folds_measured_is_reported_in_nats_a_row_of_the_users_own_target(tmp_path: Path) -> None:
    specs = [Spec(GaussianNoise(), SPEC.basis, GaussianProcess(min_gain=gain)) for gain in (1.0, 2.0)]
    model = model_of(Rows(X, np.arange(2.0)), specs[0])
    found = Trained(
        model,
        specs[0],
        {},
        {},
        compared=(Compared(specs[0], -0.75), Compared(specs[1], None, "could not be fitted")),
        members=(PoolMember(specs[0], 1.0, 3, Evidence(-4.0, "exact", -1.0, 0.0)),),
    )
    report = recorded(found, OPEN, tmp_path).report
    assert report.alternatives == (
        Alternative(
            SPEC.basis[0], specs[1].prior, GaussianNoise(), None, "fold_log_density", None, "could not be fitted"
        ),
    )
    (member,) = report.members
    assert member.score == -0.75 - log(10.0)
    assert member.evidence == report.evidence == Evidence(-10.0 - 2 * log(10.0), "exact", 0.0, 0.0)
    assert member.evidence_unreduced == Evidence(-4.0 - 2 * log(10.0), "exact", -1.0, 0.0)


def test_a_likelihood_of_counts_that_was_chosen_has_a_notice_with_its_gain(tmp_path: Path) -> None:
    spec = replace(SPEC, likelihood=Poisson())
    found = replace(trained(kernels(0.5), ConstantFunction()), spec=spec, gain=(0.314, 0.0271))
    warnings = recorded(found, OPEN, tmp_path).report.warnings
    (notice,) = [one.detail for one in warnings if one.kind == "chosen_likelihood"]
    assert notice == (
        "`y` holds whole numbers from 0, and `poisson` predicts held-out rows better than `gaussian`, by 0.31 nats a"
        ' row (standard error 0.03): it was chosen; request "likelihood": {"type": "gaussian"} for Gaussian noise.'
    )
    shares = replace(found, spec=replace(SPEC, likelihood=LogitGaussian()), gain=(-0.01, 0.0271))
    behind = recorded(shares, OPEN, tmp_path).report.warnings
    (notice,) = [one.detail for one in behind if one.kind == "chosen_likelihood"]
    assert notice.startswith(
        "`y` holds numbers between 0 and 1, intervals under `gaussian` reach beyond that, and `logit_gaussian` predicts"
        " held-out rows as well, with a gain of -0.01 nats a row (standard error 0.03): it was chosen;"
    )
    for other in (replace(found, gain=None), replace(found, spec=SPEC)):
        kinds = {one.kind for one in recorded(other, OPEN, tmp_path).report.warnings}
        assert "chosen_likelihood" not in kinds


def test_a_hurdle_that_was_chosen_has_a_notice_of_zeros(tmp_path: Path) -> None:
    found = replace(trained(kernels(0.5), ConstantFunction()), spec=replace(SPEC, likelihood=Hurdle()), gain=(1.5, 0.1))
    warnings = recorded(found, OPEN, tmp_path).report.warnings
    (notice,) = [one.detail for one in warnings if one.kind == "chosen_likelihood"]
    assert notice.startswith(
        "`y` holds many zeros and numbers above 0, and `hurdle` predicts held-out rows better than"
    )


def test_nothing_was_compared_where_nothing_was_left_open(tmp_path: Path) -> None:
    report = recorded(trained(kernels(0.5), ConstantFunction()), OPEN, tmp_path).report
    assert (report.alternatives, report.integrated_evidence) == ((), None)


def test_how_each_row_is_predicted_by_the_others_is_reported_in_the_users_units(tmp_path: Path) -> None:
    report = recorded(compared(GaussianNoise()), OPEN, tmp_path).report
    assert report.metrics == {
        "leave_one_out": {"rmse": 5.0, "nll": pytest.approx(0.25 + log(10.0)), "coverage_95": 1.0}
    }


@pytest.mark.parametrize(
    ("first", "second", "noise_sd"),
    [(GaussianNoise(), LogGaussian(), 5.0), (LogGaussian(), GaussianNoise(), 0.5)],
    ids=["the number", "the logarithm"],
)
def test_the_winner_settles_whether_a_logarithm_is_predicted(
    first: GaussianNoise | LogGaussian, second: GaussianNoise | LogGaussian, noise_sd: float, tmp_path: Path
) -> None:
    made = recorded(compared(first, second), OPEN, tmp_path)
    assert made.predictor.encoding.target == replace(OPEN, logarithmic=isinstance(first, LogGaussian))
    assert made.predictor.model.likelihood == made.report.plan.spec.likelihood == first
    assert made.report.hyperparameters.noise_sd == noise_sd


def test_three_classes_have_a_weight_of_each_function_and_share_its_sd(tmp_path: Path) -> None:
    model = model_of(Rows(X, np.arange(2.0)), SPEC)
    of_two = recorded(Trained(model, SPEC, {}, {}), OPEN, tmp_path).vectors
    weights = np.arange(3.0 * len(model.mean)).reshape(-1, 3)
    fit = Trained(replace(model, likelihood=Categorical(3), mean=weights), SPEC, {}, {})
    made = recorded(fit, replace(OPEN, classes=("a", "b", "c")), tmp_path)
    assert [vector.weight_mean for vector in made.vectors] == [None] * len(model.mean)
    assert [[one.label for one in vector.weight_means] for vector in made.vectors] == [["a", "b", "c"]] * len(weights)
    assert [[one.mean for one in vector.weight_means] for vector in made.vectors] == weights.tolist()
    for vector, single in zip(made.vectors, of_two, strict=True):
        assert single.weight_means == ()
        assert replace(vector, weight_mean=single.weight_mean, weight_means=()) == single
