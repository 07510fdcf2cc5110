"""import numpy as np"""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from relevance_bayes.core.inference import coupled
from relevance_bayes.core.inference.coupled import maximise_coupled, mode_of_coupled
from relevance_bayes.core.likelihoods import Categorical
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences

K = 3
THEIRS = Categorical(K)


def drawn(rows: int = 40, columns: int = 5, *, scale: float = 1.0, seed: int = 0) -> tuple[Array, Array, Array, Array]:
    """P (N, R), t (N,), c (N,) and alpha (R,)."""
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((rows, columns))
    t = (P @ rng.standard_normal((columns, K))).argmax(axis=1).astype(np.float64)
    return P, t, scale * rng.uniform(0.0, 0.3, rows), np.full(columns, 1.0 / scale)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1e3])
def test_it_ends_where_neither_means_nor_precisions_move(scale: float) -> None:
    P, t, c, alpha = drawn(scale=scale)
    found = maximise_coupled(P, t, c, alpha, THEIRS)
    rested = found.posterior
    np.testing.assert_allclose(P.T @ found.sites.gradient, alpha[:, None] * rested.mean, atol=2e-4)
    precision = np.diag(alpha) + P.T @ (found.sites.precision[:, None] * P)
    np.testing.assert_allclose(rested.covariance @ precision, np.eye(5), atol=2e-2)
    np.testing.assert_allclose(found.f, P @ rested.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.v, c + np.einsum("nr,rs,ns->n", P, rested.covariance, P), rtol=1e-9)


def test_its_value_is_the_expected_log_density_less_the_divergence() -> None:
    P, t, c, alpha = drawn()
    found = maximise_coupled(P, t, c, alpha, THEIRS)
    M, S = found.posterior.mean, found.posterior.covariance
    own = np.trace(alpha[:, None] * S) - 5.0 - np.linalg.slogdet(alpha[:, None] * S)[1]
    divergence = 0.5 * (float(alpha @ np.square(M).sum(axis=1)) + K * own)
    assert found.posterior.divergence == pytest.approx(divergence, rel=1e-9)
    assert found.value == pytest.approx(float(found.sites.value.sum()) - divergence, rel=1e-9)


def test_it_is_a_bound_of_the_evidence() -> None:
    """With one function and three classes, by importance sampling of the three weights."""
    P, t, _, alpha = drawn(12, 1)
    found = maximise_coupled(P, t, np.zeros(12), alpha, THEIRS)
    rng = np.random.default_rng(0)
    sd = 1.5 * float(found.posterior.covariance[0, 0]) ** 0.5
    w = found.posterior.mean[0] + sd * rng.standard_normal((200_000, K))
    f = w[:, None, :] * P[None, :, :1]
    chosen = np.take_along_axis(f, t.astype(int)[None, :, None], axis=2)[..., 0]
    log_joint = (chosen - logsumexp(f, axis=2)).sum(axis=1) - 0.5 * float(alpha[0]) * np.square(w).sum(axis=1)
    log_joint += 0.5 * K * np.log(alpha[0] / (2.0 * np.pi))
    log_proposal = -0.5 * np.square((w - found.posterior.mean[0]) / sd).sum(axis=1)
    log_proposal -= K * np.log(sd * (2.0 * np.pi) ** 0.5)
    evidence = float(logsumexp(log_joint - log_proposal) - np.log(len(w)))
    assert evidence - 0.5 < found.value < evidence + 0.01


def test_no_step_from_rest_leads_up() -> None:
    P, t, c, alpha = drawn()
    found = maximise_coupled(P, t, c, alpha, THEIRS)
    M, S = found.posterior.mean, found.posterior.covariance
    lower = np.linalg.cholesky(S)

    def value(moved: Array) -> float:
        mean, factor = M + moved[: 5 * K].reshape(5, K), lower + np.tril(moved[5 * K :].reshape(5, 5))
        v = c + np.square(P @ factor).sum(axis=1)
        spread = alpha[:, None] * (factor @ factor.T)
        own = np.trace(spread) - 5.0 - np.linalg.slogdet(spread)[1]
        price = 0.5 * (float(alpha @ np.square(mean).sum(axis=1)) + K * own)
        return float(THEIRS.expected(t, P @ mean, v, 1.0).value.sum() - price)

    slopes = by_differences(value, np.zeros(5 * K + 25))
    np.testing.assert_allclose(slopes, 0.0, atol=2e-3)


def test_a_bound_on_the_solves_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coupled, "MAX_SOLVES", 1)
    P, t, c, alpha = drawn(scale=1e3)
    assert np.isfinite(maximise_coupled(P, t, c, alpha, THEIRS).value)


def test_without_functions_every_class_is_as_probable() -> None:
    _, t, _, _ = drawn()
    found = maximise_coupled(np.empty((40, 0)), t, np.zeros(40), np.empty(0), THEIRS)
    assert found.value == pytest.approx(-40.0 * np.log(K))


@pytest.mark.parametrize("counts", [(1, 3, 1), (1, 1, 7), (1, 4, 4), (2, 3, 6)])
def test_one_column_is_solved_to_the_last_bit_and_that_is_the_end(counts: tuple[int, ...]) -> None:
    """Conjugate gradients may have nothing left after the first product."""
    t, alpha = np.repeat(np.arange(3.0), counts), np.array([4.0])
    P = np.ones((len(t), 1))
    found = maximise_coupled(P, t, np.zeros(len(t)), alpha, THEIRS)
    np.testing.assert_allclose(P.T @ found.sites.gradient, alpha[:, None] * found.posterior.mean, atol=2e-4)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_the_mode_is_that_of_a_regression_by_scikit_learn_of_the_same_penalty(scale: float) -> None:
    P, t, _, _ = drawn(60)
    alpha = np.array([1.0, 0.5, 2.0, 1.0, 4.0]) / scale
    _, found = mode_of_coupled(P, t, alpha, THEIRS, np.zeros((5, K)))
    theirs = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-9, max_iter=10_000).fit(P / np.sqrt(alpha), t)
    np.testing.assert_allclose(found.mean, theirs.coef_.T / np.sqrt(alpha)[:, None], rtol=5e-3, atol=5e-3)
    p = softmax(P @ found.mean, axis=1)
    np.testing.assert_allclose(P.T @ (np.eye(K)[t.astype(int)] - p), alpha[:, None] * found.mean, atol=2e-2)


def test_the_value_at_the_mode_is_laplaces_approximation() -> None:
    P, t, _, alpha = drawn(60)
    value, found = mode_of_coupled(P, t, alpha, THEIRS, np.zeros((5, K)))
    p = softmax(P @ found.mean, axis=1)
    precision = np.diag(alpha) + P.T @ ((p * (1.0 - p)).mean(axis=1)[:, None] * P)
    log_joint = float(np.log(p[np.arange(60), t.astype(int)]).sum() - 0.5 * alpha @ np.square(found.mean).sum(axis=1))
    volume = 0.5 * K * (float(np.log(alpha).sum()) - np.linalg.slogdet(precision)[1])
    assert value == pytest.approx(log_joint + volume, rel=1e-9)
    np.testing.assert_allclose(found.covariance @ precision, np.eye(5), atol=1e-9)
