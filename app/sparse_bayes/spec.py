"""What to fit: one choice from each union, and the table of choices that go together."""

from dataclasses import dataclass

from app.sparse_bayes.algorithms import Algorithm, Sequential
from app.sparse_bayes.basis import Basis, Bias, KernelBasis
from app.sparse_bayes.likelihoods import Likelihood
from app.sparse_bayes.priors import Independent, Prior

__all__ = ["Algorithm", "Basis", "Likelihood", "Prior", "Spec"]


@dataclass(frozen=True)
class Spec:
    """One fit. `basis` are the dictionaries side by side; `seed` decides folds and subsets, together with the rows' content."""

    likelihood: Likelihood
    basis: tuple[Basis, ...] = (KernelBasis(), Bias())
    prior: Prior = Independent()
    algorithm: Algorithm = Sequential()
    seed: int = 0
