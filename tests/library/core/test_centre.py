"""The constant's prior under a process has the targets' mean: where they have their zero is nobody's business."""

import numpy as np
import pytest

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood, OneAgainstRest, StudentT
from relevance_bayes.core.models.fitting import fit, pose
from relevance_bayes.core.models.prediction import predict
from tests.library.core.drawn import process_spec, sinc, spec_for


@pytest.mark.parametrize("likelihood", [GaussianNoise(), StudentT()], ids=["gaussian", "student t"])
def test_a_number_added_to_all_targets_is_added_to_all_responses(likelihood: Likelihood) -> None:
    X, t = sinc(60, 1)
    spec = process_spec(likelihood, inputs=True)
    near, far = fit(X, t, spec), fit(X, t + 4096.0, spec)
    new = np.linspace(-15.0, 15.0, 40)[:, None]
    here, there = predict(near, new), predict(far, new)
    np.testing.assert_allclose(there.mean - 4096.0, here.mean, atol=1e-4)  # type: ignore[union-attr]
    np.testing.assert_allclose(there.variance, here.variance, rtol=1e-3)  # type: ignore[union-attr]
    kernels = [one for model in (near, far) for one in model.functions if isinstance(one, KernelFunctions)]
    assert kernels[0].size == kernels[1].size
    assert near.evidence.value == pytest.approx(far.evidence.value, abs=1e-3)


def test_each_class_has_its_share_of_rows_as_centre() -> None:
    X, t = sinc(90, 2)
    classes = np.digitize(t, [0.0, 0.5]).astype(np.float64)
    problem = pose(X, classes, process_spec(OneAgainstRest(3)))
    np.testing.assert_allclose(problem.centre, np.bincount(classes.astype(int)) / 90.0)
    np.testing.assert_allclose(problem.t.mean(axis=0), 0.0, atol=1e-12)


def test_independent_weights_have_no_centre_as_in_the_papers() -> None:
    X, t = sinc(30, 0)
    problem = pose(X, t + 5.0, spec_for(GaussianNoise()))
    assert problem.centre == 0.0
    np.testing.assert_array_equal(problem.t, t + 5.0)


@pytest.mark.parametrize("likelihood", [GaussianNoise(), OneAgainstRest(3)], ids=["numbers", "classes"])
def test_the_rows_drawn_depend_on_no_order_also_where_the_targets_are_centred(likelihood: Likelihood) -> None:
    X, t = sinc(301, 3)
    t = t * 1e3 / 7.0 + 0.1 if isinstance(likelihood, GaussianNoise) else np.digitize(t, [0.0, 0.5]).astype(np.float64)
    spec = process_spec(likelihood)
    drawn = {tuple(X[pose(X, t, spec).sample(40).numbers, 0])}
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(301)
        moved = X[order]
        drawn.add(tuple(sorted(moved[pose(moved, t[order], spec).sample(40).numbers, 0])))
    assert len(drawn) == 1


def test_the_centre_of_rows_of_known_noise_depends_on_no_order() -> None:
    X, t = sinc(301, 4)
    sd = np.random.default_rng(0).uniform(0.1, 2.0, 301)
    spec = process_spec(GaussianNoise("rows"))
    centre = pose(X, t, spec, noise_sd=sd).centre
    assert float(centre) == pytest.approx(np.average(t, weights=sd**-2), rel=1e-12)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(301)
        assert pose(X[order], t[order], spec, noise_sd=sd[order]).centre == centre
