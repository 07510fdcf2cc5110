import json
from collections.abc import Callable
from math import pi

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.neighbors import KernelDensity
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from relevance_bayes.client import ClientError
from relevance_bayes.client.expansions import GaussianExpansion, expansion_of
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.types import Array

rng = np.random.default_rng(0)
X = rng.normal(3.0, [1.0, 20.0, 0.3], (60, 3))
"""Inputs of different size, away from 0."""

NEW = np.vstack([X[:10], rng.normal(3.0, [1.5, 30.0, 0.5], (40, 3))])
y = 100.0 + np.sin(X[:, 0]) * X[:, 1]
CLASSES = np.where(y > 100.0, "high", "low")
EXACT = 1e-9


def of_process(kernel: object, *, targets: Array = y, normalised: bool = True) -> GaussianProcessRegressor:
    """With its hyperparameters left as they are."""
    return GaussianProcessRegressor(kernel, alpha=1e-3, optimizer=None, normalize_y=normalised).fit(X, targets)


def value(reported: GaussianExpansion, at: Array) -> Array:
    """By its definition, and by the width that the API's kernels have."""
    r = np.asarray(reported.width)
    return np.asarray(reported.constant + Gaussian()(at / r, reported.centres / r) @ reported.weights)


MACHINES = {
    "SVR": SVR(C=30.0).fit(X, y),
    "SVR, gamma auto": SVR(C=30.0, gamma="auto").fit(X, y),
    "SVR, gamma given": SVR(C=30.0, gamma=0.02, epsilon=0.5).fit(X, y),
    "NuSVR": NuSVR(C=30.0).fit(X, y),
}

CLASSIFIERS = {
    "SVC": SVC(C=3.0).fit(X, CLASSES),
    "SVC of weighted classes": SVC(gamma=0.5, class_weight="balanced").fit(X, CLASSES),
    "NuSVC": NuSVC(nu=0.3).fit(X, CLASSES),
    "OneClassSVM": OneClassSVM(nu=0.2).fit(X),
}

PROCESSES = {
    "RBF alone": of_process(RBF(2.0)),
    "a width for each input, noise": of_process(4.0 * RBF([1.0, 30.0, 0.7]) + WhiteKernel(0.1)),
    "not normalised": of_process(RBF(5.0) * ConstantKernel(9.0), normalised=False),
    "a constant beside": of_process(ConstantKernel(2.0) * (RBF(9.0) + ConstantKernel(0.5)) + WhiteKernel(0.1)),
    "two of one length": of_process(RBF(3.0) + 0.5 * RBF(3.0)),
    "one column of targets": of_process(RBF(2.0), targets=y[:, None]),
}

DENSITIES = {
    "bandwidth given": KernelDensity(bandwidth=0.7).fit(X[:, :2]),
    "bandwidth by Scott's rule": KernelDensity(bandwidth="scott").fit(X[:, :1]),
    "weighted rows": KernelDensity(bandwidth=2.0, algorithm="ball_tree").fit(X, sample_weight=np.arange(1.0, 61.0)),
}


@pytest.mark.parametrize("name", MACHINES)
def test_a_support_vector_regression_is_its_prediction(name: str) -> None:
    machine = MACHINES[name]
    reported = expansion_of(machine)
    np.testing.assert_allclose(value(reported, NEW), machine.predict(NEW), rtol=EXACT)
    assert len(reported.weights) == len(machine.support_)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_two_classes_are_their_decision_function(name: str) -> None:
    machine = CLASSIFIERS[name]
    np.testing.assert_allclose(
        value(expansion_of(machine), NEW), machine.decision_function(NEW), rtol=EXACT, atol=EXACT
    )


@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_is_its_mean(name: str) -> None:
    process = PROCESSES[name]
    expected = np.ravel(process.predict(NEW))
    np.testing.assert_allclose(value(expansion_of(process), NEW), expected, rtol=EXACT)


@pytest.mark.parametrize("name", DENSITIES)
def test_a_density_is_that_of_its_samples(name: str) -> None:
    density = DENSITIES[name]
    at = NEW[:, : density.n_features_in_]
    reported = expansion_of(density)
    np.testing.assert_allclose(value(reported, at), np.exp(density.score_samples(at)), rtol=EXACT)
    assert isinstance(reported.width, float)
    assert float(reported.weights.sum()) * (pi * reported.width**2) ** (at.shape[1] / 2) == pytest.approx(1.0)


def test_inputs_have_the_names_that_were_learned_from() -> None:
    assert expansion_of(MACHINES["SVR"]).inputs == ("x1", "x2", "x3")
    named = SVR().fit(X, y)
    named.feature_names_in_ = np.array(["age", "income", "share"], dtype=object)  # as fitting a table leaves them
    assert expansion_of(named).inputs == ("age", "income", "share")


@pytest.mark.parametrize(
    "estimator", [MACHINES["SVR"], PROCESSES["a width for each input, noise"]], ids=["one", "each"]
)
def test_as_a_table_and_what_is_stated_of_it_it_is_the_same_function(estimator: object) -> None:
    reported = expansion_of(estimator)
    columns, requested = json.loads(json.dumps(reported.columns)), json.loads(json.dumps(reported.requested))
    assert requested["inputs"] == ["x1", "x2", "x3"]
    width = requested["width"] if isinstance(requested["width"], float) else tuple(requested["width"])
    centres = np.array([columns[name] for name in requested["inputs"]]).T
    weights = np.array(columns[requested["coefficients"]])
    again = GaussianExpansion(width, centres, weights, requested["constant"], tuple(requested["inputs"]))
    np.testing.assert_array_equal(value(again, NEW), value(reported, NEW))


SEVERAL = np.digitize(y, np.quantile(y, [0.3, 0.6]))

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "another kernel": (lambda: SVR(kernel="poly").fit(X, y), "kernel='poly'"),
    "precomputed": (lambda: SVC(kernel="precomputed").fit(np.eye(60), CLASSES), "kernel='precomputed'"),
    "a kernel that is a function": (lambda: SVR(kernel=lambda a, b: a @ b.T).fit(X, y), "function"),
    "three classes": (lambda: SVC().fit(X, SEVERAL), "3 classes"),
    "not fitted": (SVR, "SVR, which is another estimator or not fitted"),
    "a forest": (lambda: RandomForestRegressor(2).fit(X, y), "RandomForestRegressor"),
    "classes of a process": (lambda: GaussianProcessClassifier().fit(X, CLASSES), "GaussianProcessClassifier"),
    "two targets": (lambda: of_process(RBF(2.0), targets=np.column_stack([y, y])), "2 targets"),
    "a process's other kernel": (lambda: of_process(Matern(2.0)), "the kernel Matern"),
    "a power": (lambda: of_process(RBF(2.0) ** 2), "the kernel Exponentiation"),
    "no RBF": (lambda: of_process(ConstantKernel(2.0) + WhiteKernel()), "no RBF"),
    "two lengths": (lambda: of_process(RBF(2.0) + RBF(3.0)), "one width"),
    "a product of two": (lambda: of_process(RBF(2.0) * RBF(3.0)), "product of two"),
    "a density's other kernel": (lambda: KernelDensity(kernel="tophat").fit(X), "kernel='tophat'"),
    "a density's other metric": (lambda: KernelDensity(metric="manhattan").fit(X), "metric='manhattan'"),
    "a density too high": (lambda: KernelDensity(bandwidth=1e-3).fit(np.zeros((3, 200))), "200 inputs"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_sum_of_gaussians_is_refused_and_why(name: str) -> None:
    make, why = REFUSED[name]
    with pytest.raises(ClientError, match=why):
        expansion_of(make())
