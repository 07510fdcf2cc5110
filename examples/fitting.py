"""A program that fits without a service, and moves a model through one: a regressor and a classifier."""

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.client import Client, connect
from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor


def fitted(X: NDArray[np.float64], y: NDArray[np.float64]) -> RelevanceRegressor:
    """Return a regressor of y (n,) on X (n, d)."""
    return RelevanceRegressor(effort="quick").fit(X, y)


def shared(client: Client, model: RelevanceRegressor, name: str) -> RelevanceRegressor:
    """Return a regressor after a way through a service, where it stays as the next version of a model."""
    model.push(client, name)
    return client.models[name].pull(of=RelevanceRegressor)


def main() -> None:
    """Fit both estimators to drawn rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (80, 2))
    y = np.sin(2.0 * X[:, 0]) + rng.normal(0.0, 0.1, 80)
    model = fitted(X, y)
    mean, sd = model.predict(X, return_std=True)
    print(float(mean[0]), float(sd[0]))
    with connect(":memory:") as client:
        print(np.array_equal(shared(client, model, "sines").predict(X), mean))
    classes = RelevanceClassifier(effort="quick").fit(X, y > 0.0)
    print(classes.predict_proba(X)[0].tolist())


if __name__ == "__main__":
    main()
