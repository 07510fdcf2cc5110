"""The contributions of functions to a prediction: all of them together are the mean."""

import numpy as np
import pytest

from relevance_bayes.core.likelihoods import Bernoulli, Categorical, GaussianNoise, OneAgainstRest
from relevance_bayes.core.models import prediction
from relevance_bayes.core.models.effects import contributions
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import Ready, latent
from tests.library.core.drawn import process_spec, ripley, rows_for, sinc, spec_for

SPECS: dict[str, Spec] = {
    "independent": spec_for(GaussianNoise()),
    "process": process_spec(GaussianNoise(), inputs=True),
    "classes": spec_for(Bernoulli()),
}
NEW = np.linspace(-14.0, 14.0, 17)[:, None]


def fitted(name: str) -> Model:
    spec = SPECS[name]
    return fit(*rows_for(spec.model_likelihood, 40, 0), spec)


@pytest.mark.parametrize("name", SPECS)
def test_all_together_are_the_mean_and_greater_ones_come_first(name: str) -> None:
    model = fitted(name)
    X = ripley(20, 1)[0] if name == "classes" else NEW
    found = contributions(Ready.of(model), X, 1_000)
    assert found.functions.shape == (len(X), len(model.mean))
    np.testing.assert_allclose(found.added.sum(axis=1), latent(model, X).mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    assert (np.diff(np.abs(found.added), axis=1) <= 0.0).all()
    np.testing.assert_allclose(found.shares, np.abs(found.added) / np.abs(found.added).sum(axis=1, keepdims=True))


def test_a_contribution_is_a_function_times_its_weight() -> None:
    model = fitted("process")
    found = contributions(Ready.of(model), NEW, 2)
    assert found.functions.shape == (len(NEW), 2)
    P = np.hstack([functions(NEW, np.arange(functions.size)) for functions in model.functions])
    terms = P * model.mean
    np.testing.assert_allclose(found.added, np.take_along_axis(terms, found.functions, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(np.abs(found.added).max(axis=1), np.abs(found.added[:, 0]))
    np.testing.assert_allclose(np.abs(found.added[:, 0]), np.abs(terms).max(axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    "spec",
    [process_spec(Categorical(3), min_gain=1.0), spec_for(Categorical(3)), spec_for(OneAgainstRest(3))],
    ids=["process", "independent", "one against rest"],
)
def test_of_several_latents_each_point_has_that_of_its_own(spec: Spec) -> None:
    X, t = sinc(60, 0)
    model = fit(X, np.digitize(t, [-0.05, 0.3]).astype(float), spec)
    latents = np.arange(len(NEW)) % 3
    found = contributions(Ready.of(model), NEW, 1_000, latents=latents)
    means = latent(model, NEW).mean[np.arange(len(NEW)), latents]
    np.testing.assert_allclose(found.added.sum(axis=1), means, rtol=1e-9, atol=1e-9)


def test_where_nothing_is_added_no_share_is_had() -> None:
    X, t = sinc(40, 0)
    spec = spec_for(GaussianNoise())
    model = fit(X, t, Spec(spec.model_likelihood, spec.basis[:1]))
    found = contributions(Ready.of(model), np.array([[1e9]]), 3)
    np.testing.assert_array_equal(found.added, 0.0)
    np.testing.assert_array_equal(found.shares, 0.0)


def test_points_in_chunks_have_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted("independent")
    full = contributions(Ready.of(model), NEW, 3)
    monkeypatch.setattr(prediction, "BLOCK_BYTES", 8 * len(model.mean) * 5)
    monkeypatch.setattr(prediction, "MIN_ROWS", 1)
    pieces = contributions(Ready.of(model), NEW, 3)
    np.testing.assert_array_equal(pieces.functions, full.functions)
    np.testing.assert_allclose(pieces.added, full.added, rtol=1e-12)


@pytest.mark.parametrize("chunk", [None, 2], ids=["whole", "in chunks"])
def test_of_several_rows_for_each_point_contributions_are_weighted_means(
    chunk: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if chunk is not None:
        monkeypatch.setattr(prediction, "MIN_ROWS", chunk)
        monkeypatch.setattr(prediction, "BLOCK_BYTES", 1)
    ready = Ready.of(fitted("process"))
    X = np.linspace(-9.0, 9.0, 12)[:, None]
    w = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.25, 0.5, 0.25], [0.1, 0.1, 0.8]])
    each, found = contributions(ready, X, 1_000), contributions(ready, X, 1_000, weights=w)
    by_function = np.take_along_axis(each.added, np.argsort(each.functions, axis=1), axis=1)
    expected = np.array([w[n] @ by_function[3 * n : 3 * n + 3] for n in range(4)])
    ours = np.take_along_axis(found.added, np.argsort(found.functions, axis=1), axis=1)
    np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found.total, (w * each.total.reshape(4, 3)).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    assert (np.diff(np.abs(found.added), axis=1) <= 0.0).all()


def test_points_of_one_list_follow_those_of_another() -> None:
    ready = Ready.of(fitted("process"))
    whole = contributions(ready, NEW, 2)
    parts = [contributions(ready, NEW[some], 2) for some in (slice(0, 4), slice(4, 9), slice(9, None))]
    joined = parts[0].followed_by(parts[1:])
    for name in ("functions", "added", "shares", "total"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
