import numpy as np
import pytest

from relevance_bayes.core import priors as gaussian_process
from relevance_bayes.core.inference import evidence as choice
from relevance_bayes.core.inference.evidence import Chosen, choose
from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.inference.process import ProcessRows, Vectors, bound
from relevance_bayes.core.kernels import Covariance, Gaussian, Laplacian, Matern52
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.types import Array

KERNELS: list[Covariance] = [Gaussian(), Matern52(), Laplacian()]

each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.type)


@pytest.fixture(autouse=True)
def hardly_a_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice needs none; the bound it is held against has one."""
    monkeypatch.setattr(gaussian_process, "JITTER", 1e-11)


def drawn(columns: int, *, rows: int = 30, seed: int = 0) -> ProcessRows:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (rows, 2))
    t = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.standard_normal(rows)
    return ProcessRows(X, t, np.column_stack([np.ones(rows), X])[:, :columns])


def guessed(columns: int, *, beta: float = 50.0) -> Hyperparameters:
    return Hyperparameters(beta, 0.8, np.linspace(0.5, 2.0, columns), InputMap(np.array([1.2, 2.0])))


def chosen_of(
    rows: ProcessRows,
    h: Hyperparameters,
    *,
    kernel: Covariance = Gaussian(),  # noqa: B008
    candidates: int | None = None,
    minimum: float = 1.0,
    maximum: int = 100,
) -> Chosen:
    """The first rows are the candidates."""
    U = h.input_map(rows.X)
    return choose(
        kernel(U, U[:candidates]),
        signal_variance=h.signal_variance,
        gradient=h.beta * rows.t,
        precision=np.full(len(rows.t), h.beta),
        fixed=rows.F,
        alpha=h.alpha,
        min_gain=minimum,
        max_functions=maximum,
    )


def bound_of(rows: ProcessRows, h: Hyperparameters, kernel: Covariance, places: list[int]) -> float:
    chosen = np.array(places, np.intp)
    return bound(rows, Vectors(chosen, rows.X[chosen]), kernel, GaussianNoise(), h).value


@each_kernel
@pytest.mark.parametrize("columns", [0, 3])
def test_each_gain_is_what_the_bound_rises_by(kernel: Covariance, columns: int) -> None:
    rows, h = drawn(columns), guessed(columns)
    found = chosen_of(rows, h, kernel=kernel)
    places = found.places.tolist()
    assert len(places) >= 5
    values = [bound_of(rows, h, kernel, places[:size]) for size in range(len(places) + 1)]
    np.testing.assert_allclose(found.gains, np.diff(values), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("columns", [0, 3])
def test_how_many_rows_are_read_at_once_changes_no_choice(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, h = drawn(columns, rows=60), guessed(columns)
    complete = chosen_of(rows, h, candidates=40, minimum=0.1)
    assert len(complete.places) >= 10
    for block_rows in (1, 7):
        monkeypatch.setattr(choice, "PASS_BYTES", 8 * 40 * block_rows)
        parts = chosen_of(rows, h, candidates=40, minimum=0.1)
        np.testing.assert_array_equal(parts.places, complete.places)
        np.testing.assert_allclose(parts.gains, complete.gains, rtol=1e-9)
        assert parts.next_gain == pytest.approx(complete.next_gain, rel=1e-9)


def by_products(K: Array, s: float, precision: Array, t: Array, max_functions: int, min_gain: float) -> Chosen:
    """The same choice with the inverse covariance (N, N) and the residual kernel written out, in extended precision."""
    K, t = np.array(K, np.longdouble), t.astype(np.longdouble)
    inverse, diagonal = np.diag(precision).astype(np.longdouble), np.arange(K.shape[1])
    places, gains = list[int](), list[float]()
    while True:
        left = np.where(K[diagonal, diagonal] > 1e-6, K[diagonal, diagonal], np.inf)
        S, Q = np.einsum("nm,nm->m", K, inverse @ K) / left, (t @ inverse @ K) ** 2 / left
        gain = 0.5 * (-np.log1p(s * S) + s * Q / (1.0 + s * S) + s * (precision @ K**2) / left)
        gain[places] = 0.0
        best = int(gain.argmax())
        if len(places) >= max_functions or gain[best] < min_gain:
            return Chosen(np.array(places, np.intp), np.array(gains), float(gain[best]))
        phi = K[:, best] / np.sqrt(left[best])
        v = inverse @ phi / np.sqrt(1.0 / s + phi @ inverse @ phi)
        inverse -= np.outer(v, v)
        K -= np.outer(phi, K[best] / np.sqrt(left[best]))
        places.append(best)
        gains.append(float(gain[best]))


@pytest.mark.thorough
@each_kernel
@pytest.mark.parametrize("signal_to_noise", [3.0, 100.0, 1e4])
@pytest.mark.parametrize(("rows", "candidates"), [(20, 20), (90, 90), (120, 70)])
def test_order_and_gains_are_those_by_products(
    kernel: Covariance, signal_to_noise: float, rows: int, candidates: int
) -> None:
    some, h = drawn(0, rows=rows), guessed(0, beta=signal_to_noise)
    U = h.input_map(some.X)
    precision = h.beta * np.random.default_rng(1).uniform(0.5, 1.5, rows)
    found = choose(
        kernel(U, U[:candidates]),
        signal_variance=h.signal_variance,
        gradient=precision * some.t,
        precision=precision,
        fixed=some.F,
        alpha=h.alpha,
        min_gain=0.01,
        max_functions=60,
    )
    expected = by_products(kernel(U, U[:candidates]), h.signal_variance, precision, some.t, 60, 0.01)
    assert found.places.tolist() == expected.places.tolist()
    np.testing.assert_allclose(found.gains, expected.gains, rtol=1e-8, atol=1e-13 * signal_to_noise**2)
    assert found.next_gain == pytest.approx(expected.next_gain, rel=1e-6, abs=1e-13 * signal_to_noise**2)


@pytest.mark.parametrize("beta", [1e6, 1e8])
def test_little_noise_leaves_gains_finite_and_those_by_products(beta: float) -> None:
    """Rounding of the running sums is 1e8 times the last gains: they are computed anew where it shows."""
    rows, h = drawn(0, rows=100), guessed(0, beta=beta)
    found = chosen_of(rows, h, minimum=0.03)
    U = h.input_map(rows.X)
    expected = by_products(Gaussian()(U, U), h.signal_variance, np.full(100, beta), rows.t, 100, 0.03)
    assert len(found.places) > choice.BLOCK
    assert found.places.tolist() == expected.places.tolist()
    np.testing.assert_allclose(found.gains, expected.gains, rtol=1e-4)


@pytest.mark.parametrize("block", [1, 2, 5])
def test_how_often_sums_are_computed_anew_changes_no_choice(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, h = drawn(3, rows=60), guessed(3)
    expected = chosen_of(rows, h, candidates=40, minimum=0.1)
    monkeypatch.setattr(choice, "BLOCK", block)
    found = chosen_of(rows, h, candidates=40, minimum=0.1)
    np.testing.assert_array_equal(found.places, expected.places)
    np.testing.assert_allclose(found.gains, expected.gains, rtol=1e-9)
    assert found.next_gain == pytest.approx(expected.next_gain, rel=1e-9)


@pytest.mark.parametrize("columns", [0, 3])
def test_the_gains_of_all_functions_are_what_the_full_process_gains_over_none(columns: int) -> None:
    rows, h = drawn(columns), guessed(columns)
    found = chosen_of(rows, h, minimum=1e-12)
    evidence = ExactProcess.of(rows, Gaussian(), h).value
    assert found.gains.sum() == pytest.approx(evidence - bound_of(rows, h, Gaussian(), []), rel=1e-9, abs=1e-4)


@pytest.mark.parametrize("share", [0.5, 0.99])
def test_it_stops_where_the_gains_add_up_to_enough(share: float) -> None:
    rows, h = drawn(1), guessed(1)
    complete = chosen_of(rows, h, minimum=0.1)
    enough = share * float(complete.gains.sum())
    U = h.input_map(rows.X)
    found = choose(
        Gaussian()(U, U),
        signal_variance=h.signal_variance,
        gradient=h.beta * rows.t,
        precision=np.full(30, h.beta),
        fixed=rows.F,
        alpha=h.alpha,
        min_gain=0.1,
        max_functions=100,
        max_total_gain=enough,
    )
    assert found.gains.sum() >= enough > found.gains[:-1].sum()
    size = len(found.places)
    assert size < len(complete.places)
    assert found.places.tolist() == complete.places[:size].tolist()
    assert found.next_gain == pytest.approx(complete.gains[size])


def test_the_kernel_that_was_handed_over_stays_as_it_was() -> None:
    rows, h = drawn(0), guessed(0)
    U = h.input_map(rows.X)
    K = Gaussian()(U, U)
    before, noise = K.copy(), np.full(len(rows.t), h.beta)
    nothing = np.empty((len(rows.t), 0))
    choose(
        K,
        signal_variance=1.0,
        gradient=rows.t,
        precision=noise,
        fixed=nothing,
        alpha=np.empty(0),
        min_gain=0.1,
        max_functions=5,
    )
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize("columns", [0, 3])
@pytest.mark.parametrize("already", [0, 2])
def test_no_other_candidate_would_have_gained_more(columns: int, already: int) -> None:
    rows, h = drawn(columns), guessed(columns)
    found = chosen_of(rows, h)
    before = found.places[:already].tolist()
    here = bound_of(rows, h, Gaussian(), before)
    others = [bound_of(rows, h, Gaussian(), [*before, n]) - here for n in range(30) if n not in before]
    assert found.gains[already] == pytest.approx(max(others), rel=1e-6)


def test_the_best_that_stayed_out_is_known() -> None:
    rows, h = drawn(1), guessed(1)
    few, more = chosen_of(rows, h, maximum=3), chosen_of(rows, h, maximum=4)
    assert few.places.tolist() == more.places[:3].tolist()
    assert few.next_gain == pytest.approx(more.gains[3])


@pytest.mark.parametrize("minimum", [0.5, 3.0, 20.0])
def test_it_stops_where_none_brings_the_least_gain(minimum: float) -> None:
    found = chosen_of(drawn(1), guessed(1), minimum=minimum)
    assert len(found.places) == len(found.gains) >= 1
    assert found.gains.min() >= minimum > found.next_gain


def test_it_stops_before_the_first_where_nothing_gains() -> None:
    rows, h = drawn(1), guessed(1)
    found = chosen_of(rows, h, minimum=1e6)
    assert (len(found.places), len(found.gains)) == (0, 0)
    assert found.next_gain == pytest.approx(chosen_of(rows, h, maximum=1).gains[0])


@pytest.mark.parametrize("maximum", [1, 4])
def test_it_stops_with_the_most(maximum: int) -> None:
    found = chosen_of(drawn(1), guessed(1), maximum=maximum)
    assert len(found.places) == maximum
    assert found.next_gain > 1.0


def test_only_candidates_are_taken_and_all_of_them_at_most() -> None:
    found = chosen_of(drawn(1), guessed(1), candidates=4, minimum=1e-12)
    assert set(found.places.tolist()) <= {0, 1, 2, 3}


@pytest.mark.parametrize("copies", [2, 3])
def test_of_repeated_rows_one_is_selected(copies: int) -> None:
    rows, h = drawn(1, rows=15), guessed(1, beta=1e4)
    again = ProcessRows(np.tile(rows.X, (copies, 1)), np.tile(rows.t, copies), np.tile(rows.F, (copies, 1)))
    found = chosen_of(again, h, minimum=1e-9)
    originals = found.places % 15
    assert len(set(originals.tolist())) == len(originals) >= 5
    assert np.isfinite(found.gains).all()


def test_among_equals_the_first_is_taken() -> None:
    """Two rows that mirror each other, and nothing else."""
    X = np.array([[-1.0, 0.0], [1.0, 0.0]])
    found = chosen_of(ProcessRows(X, np.array([1.0, 1.0]), np.empty((2, 0))), guessed(0), minimum=1e-6)
    assert found.places.tolist() == [0, 1]


def test_the_kernel_given_is_not_changed() -> None:
    rows, h = drawn(1), guessed(1)
    K = Gaussian()(h.input_map(rows.X), h.input_map(rows.X))
    before = K.copy()
    choose(
        K,
        signal_variance=h.signal_variance,
        gradient=h.beta * rows.t,
        precision=np.full(30, h.beta),
        fixed=rows.F,
        alpha=h.alpha,
        min_gain=1.0,
        max_functions=5,
    )
    np.testing.assert_array_equal(K, before)


def by_normal_densities(
    K: Array, *, signal_variance: float, t: Array, precision: Array, fixed: Array, alpha: Array, places: list[int]
) -> float:
    """log N(t; 0, Q + diag(1/lam)) - 1/2 sum lam (s k_nn - q_nn), Q what the places explain and the columns."""
    chosen = K[:, places]
    Q = (
        signal_variance * chosen @ np.linalg.solve(K[places][:, places], chosen.T)
        if places
        else np.zeros((len(t), len(t)))
    )
    price = 0.5 * float(precision @ (signal_variance - Q.diagonal()))
    C = Q + (fixed / alpha) @ fixed.T + np.diag(1.0 / precision)
    return -0.5 * float(np.linalg.slogdet(C)[1] + t @ np.linalg.solve(C, t)) - price


@pytest.mark.parametrize("columns", [0, 2])
def test_where_each_row_has_its_own_precision_targets_represent_the_sites(columns: int) -> None:
    """Sites (lam, g) at latent 0 are Gaussian targets g/lam with noise 1/lam, as those of classes are."""
    rng = np.random.default_rng(2)
    rows, h = drawn(columns), guessed(columns)
    precision, t = rng.uniform(0.05, 0.25, 30) * 20.0, rng.standard_normal(30)
    K = Gaussian()(h.input_map(rows.X), h.input_map(rows.X))
    found = choose(
        K,
        signal_variance=h.signal_variance,
        gradient=precision * t,
        precision=precision,
        fixed=rows.F,
        alpha=h.alpha,
        min_gain=0.5,
        max_functions=8,
    )
    places = found.places.tolist()
    assert len(places) >= 3
    values = [
        by_normal_densities(
            K,
            signal_variance=h.signal_variance,
            t=t,
            precision=precision,
            fixed=rows.F,
            alpha=h.alpha,
            places=places[:size],
        )
        for size in range(len(places) + 1)
    ]
    np.testing.assert_allclose(found.gains, np.diff(values), rtol=1e-8, atol=1e-8)


def test_what_several_latents_gain_together_is_the_sum() -> None:
    rows, h = drawn(2), guessed(2)
    U = h.input_map(rows.X)
    gradient = h.beta * np.column_stack([rows.t, np.cos(rows.X[:, 0]), rows.X[:, 1] ** 2])
    together = choose(
        Gaussian()(U, U),
        signal_variance=h.signal_variance,
        gradient=gradient,
        precision=np.full(30, h.beta),
        fixed=rows.F,
        alpha=h.alpha,
        min_gain=1.0,
        max_functions=6,
    )
    for k, place in enumerate(together.places):
        before = Vectors(together.places[:k], rows.X[together.places[:k]])
        after = Vectors(together.places[: k + 1], rows.X[together.places[: k + 1]])
        rise = sum(
            bound(ProcessRows(rows.X, t, rows.F), after, Gaussian(), GaussianNoise(), h).value
            - bound(ProcessRows(rows.X, t, rows.F), before, Gaussian(), GaussianNoise(), h).value
            for t in (gradient / h.beta).T
        )
        assert together.gains[k] == pytest.approx(rise, rel=1e-4)
        assert place < 30
