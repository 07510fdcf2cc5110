"""A width for each input under independent weights: what is learned, and that no climb falls."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Greedy, ReEstimation, Sequential
from relevance_bayes.core.basis import Basis, Bias, Inputs, KernelBasis
from relevance_bayes.core.kernels import LinearSpline, Matern52
from relevance_bayes.core.kernels.hyperparameters import CrossValidationWidth, EvidencePerInputWidth, FixedWidth, Width
from relevance_bayes.core.likelihoods import Bernoulli, Categorical, GaussianNoise, OneAgainstRest, StudentT
from relevance_bayes.core.models.fitting import FitLog, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pooling.members import whole
from relevance_bayes.core.models.prediction import latent, predict
from relevance_bayes.core.models.width_search import MAX_FUNCTIONS, chosen, raised
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.selection import Rows, Selection, Step, Trained, train
from relevance_bayes.core.types import Array
from tests.library.core.drawn import friedman, rows_for, sinc

EACH = EvidencePerInputWidth()

SPECS = {
    "noise learned": Spec(GaussianNoise(), (KernelBasis(width=EACH), Bias())),
    "noise known": Spec(GaussianNoise(0.1), (Bias(), Inputs(), KernelBasis(Matern52(), EACH))),
    "classes": Spec(Bernoulli(), (KernelBasis(width=EACH), Bias())),
    "three classes": Spec(Categorical(3), (KernelBasis(width=EACH), Bias())),
    "one against rest": Spec(OneAgainstRest(3), (KernelBasis(width=EACH), Bias())),
    "heavy tails": Spec(StudentT(), (KernelBasis(width=EACH), Bias())),
    "priced": Spec(GaussianNoise(), (KernelBasis(width=EACH), Bias()), Independent(price=True)),
    "one move at a time": Spec(GaussianNoise(), (KernelBasis(width=EACH), Bias()), algorithm=Sequential("single")),
    "all at once": Spec(GaussianNoise(), (KernelBasis(width=EACH), Bias()), algorithm=ReEstimation()),
    "hyperpriors": Spec(
        GaussianNoise(), (KernelBasis(width=EACH), Bias()), Independent(a=0.1, b=1e-3, c=0.1, d=1e-3), ReEstimation()
    ),
    "splines": Spec(GaussianNoise(), (KernelBasis(LinearSpline(), EACH),)),
    "another width beside it": Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(40.0)), KernelBasis(width=EACH))),
}
each_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


def irrelevant_beside(X: Array, number: int = 1) -> Array:
    """Inputs without information on the targets, as wide as the others."""
    return np.hstack([X, np.random.default_rng(7).standard_normal((len(X), number)) * X.std(axis=0).max()])


def waves(rows: int) -> tuple[Array, Array]:
    """Two classes that take turns along the one input that counts."""
    rng = np.random.default_rng(5)
    x = rng.uniform(-3.0, 3.0, rows)
    return x[:, None], (rng.uniform(size=rows) < 1.0 / (1.0 + np.exp(-5.0 * np.sin(2.0 * x)))).astype(np.float64)


def place_of(spec: Spec) -> int:
    (place,) = [
        place for place, basis in enumerate(spec.basis) if isinstance(basis, KernelBasis) and basis.width == EACH
    ]
    return place


def fixing(spec: Spec) -> Callable[[tuple[float, ...]], Spec]:
    """The spec with the widths that are looked for fixed."""
    place = place_of(spec)
    (basis,) = [basis for basis in spec.basis if isinstance(basis, KernelBasis) and basis.width == EACH]

    def at(widths: tuple[float, ...]) -> Spec:
        found: Basis = KernelBasis(basis.kernel, FixedWidth(widths))
        return Spec(
            spec.model_likelihood, (*spec.basis[:place], found, *spec.basis[place + 1 :]), spec.prior, spec.algorithm
        )

    return at


def trained(X: Array, t: Array, spec: Spec) -> Trained:
    *steps, last = train(Rows(X, t), Selection(spec))
    assert isinstance(last, Trained)
    assert all(isinstance(step, Step) for step in steps)
    return last


def widths_of(found: Trained, place: int = 0) -> Array:
    basis = found.spec.basis[place]
    assert isinstance(basis, KernelBasis)
    assert isinstance(basis.width, FixedWidth)
    return np.array(basis.width.each)


@each_spec
def test_no_climb_falls_and_it_is_the_evidence_that_rises(spec: Spec) -> None:
    X, t = rows_for(spec.model_likelihood, 40, 0)
    rows, place, at = Rows(irrelevant_beside(X), t), place_of(spec), fixing(spec)
    start = rows.X.std(axis=0) * 2.0
    now = chosen(rows, start, at, FitLog())
    widths, reached = raised(now, start, place)
    assert reached > now.objective
    again, further = raised(chosen(rows, widths, at, FitLog()), start, place)
    assert np.isfinite(again).all()
    assert np.isfinite(further)


@cache
def steps_and_end(name: str) -> tuple[list[Step], Trained]:
    """All steps, and what is found, with an input that does not matter."""
    spec = SPECS[name]
    X, t = rows_for(spec.model_likelihood, 30, 1)
    *steps, last = train(Rows(irrelevant_beside(X), t), Selection(spec))
    assert isinstance(last, Trained)
    return [step for step in steps if isinstance(step, Step)], last


@pytest.mark.parametrize("name", SPECS)
def test_what_is_found_ends_in_fixed_widths_one_for_each_input(name: str) -> None:
    _, found = steps_and_end(name)
    widths = widths_of(found, place_of(SPECS[name]))
    inputs = rows_for(SPECS[name].model_likelihood, 30, 1)[0].shape[1] + 1
    assert widths.shape == (inputs,)
    assert np.isfinite(widths).all()
    assert (widths > 0.0).all()
    assert np.isfinite(found.model.mean).all()


@pytest.mark.parametrize(
    ("name", "min_fits"), [("noise learned", 3), pytest.param("heavy tails", 6, marks=pytest.mark.thorough)]
)
def test_the_search_is_reported_fit_by_fit(name: str, min_fits: int) -> None:
    steps, _ = steps_and_end(name)
    searching = [step for step in steps if step.phase == "width search"]
    assert [step.completed for step in searching] == list(range(len(searching)))
    assert len(searching) > min_fits
    assert steps[0].phase == "width search"


@pytest.mark.parametrize("name", ["noise learned", "classes", "heavy tails"])
def test_inputs_that_do_not_matter_get_wide(name: str) -> None:
    spec = SPECS[name]
    X, t = waves(200) if name == "classes" else sinc(100, 0)
    X = irrelevant_beside(X, 2)
    widths = widths_of(trained(X, t, spec)) / X.std(axis=0)
    assert widths[-2:].min() > 4.0 * widths[:-2].max()


@pytest.mark.thorough
def test_the_evidence_is_above_that_of_one_width_for_all() -> None:
    X, t, f = friedman(120, 0)

    def at(width: Width) -> tuple[float, float]:
        model = trained(X, t, Spec(GaussianNoise(), (KernelBasis(width=width), Bias()))).model
        return model.evidence.value, float(np.mean((latent(model, X).mean - f) ** 2))

    evidence, error = at(EACH)
    evidence_of_one, error_of_one = at(CrossValidationWidth())
    assert evidence > evidence_of_one + 20.0
    assert error < 0.6 * error_of_one


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_units_of_inputs_and_targets_change_nothing(unit: float) -> None:
    X, t = sinc(40, 0)
    X = irrelevant_beside(X)
    units = np.array([unit, 1.0])
    one, other = trained(X, t, SPECS["noise learned"]), trained(X * units, t / unit, SPECS["noise learned"])
    np.testing.assert_allclose(widths_of(other)[0] / unit, widths_of(one)[0], rtol=1e-3)
    assert len(one.model.mean) == len(other.model.mean)


@each_spec
def test_columns_that_are_constant_or_repeated_are_learned_with(spec: Spec) -> None:
    X, t = rows_for(spec.model_likelihood, 30, 2)
    X = np.column_stack([X, np.ones(len(X)), X[:, 0]])
    X[1], t[1] = X[0], t[0]
    found = trained(X, t, spec)
    assert np.isfinite(widths_of(found, place_of(spec))).all()
    assert np.isfinite(predict(found.model, X).log_density(t)).all()


def test_where_nothing_is_found_the_widths_stay_finite() -> None:
    rng = np.random.default_rng(3)
    found = trained(rng.standard_normal((40, 3)), rng.standard_normal(40), SPECS["priced"])
    assert np.isfinite(widths_of(found)).all()


def test_a_fit_on_the_way_stops_to_grow() -> None:
    rng = np.random.default_rng(0)
    rows = Rows(rng.standard_normal((120, 2)), rng.standard_normal(120))
    there = chosen(rows, np.full(2, 0.05), fixing(SPECS["noise learned"]), FitLog())
    assert len(there.iterate.state.active) == MAX_FUNCTIONS


def test_where_it_has_a_closed_form_the_widths_are_those_of_the_process() -> None:
    X, t, f = friedman(240, 0)
    X, t, f = (X - X.mean(axis=0)) / X.std(axis=0), (t - t.mean()) / t.std(), (f - t.mean()) / t.std()
    process = Spec(
        GaussianNoise(), (KernelBasis(width=EACH), Bias()), GaussianProcess(inducing_points="rows"), Greedy()
    )
    problem = pose(X, t, process)
    *_, member = whole(problem, process, FitLog())
    found = trained(X, t, SPECS["all at once"])
    np.testing.assert_allclose(widths_of(found), member.hyperparameters.input_map.widths, rtol=1e-6)
    # Of the true function: half of what widths by the evidence of independent weights leave.
    assert float(np.mean((latent(found.model, X).mean - f) ** 2)) < 0.02
    assert len(found.model.mean) <= 20


def test_rows_of_known_noise_are_weighed_by_how_sure_they_are() -> None:
    """Half of them are uninformative, and known to be."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2.0, 2.0, (80, 2))
    noise_sd = np.where(np.arange(80) % 2 == 0, 0.05, 5.0)
    t = np.sin(2.0 * X[:, 0]) + noise_sd * rng.standard_normal(80)
    spec = Spec(GaussianNoise("rows"), (KernelBasis(width=EACH), Bias()))
    *_, found = train(Rows(X, t, noise_sd), Selection(spec))
    assert isinstance(found, Trained)
    narrow, wide = widths_of(found)
    assert wide > 4.0 * narrow
    np.testing.assert_allclose(latent(found.model, X).mean, np.sin(2.0 * X[:, 0]), atol=0.25)


def test_what_starts_with_everything_in_finds_its_widths_by_few() -> None:
    X, t, _ = friedman(100, 0)
    free, held = SPECS["all at once"], SPECS["hyperpriors"]
    narrow = 0.5 * X.std(axis=0) * np.sqrt(X.shape[1])
    few, all_of_them = (chosen(Rows(X, t), narrow, fixing(spec), FitLog()).iterate.state for spec in (free, held))
    assert 0 < len(few.active) <= MAX_FUNCTIONS < len(all_of_them.active)
