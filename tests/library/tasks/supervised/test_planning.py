import math
import re
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.datasets.records import Dataset
from relevance_bayes.core.algorithms import Algorithm, Greedy, Sequential
from relevance_bayes.core.basis import Basis, Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels import LinearSpline, Matern52
from relevance_bayes.core.kernels.hyperparameters import (
    CrossValidationWidth,
    EvidencePerInputWidth,
    EvidenceWidth,
    FixedWidth,
)
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    Categorical,
    GaussianNoise,
    Hurdle,
    Likelihood,
    LogGaussian,
    LogitGaussian,
    Poisson,
    StudentT,
    TargetLikelihood,
)
from relevance_bayes.core.priors import GaussianProcess, Independent, Prior
from relevance_bayes.records.datasets import ColumnReading
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.values import IgnoredColumn, InputColumn, Label, Missing, NumberForm, Task
from relevance_bayes.tables.columns import Block, Column, NumberArray, block_rows
from relevance_bayes.tasks.supervised.request import (
    BasisChoice,
    GaussianLikelihood,
    GroupSplit,
    KernelChoice,
    OrderSplit,
    Split,
    SupervisedPlan,
    SupervisedRequest,
    named_likelihood,
)
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of, flags, moments, numbers, texts

TABLE: Block = {
    "x": numbers(0.5, 1.5, 2.0, 3.5),
    "colour": texts("red", "blue", "red", "blue"),
    "on": flags(True, False, True, True),
    "when": moments(0, 10, 20, 31),
    "y": numbers(1, 2.5, 3, 5),
}
DATASET = dataset_of(TABLE)


def requesting(target: str = "y") -> SupervisedRequest:
    return SupervisedRequest(DATASET_ID, target)


REFUSING = replace(requesting(), missing="error")


def faults_of(request: SupervisedRequest, dataset: Dataset = DATASET) -> tuple[Fault, ...]:
    with pytest.raises(InvalidRequestError) as caught:
        plan(request, dataset)
    assert caught.value.detail.startswith(caught.value.faults[0].detail)
    return caught.value.faults


def only_fault(request: SupervisedRequest, dataset: Dataset = DATASET) -> Fault:
    (fault,) = faults_of(request, dataset)
    return fault


def with_column(name: str, column: Column) -> Dataset:
    return dataset_of({**TABLE, name: column})


# Defaults


def test_only_a_target_gives_a_whole_plan() -> None:
    found = plan(requesting(), DATASET)
    assert found.task == "regression"
    assert found.inputs == (
        InputColumn("x", "number"),
        InputColumn("colour", "category", ("blue", "red")),
        InputColumn("on", "boolean"),
        InputColumn("when", "timestamp"),
    )
    assert found.ignored == ()
    assert found.standardise
    assert (found.spec.likelihood, found.spec.prior, found.spec.algorithm) == (
        GaussianNoise(),
        GaussianProcess(inducing_points="rows", min_gain=2.0),
        Greedy(),
    )
    assert found.spec.basis == (KernelBasis(width=EvidencePerInputWidth()), Bias(), Inputs())
    independent, tailed, varying = found.compared_models
    assert (independent.prior, independent.likelihood) == (Independent(price=True), GaussianNoise())
    alone = plan(replace(requesting(), likelihood=StudentT()), DATASET)
    assert (tailed, alone.compared_models) == (alone.spec, ())
    assert varying == replace(found.spec, likelihood=GaussianNoise("heteroscedastic"))
    assert (found.model, found.missing, found.holdout, found.target_kind) == ("small-table", "error", 0, "number")


def test_an_index_of_pandas_is_no_input_by_default() -> None:
    columns = [
        replace(column, reading=ColumnReading(is_index=True)) if column.name == "on" else column
        for column in DATASET.columns
    ]
    found = plan(requesting(), replace(DATASET, columns=tuple(columns)))
    assert [column.name for column in found.inputs] == ["x", "colour", "when"]
    assert found.ignored == (IgnoredColumn("on", "it is the index of a table of pandas"),)
    requested = replace(requesting(), inputs=("x", "on"))
    assert [one.name for one in plan(requested, replace(DATASET, columns=tuple(columns))).inputs] == ["x", "on"]


def test_an_input_has_the_form_of_the_numbers_in_its_file() -> None:
    form = NumberForm(suffix="%")
    columns = [
        replace(column, reading=ColumnReading(form=form)) if column.name == "x" else column
        for column in DATASET.columns
    ]
    found = plan(requesting(), replace(DATASET, columns=tuple(columns)))
    assert found.inputs[0] == InputColumn("x", "number", form=form)


def test_the_seed_goes_into_the_spec() -> None:
    assert plan(replace(requesting(), seed=7), DATASET).spec.seed == 7


def test_a_width_given_as_a_number_leaves_the_inputs_as_they_are() -> None:
    basis = (KernelChoice(width=FixedWidth(0.5)), Bias())
    assert not plan(replace(requesting(), basis=basis), DATASET).standardise
    assert plan(replace(requesting(), basis=basis, standardise=True), DATASET).standardise


def test_a_width_for_each_input_is_of_the_inputs_as_they_are_named() -> None:
    basis = (Bias(), KernelChoice(width=FixedWidth((0.5, 2.0))))
    found = plan(replace(requesting(), inputs=("colour", "x"), basis=basis), DATASET)
    assert found.spec.basis == (Bias(), KernelBasis(width=FixedWidth((0.5, 2.0))))
    assert [column.name for column in found.inputs] == ["colour", "x"]
    assert not found.standardise


@pytest.mark.parametrize(
    ("inputs", "widths", "pointer", "message"),
    [
        (
            ("x", "on"),
            (0.5,),
            "/basis/1/width/value",
            "A list of widths must have one for each input: expected 2, got 1.",
        ),
        (("x",), (), "/basis/1/width/value", "A list of widths must have one for each input: expected 1, got 0."),
        (("x", "on"), (0.5, 0.0), "/basis/1/width/value/1", "The width must be from 1e-75 to 1e+75, got 0."),
        (("x",), (math.inf,), "/basis/1/width/value/0", "The width must be from 1e-75 to 1e+75, got inf."),
        (
            None,
            (0.5, 2.0, 1.0, 1.0),
            "/inputs",
            "A list of widths follows the order of `inputs`",
        ),
    ],
)
def test_widths_that_do_not_go_with_the_inputs_are_refused(
    inputs: tuple[str, ...] | None, widths: tuple[float, ...], pointer: str, message: str
) -> None:
    basis = (Bias(), KernelChoice(width=FixedWidth(widths)))
    fault = only_fault(replace(requesting(), inputs=inputs, basis=basis))
    assert fault.pointer == pointer
    assert fault.detail.startswith(message)


@pytest.mark.parametrize(("prior", "algorithm"), [(Independent(), None), (None, Sequential())])
def test_independent_weights_have_a_width_for_each_input_where_that_is_requested(
    prior: Prior | None, algorithm: Algorithm | None
) -> None:
    requested = replace(requesting(), prior=prior, algorithm=algorithm, basis=KernelChoice(width=PER_INPUT))
    assert plan(requested, DATASET).spec.basis == (KernelBasis(width=PER_INPUT), Bias())


PER_INPUT = EvidencePerInputWidth()


@pytest.mark.parametrize(
    ("requested", "resolved"),
    [
        (None, (KernelBasis(width=PER_INPUT, warp="evidence"), Bias(), Inputs())),
        (KernelChoice(Matern52()), (KernelBasis(Matern52(), PER_INPUT, "evidence"), Bias(), Inputs())),
        (
            KernelChoice(additive="evidence"),
            (KernelBasis(width=PER_INPUT, warp="evidence", additive="evidence"), Bias(), Inputs()),
        ),
        (KernelChoice(warp="none"), (KernelBasis(width=PER_INPUT), Bias(), Inputs())),
        (KernelChoice(width=EvidenceWidth()), (KernelBasis(width=EvidenceWidth(), warp="evidence"), Bias(), Inputs())),
        (KernelChoice(width=CrossValidationWidth()), (KernelBasis(), Bias(), Inputs())),
        ((KernelChoice(),), (KernelBasis(width=PER_INPUT, warp="evidence"),)),
    ],
)
def test_under_a_process_widths_and_warps_are_learned_beside_a_bias_and_the_inputs(
    requested: BasisChoice | tuple[BasisChoice, ...] | None, resolved: tuple[Basis, ...]
) -> None:
    found = plan(replace(requesting(), prior=GaussianProcess(), basis=requested), DATASET)
    assert found.spec.basis == resolved
    assert found.spec.algorithm == Greedy()
    assert found.standardise


def test_under_a_process_classes_are_learned_without_warps_and_linear_columns() -> None:
    found = plan(replace(requesting("on"), prior=GaussianProcess()), DATASET)
    assert found.spec.basis == (KernelBasis(width=EvidencePerInputWidth(shrinkage=1.0)), Bias())
    assert found.spec.likelihood == Bernoulli()


def test_a_fixed_width_is_bent_only_where_that_is_stated() -> None:
    basis = KernelChoice(width=FixedWidth(2.0))
    found = plan(replace(requesting(), prior=GaussianProcess(), basis=basis), DATASET)
    assert found.spec.basis == (KernelBasis(width=FixedWidth(2.0)), Bias(), Inputs())
    assert not found.standardise


@pytest.mark.parametrize("basis", [Bias(), Inputs()])
def test_a_dictionary_without_kernels_is_alone(basis: BasisChoice) -> None:
    assert plan(replace(requesting(), basis=basis), DATASET).spec.basis == (basis,)


@pytest.mark.parametrize(
    ("prior", "algorithm", "basis", "pointer", "message"),
    [
        (
            GaussianProcess(),
            Sequential(),
            None,
            "/algorithm",
            '"sequential" can\'t learn the prior "gaussian_process".',
        ),
        (Independent(), Greedy(), None, "/algorithm", '"greedy" can\'t learn the prior "independent".'),
        (GaussianProcess(), None, KernelChoice(LinearSpline()), "/basis", '"linear_spline" is no covariance'),
        (GaussianProcess(), None, (KernelChoice(), KernelChoice()), "/basis", "Expected one kernel"),
        (GaussianProcess(), None, Bias(), "/basis", "Expected one kernel"),
        (GaussianProcess(), None, KernelChoice(width=FixedWidth(1.0), warp="evidence"), "/basis", "Expected widths"),
        (Independent(), None, KernelChoice(warp="evidence"), "/basis", "Expected widths by evidence"),
        (None, None, KernelChoice(width=EvidenceWidth(), additive="evidence"), "/basis", "Expected a width for each"),
        (
            Independent(),
            None,
            KernelChoice(width=PER_INPUT, additive="evidence"),
            "/basis",
            "Expected a width for each",
        ),
        (None, None, (Inputs(), Inputs()), "/basis", "Expected at most one dictionary of the inputs"),
    ],
)
def test_choices_that_do_not_go_together_are_named(
    prior: Prior | None,
    algorithm: Algorithm | None,
    basis: BasisChoice | tuple[BasisChoice, ...] | None,
    pointer: str,
    message: str,
) -> None:
    fault = only_fault(replace(requesting(), prior=prior, algorithm=algorithm, basis=basis))
    assert fault.pointer == pointer
    assert fault.detail.startswith(message)


@pytest.mark.parametrize(
    ("dataset", "model"),
    [
        ("Air foil (2).csv", "air-foil-2"),
        ("Größe.Parquet", "groe"),
        ("2024_sales", "sales"),
        ("日本", "model"),
        ("", "model"),
        ("x" * 100, "x" * 63),
        ("a--", "a"),
        ("under_score.v2", "under_score.v2"),
    ],
)
def test_the_default_model_name_comes_from_the_datasets(dataset: str, model: str) -> None:
    assert plan(requesting(), replace(DATASET, name=dataset)).model == model


@given(st.text(max_size=80))
def test_every_default_model_name_is_one_that_could_be_requested(dataset: str) -> None:
    name = plan(requesting(), replace(DATASET, name=dataset)).model
    assert re.fullmatch(r"[a-z][a-z0-9._-]{0,62}", name)
    assert plan(replace(requesting(), model=name), DATASET).model == name


@pytest.mark.parametrize("name", ["Big", "1st", "", "a" * 64, "a b", "a\n", "ä"])
def test_a_bad_model_name_is_refused(name: str) -> None:
    assert only_fault(replace(requesting(), model=name)).pointer == "/model"


# Task


@pytest.mark.parametrize(
    ("column", "task", "classes", "why"),
    [
        (flags(True, False, True, False), "classification", (False, True), "true and false"),
        (texts("no", "yes", "no", "no"), "classification", ("no", "yes"), "texts"),
        (texts("b", "a", "b", "b"), "classification", ("a", "b"), "texts"),
        (numbers(2, 1, 1, 2), "classification", (1, 2), "integers 1 and 2"),
        (numbers(1, -1, 1, None), "classification", (-1, 1), "integers -1 and 1"),
        (numbers(0.5, 1.5, 0.5, 0.5), "regression", (), "numbers"),
        (numbers(0, 1, 2, 1), "regression", (), "numbers"),
    ],
)
def test_the_task_follows_from_the_target_and_the_plan_states_why(
    column: Column, task: Task, classes: tuple[object, ...], why: str
) -> None:
    found = plan(replace(requesting("t"), missing="drop_rows"), with_column("t", column))
    assert found.task == task
    assert found.classes == classes
    assert [type(label) for label in found.classes] == [type(label) for label in classes]
    assert why in found.task_reason
    assert isinstance(found.spec.likelihood, Bernoulli if task == "classification" else GaussianNoise)


def test_a_task_that_is_requested_goes_before_what_the_target_looks_like() -> None:
    dataset = with_column("t", numbers(0, 1, 1, 0))
    found = plan(replace(requesting("t"), task="regression"), dataset)
    assert (found.task, found.classes) == ("regression", ())
    assert "requests regression" in found.task_reason


def test_two_numbers_that_are_not_whole_are_classes_when_requested() -> None:
    found = plan(replace(requesting("t"), task="classification"), with_column("t", numbers(0.5, 1.5, 1.5, 0.5)))
    assert found.classes == (0.5, 1.5)


@pytest.mark.parametrize(
    ("column", "task", "pointer", "words"),
    [
        (texts("a", "a", "a", "a"), None, "/target", "one class"),
        (flags(True, True, True, True), None, "/target", "one class"),
        (numbers(1, 1, 1, 1), "classification", "/target", "one class"),
        (texts("a", "b", "b", "a"), "regression", "/task", "has texts"),
        (flags(True, False, True, True), "regression", "/task", "has true and false"),
        (numbers(3, 3, 3, 3), None, "/target", "every row"),
        (moments(1, 2, 3, 4), None, "/target", "points in time"),
        (numbers(1, None, None, None), None, "/target", "1 value in 4 rows"),
        (numbers(None, None, None, None), None, "/target", "0 values in 4 rows"),
    ],
)
def test_a_target_that_cannot_be_learned_is_refused(
    column: Column, task: Task | None, pointer: str, words: str
) -> None:
    fault = only_fault(replace(requesting("t"), task=task, missing="drop_rows"), with_column("t", column))
    assert (fault.pointer, fault.column) == (pointer, "t")
    assert words in fault.detail


def test_a_constant_target_is_refused_with_known_noise_too() -> None:
    request = replace(requesting("t"), likelihood=GaussianLikelihood(0.1))
    assert only_fault(request, with_column("t", numbers(3, 3, 3, 3))).pointer == "/target"


@pytest.mark.parametrize(
    ("requested", "column", "pointer", "words"),
    [
        (
            requesting("t"),
            texts(*(f"c{number}" for number in range(1_001))),
            "/target",
            "more than 1,000 classes, the maximum",
        ),
        (
            replace(requesting("t"), task="classification"),
            numbers(*range(1_001)),
            "/task",
            "more than 1,000 distinct numbers, the maximum number of classes",
        ),
        (
            replace(requesting("t"), task="classification"),
            numbers(*(0.5 * number for number in range(51))),
            "/task",
            "or some that are no integers",
        ),
        (
            replace(requesting("t"), likelihood=Categorical()),
            numbers(*range(1_001)),
            "/likelihood/type",
            "use regression",
        ),
    ],
    ids=["texts", "numbers", "numbers that are no integers", "numbers under a likelihood of classes"],
)
def test_more_than_a_thousand_classes_are_refused(
    requested: SupervisedRequest, column: Column, pointer: str, words: str
) -> None:
    x = np.linspace(0.0, 1.0, block_rows({"t": column})) ** 2
    fault = only_fault(requested, dataset_of({"x": NumberArray(x), "t": column}))
    assert fault.pointer == pointer
    assert words in fault.detail


def test_many_classes_of_one_row_each_are_refused() -> None:
    column = texts(*(f"c{number}" for number in range(60)), *(f"c{number}" for number in range(59)))
    fault = only_fault(requesting("t"), dataset_of({"x": NumberArray(np.linspace(0.0, 1.0, 119) ** 2), "t": column}))
    assert (fault.pointer, fault.column) == ("/target", "t")
    assert "has 60 classes ('c0', 'c1', " in fault.detail
    assert "in 119 rows; expected at least two rows of each" in fault.detail


def test_many_texts_that_may_be_numbers_are_refused_as_classes_with_an_example() -> None:
    column = texts(*(f"{number} kg ca." for number in range(51)), *(f"{number} kg ca." for number in range(51)))
    fault = only_fault(requesting("t"), dataset_of({"x": NumberArray(np.linspace(0.0, 1.0, 102) ** 2), "t": column}))
    assert fault.pointer == "/target"
    assert "more than 50 different texts, such as '0 kg ca.'. Where these are numbers, " in fault.detail


def planned_classes(dataset: Dataset) -> tuple[Label, ...]:
    found = plan(replace(requesting("t"), task="classification"), dataset)
    assert isinstance(found, SupervisedPlan)
    return found.classes


def test_classes_are_texts_by_alphabet_and_integers_ascending_up_to_a_thousand() -> None:
    names = [f"c{number:04d}" for number in reversed(range(1_000))]
    for column, classes in (
        (texts(*names, *names), sorted(names)),
        (numbers(*range(60), *reversed(range(60))), [*range(60)]),
    ):
        x = np.linspace(0.0, 1.0, block_rows({"t": column})) ** 2
        dataset = dataset_of({"x": NumberArray(x), "t": column})
        assert planned_classes(dataset) == tuple(classes)


def test_an_unknown_target_is_refused_with_the_nearest_name() -> None:
    assert only_fault(requesting("colours")).pointer == "/target"
    assert "did you mean `colour`" in only_fault(requesting("colours")).detail
    assert "there are `x`, `colour`" in only_fault(requesting("🦆")).detail


@pytest.mark.parametrize("rows", [0, 1])
def test_fewer_than_two_rows_are_refused(rows: int) -> None:
    fault = only_fault(requesting(), dataset_of({"x": numbers(*range(rows)), "y": numbers(*range(rows))}))
    assert fault.pointer == "/dataset_id"
    assert "at least two" in fault.detail


@pytest.mark.parametrize(
    ("target", "likelihood"), [("y", Bernoulli()), ("on", GaussianNoise()), ("on", GaussianNoise(0.5))]
)
def test_a_likelihood_must_fit_the_task(target: str, likelihood: Bernoulli | GaussianNoise) -> None:
    fault = only_fault(replace(requesting(target), likelihood=named_likelihood(likelihood)))
    assert fault.pointer == "/likelihood/type"
    assert likelihood.type in fault.detail


NUMBERS: tuple[Likelihood, ...] = (GaussianNoise(), GaussianNoise(0.5), StudentT(), LogGaussian(), Poisson())


@pytest.mark.parametrize("likelihood", NUMBERS, ids=str)
def test_two_whole_numbers_are_a_quantity_where_the_likelihood_states_it(likelihood: Likelihood) -> None:
    found = plan(
        replace(requesting("t"), likelihood=named_likelihood(likelihood)), with_column("t", numbers(1, 2, 2, 1))
    )
    assert (found.task, found.classes, found.spec.likelihood) == ("regression", (), likelihood)
    assert likelihood.type in found.task_reason


@pytest.mark.parametrize("likelihood", NUMBERS, ids=str)
@pytest.mark.parametrize("task", [None, "classification"])
def test_classes_are_no_quantities(task: Task | None, likelihood: Likelihood) -> None:
    fault = only_fault(replace(requesting("on"), task=task, likelihood=named_likelihood(likelihood)))
    assert fault.pointer == "/likelihood/type"
    assert fault.detail == (
        f'"{likelihood.type}" is not a likelihood for classification; "bernoulli", "categorical", "one_against_rest"'
        ' and "bernoulli_per_class" are.'
    )


@pytest.mark.parametrize(
    ("column", "likelihood", "message"),
    [
        (
            numbers(0, 1.5, 2, 4),
            Poisson(),
            '`t` has fractions, from 0 to 4, and counts are integers; use "gaussian" or "student_t".',
        ),
        (
            numbers(0.5, 1.5, 2, 4),
            Poisson(),
            '`t` has fractions, from 0.5 to 4, and counts are integers; use "log_gaussian" or "gaussian".',
        ),
        (
            numbers(3, 1, -2, 4),
            Poisson(),
            '`t` goes down to -2, and counts begin at 0; use "gaussian" or "student_t".',
        ),
        (
            numbers(3, 1, 0, 4),
            LogGaussian(),
            '`t` goes down to 0, and only numbers above 0 have a logarithm; use "poisson" or "gaussian".',
        ),
        (
            numbers(3, 1.5, 0, 4),
            LogGaussian(),
            '`t` goes down to 0, and only numbers above 0 have a logarithm; use "gaussian" or "student_t".',
        ),
        (
            numbers(3, 1, -0.5, 4),
            LogGaussian(),
            '`t` goes down to -0.5, and only numbers above 0 have a logarithm; use "gaussian" or "student_t".',
        ),
        (numbers(1e-40, 1, 2, 1e40), LogGaussian(), "`t` goes from 1e-40 to 1e+40, too wide a range for float64."),
        (numbers(5e-324, 1, 2, 1e308), LogGaussian(), "`t` goes from 4.94066e-324 to 1e+308, too wide a range"),
        (
            numbers(0, 0.1, 0.5, 0.9),
            LogitGaussian(),
            '`t` goes down to 0, and only numbers above 0 and below 1 have a logit; use "gaussian" or "student_t".',
        ),
        (
            numbers(0.1, 0.2, 0.5, 1),
            LogitGaussian(),
            '`t` goes up to 1, and only numbers above 0 and below 1 have a logit; use "gaussian" or "student_t".',
        ),
        (
            numbers(-0.5, 0, 0, 1),
            Hurdle(),
            '`t` goes down to -0.5, and amounts begin at 0; use "gaussian" or "student_t".',
        ),
        (numbers(0.5, 1, 2, 3), Hurdle(), '`t` has no zeros, it goes down to 0.5; use "log_gaussian".'),
        (numbers(0, 1.5, 0, 1.5), Hurdle(), '`t` holds only 0 and 1.5; use "task": "classification".'),
    ],
)
def test_a_target_that_a_likelihood_cannot_have_made_is_refused_with_another(
    column: Column, likelihood: TargetLikelihood, message: str
) -> None:
    fault = only_fault(replace(requesting("t"), likelihood=named_likelihood(likelihood)), with_column("t", column))
    assert (fault.pointer, fault.column) == ("/likelihood", "t")
    assert fault.detail.startswith(message)


@pytest.mark.parametrize(
    ("column", "likelihood"),
    [
        (numbers(0, 0, 0, 1), Poisson()),
        (numbers(0, 3, 2**53 - 1, 1), Poisson()),
        (numbers(1e-300, 2e-300, 3e-300, 1e-290), LogGaussian()),
        (numbers(1, 2, 3, 4), LogGaussian()),
        (numbers(5e-324, 0.3, 0.5, 1 - 2**-53), LogitGaussian()),
        (numbers(0, 0, 1e-300, 1e300), Hurdle()),
        (numbers(-1e300, 0, 1, 1e300), StudentT()),
    ],
)
def test_a_target_that_a_likelihood_may_have_made_is_accepted(column: Column, likelihood: TargetLikelihood) -> None:
    assert (
        plan(
            replace(requesting("t"), likelihood=named_likelihood(likelihood)), with_column("t", column)
        ).spec.likelihood
        == likelihood
    )


@pytest.mark.parametrize("dof", [2.0, 1.0, 0.0, -3.0, 200.5, math.inf, math.nan])
def test_degrees_of_freedom_outside_their_range_are_refused(dof: float) -> None:
    fault = only_fault(replace(requesting(), likelihood=StudentT(dof)))
    assert fault.pointer == "/likelihood/degrees_of_freedom"
    assert fault.detail.startswith("`degrees_of_freedom` must be above 2 and at most 200")


@pytest.mark.parametrize("dof", [2.0001, 4, 200.0])
def test_degrees_of_freedom_may_be_given(dof: float) -> None:
    assert plan(replace(requesting(), likelihood=StudentT(dof)), DATASET).spec.likelihood == StudentT(dof)


def test_choices_that_do_not_go_together_are_refused() -> None:
    assert only_fault(replace(requesting(), basis=())).pointer == "/basis"


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_outside_its_range_is_refused(seed: int) -> None:
    assert only_fault(replace(requesting(), seed=seed)).pointer == "/seed"


def test_widths_and_noises_that_float64_cannot_square_are_refused() -> None:
    basis = (Bias(), KernelChoice(width=FixedWidth(1e-200)))
    assert only_fault(replace(requesting(), basis=basis)).pointer == "/basis/1/width/value"
    assert only_fault(replace(requesting(), likelihood=GaussianLikelihood(1e-200))).pointer == "/likelihood/noise_sd"


def test_numbers_too_large_to_be_used_as_they_are_are_refused_unless_scaled() -> None:
    dataset = dataset_of({"x": numbers(1, 1e308, 3), "y": numbers(1e308, 2, 3)})
    request = replace(requesting(), standardise=False, likelihood=GaussianLikelihood(0.1))
    assert [fault.pointer for fault in faults_of(request, dataset)] == ["/inputs", "/likelihood/noise_sd"]
    assert plan(requesting(), dataset).standardise


# Inputs


def long_table(rows: int) -> dict[str, Column]:
    draws = np.random.default_rng(0).normal(size=rows)
    return {"x": NumberArray(draws), "y": NumberArray(np.cumsum(draws))}


def real(values: npt.ArrayLike) -> NumberArray:
    return NumberArray(np.asarray(values, np.float64))


def reason_of(column: Column, rows: int, *, missing: Missing = "error") -> str | None:
    found = plan(replace(requesting(), missing=missing), dataset_of({**long_table(rows), "extra": column}))
    names = [column.name for column in found.inputs]
    assert ("extra" in names) == (not found.ignored)
    return found.ignored[0].reason if found.ignored else None


def test_whole_numbers_that_count_the_rows_in_any_order_are_taken_for_ids() -> None:
    shuffled = np.random.default_rng(1).permutation(100) + 1_000.0
    assert "id" in str(reason_of(real(shuffled), 100))
    assert "id" in str(reason_of(real(np.arange(30.0)), 30))


def test_whole_numbers_with_holes_or_repeats_are_measurements() -> None:
    assert reason_of(real(np.arange(100) * 2.0), 100) is None
    assert reason_of(real(np.r_[np.arange(98.0), 50, 99]), 100) is None
    assert reason_of(real(np.arange(100) + 0.5), 100) is None


def test_in_a_short_table_counting_numbers_are_measurements() -> None:
    assert reason_of(numbers(*range(10)), 10) is None
    assert reason_of(texts(*"abcdefghij"), 10) is None


def test_texts_that_differ_in_every_row_are_taken_for_ids() -> None:
    assert "id" in str(reason_of(texts(*(f"t{number}" for number in range(30))), 30))


def test_more_than_fifty_texts_are_left_out() -> None:
    assert reason_of(texts(*(f"t{number % 50}" for number in range(120))), 120) is None
    assert reason_of(texts(*(f"t{number % 51}" for number in range(120))), 120) is None
    table = {"more": texts(*(f"t{number % 51}" for number in range(120))), **long_table(120)}
    left_out = plan(replace(requesting(), text="leave_out"), dataset_of(table)).ignored
    assert ("more", "it has more than 50 distinct texts") in [(one.name, one.reason) for one in left_out]


@pytest.mark.parametrize(
    "column", [numbers(*[2.5] * 30), texts(*["a"] * 30), flags(*[True] * 30), moments(*[5.0] * 30)]
)
def test_constant_columns_are_left_out(column: Column) -> None:
    assert reason_of(column, 30) == "it is the same in every row"


def test_columns_without_values_are_left_out_though_gaps_are_refused() -> None:
    assert reason_of(numbers(*[None] * 30), 30) == "it has no values"
    assert reason_of(texts(*[None] * 30), 30) == "it has no values"


def test_no_usable_input_is_refused_with_the_reasons() -> None:
    dataset = dataset_of({"a": numbers(1, 1, 1), "y": numbers(1, 2, 4)})
    fault = only_fault(requesting(), dataset)
    assert fault.pointer == "/inputs"
    assert "`a`: it is the same in every row" in fault.detail
    assert "no other column" in only_fault(requesting(), dataset_of({"y": numbers(1, 2, 4)})).detail


def test_named_inputs_are_used_in_their_order_though_they_look_like_ids() -> None:
    table = long_table(30) | {"id": numbers(*range(30))}
    found = plan(replace(requesting(), inputs=("id", "x")), dataset_of(table))
    assert [column.name for column in found.inputs] == ["id", "x"]
    assert found.ignored == ()


def test_every_wrong_input_is_named_with_its_place() -> None:
    faults = faults_of(replace(requesting(), inputs=("x", "nope", "y", "x", "colour")))
    assert [(fault.pointer, fault.column) for fault in faults] == [
        ("/inputs/1", "nope"),
        ("/inputs/2", "y"),
        ("/inputs/3", "x"),
    ]
    assert "is the target" in faults[1].detail
    assert "twice" in faults[2].detail


def test_of_very_many_wrong_inputs_the_first_are_reported_without_delay() -> None:
    table = {f"c{number}": numbers(1, 2, 4) for number in range(2_000)} | {"y": numbers(1, 2, 4)}
    faults = faults_of(replace(requesting(), inputs=tuple(f"d{number}" for number in range(10_000))), dataset_of(table))
    assert [fault.pointer for fault in faults] == [f"/inputs/{number}" for number in range(20)]


def test_an_empty_list_of_inputs_is_refused() -> None:
    assert only_fault(replace(requesting(), inputs=())).pointer == "/inputs"


def test_a_constant_input_is_refused_only_where_it_would_be_standardised() -> None:
    dataset = with_column("c", numbers(2, 2, 2, 2))
    request = replace(requesting(), inputs=("x", "c"))
    assert only_fault(request, dataset).pointer == "/inputs/1"
    assert len(plan(replace(request, standardise=False), dataset).inputs) == 2


def test_a_named_text_with_too_many_values_is_refused() -> None:
    table = long_table(60) | {"name": texts(*(f"n{number}" for number in range(60)))}
    fault = only_fault(replace(requesting(), inputs=("name",), text="leave_out"), dataset_of(table))
    assert (fault.pointer, fault.column) == ("/inputs/0", "name")
    assert "more than 50" in fault.detail


def test_a_named_input_without_values_is_refused() -> None:
    request = replace(requesting(), inputs=("e",), missing="indicator")
    assert "no values" in only_fault(request, with_column("e", numbers(*[None] * 4))).detail


def test_ten_thousand_columns_and_emoji_names_are_planned() -> None:
    table = {f"🦆{number}": NumberArray(np.array([number, 1.0, 2.5])) for number in range(3, 10_003)}
    found = plan(requesting("🦆10002"), dataset_of(table))
    assert len(found.inputs) == 9_999


# Gaps


@pytest.mark.parametrize(("name", "pointer"), [("x", "/inputs"), ("y", "/target"), ("colour", "/inputs")])
def test_gaps_are_refused_with_their_count_and_the_two_other_choices(name: str, pointer: str) -> None:
    column = texts("red", None, "blue", None) if name == "colour" else numbers(1, None, 3, None)
    fault = only_fault(REFUSING, with_column(name, column))
    assert (fault.pointer, fault.column) == (pointer, name)
    assert f"`{name}` has 2 missing values in 4 rows" in fault.detail
    assert "drop_rows" in fault.detail
    assert "indicator" in fault.detail


def test_gaps_in_the_target_are_stated_to_be_left_out_either_way() -> None:
    dataset = with_column("y", numbers(1, None, 3, 4))
    assert "in both cases rows with one here are left out" in only_fault(REFUSING, dataset).detail


def test_gaps_in_a_named_input_have_its_pointer() -> None:
    request = replace(REFUSING, inputs=("colour", "x"))
    assert only_fault(request, with_column("x", numbers(1, None, 3, 4))).pointer == "/inputs/1"


def test_gaps_in_columns_that_are_not_used_do_not_matter() -> None:
    request = replace(requesting(), inputs=("colour",))
    assert plan(request, with_column("x", numbers(1, None, 3, 4))).missing == "error"


def test_of_very_many_columns_with_gaps_the_first_are_reported() -> None:
    table: Block = {f"c{number}": numbers(1, 2, None) for number in range(100)} | {"y": numbers(1, 2, 4)}
    faults = faults_of(REFUSING, dataset_of(table))
    assert len(faults) == 21
    assert "80 more columns" in faults[-1].detail


@pytest.mark.parametrize(
    ("table", "missing", "reason"),
    [
        ({"x": numbers(1, 2, 3, 4)}, "error", "No column has missing values"),
        ({"x": numbers(1, None, 3, 4)}, "indicator", "Input `x` (1 row) with missing values"),
        (
            {"x": numbers(1, 2, 3, 4), "y": numbers(1, 2, None, 7)},
            "indicator",
            "Rows without `y` (1 row) are left out.",
        ),
        (
            {f"x{number}": numbers(number, 1, None, None) for number in range(5)} | {"y": numbers(1, None, 3, 7)},
            "indicator",
            "Inputs `x0` (2 rows), `x2` (2 rows), `x3` (2 rows) and 1 more with missing values: each has the mean",
        ),
    ],
)
def test_the_treatment_of_gaps_follows_from_the_columns(table: Block, missing: Missing, reason: str) -> None:
    found = plan(requesting(), dataset_of({"y": numbers(1, 2, 4, 7), **table}))
    assert found.missing == missing
    assert reason in found.missing_reason


def test_gaps_in_columns_of_noise_and_split_are_those_of_rows_that_are_left_out() -> None:
    found = plan(replace(requesting(), split=GroupSplit("g")), with_column("g", texts("a", "b", None, "a")))
    assert (found.missing, found.missing_reason) == ("indicator", "Rows without `g` (1 row) are left out.")


@pytest.mark.parametrize("missing", ["error", "drop_rows", "indicator"])
def test_a_requested_treatment_of_gaps_is_planned(missing: Missing) -> None:
    found = plan(replace(requesting(), missing=missing), DATASET)
    assert (found.missing, found.missing_reason) == (missing, "The request names it.")


@pytest.mark.parametrize("missing", ["drop_rows", "indicator"])
def test_gaps_are_planned_with_when_the_caller_stated_how(missing: Missing) -> None:
    dataset = dataset_of({"x": numbers(1, None, 3, 4), "y": numbers(1, 2, None, 7)})
    assert plan(replace(requesting(), missing=missing), dataset).missing == missing


def test_dropping_nearly_all_rows_is_refused_before_it_is_tried() -> None:
    dataset = with_column("x", numbers(1, None, None, None))
    fault = only_fault(replace(requesting(), inputs=("x",), missing="drop_rows", standardise=False), dataset)
    assert (fault.pointer, fault.column) == ("/missing", "x")


# Split and hold-out


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (GroupSplit("nope"), "no column"),
        (OrderSplit("nope"), "no column"),
        (GroupSplit("y"), "is the target"),
        (OrderSplit("colour"), "has texts"),
        (OrderSplit("on"), "true and false"),
    ],
)
def test_a_split_by_a_column_that_does_not_fit_is_refused(split: Split, words: str) -> None:
    fault = only_fault(replace(requesting(), split=split))
    assert fault.pointer == "/split/column"
    assert words in fault.detail


def test_a_split_by_a_constant_column_is_refused() -> None:
    fault = only_fault(replace(requesting(), split=GroupSplit("g")), with_column("g", texts(*"aaaa")))
    assert fault.pointer == "/split/column"


@pytest.mark.parametrize("split", [GroupSplit("colour"), GroupSplit("x"), OrderSplit("when")])
def test_the_column_of_a_split_is_not_an_input(split: GroupSplit | OrderSplit) -> None:
    found = plan(replace(requesting(), split=split), DATASET)
    assert split.column not in {column.name for column in found.inputs}
    assert [column.name for column in found.ignored] == [split.column]
    assert found.split == split


def test_a_group_column_named_as_an_input_is_refused_but_the_time_may_be_one() -> None:
    assert only_fault(replace(requesting(), inputs=("colour",), split=GroupSplit("colour"))).pointer == "/inputs/0"
    assert len(plan(replace(requesting(), inputs=("when",), split=OrderSplit("when")), DATASET).inputs) == 1


def test_rows_are_ordered_as_they_came_without_a_column() -> None:
    assert plan(replace(requesting(), split=OrderSplit()), DATASET).ignored == ()


def test_gaps_in_the_column_of_a_split_are_refused() -> None:
    dataset = with_column("g", texts("a", "b", None, "a"))
    assert only_fault(replace(REFUSING, split=GroupSplit("g")), dataset).pointer == "/split/column"
    assert plan(replace(requesting(), split=GroupSplit("g"), missing="indicator"), dataset).missing == "indicator"


@pytest.mark.parametrize("holdout", [-0.1, 1.0, 1.5, float("nan"), 0.7, 0.99])
def test_a_hold_out_that_leaves_fewer_than_two_rows_is_refused(holdout: float) -> None:
    assert only_fault(replace(requesting(), holdout=holdout)).pointer == "/holdout"


@pytest.mark.parametrize("holdout", [0.0, 0.01, 0.5])
def test_a_hold_out_that_leaves_two_rows_is_planned(holdout: float) -> None:
    assert plan(replace(requesting(), holdout=holdout), DATASET).holdout == holdout


def test_all_faults_that_can_be_seen_together_are_reported_together() -> None:
    request = replace(
        requesting(), inputs=("x", "nope"), model="Bad", likelihood=Bernoulli(), holdout=2.0, split=GroupSplit("nope")
    )
    pointers = {fault.pointer for fault in faults_of(request)}
    assert pointers == {"/inputs/1", "/model", "/likelihood/type", "/holdout", "/split/column"}


def test_ignored_columns_are_listed_in_the_order_of_the_table() -> None:
    table = {"a": numbers(*[1.0] * 30), **long_table(30), "b": texts(*["s"] * 30)}
    same = "it is the same in every row"
    assert plan(requesting(), dataset_of(table)).ignored == (IgnoredColumn("a", same), IgnoredColumn("b", same))
