"""Models of scikit-learn that are sums of Gaussians, and the few functions that stand for them."""
