"""K classes, each with a model of its own against all others."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from relevance_bayes.core.likelihoods.base import ClassPrediction, LatentGaussian, Targets, predicted
from relevance_bayes.core.likelihoods.bernoulli import Bernoulli, sigmoid_integral
from relevance_bayes.core.likelihoods.categorical import check_classes
from relevance_bayes.core.likelihoods.temperature import TINY, Temperature, tempered
from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array, ForRows


@dataclass(frozen=True)
class BernoulliPerClass:
    """p(t = k) = p_k / sum_j p_j at temperature 1, p_k = E sigma(f_k) of the Bernoulli model of class k against all
    others, whose functions, scales and weights are its own [RASMUSSEN2006, section 6.5].

    `classes` is K, 3 at least, inferred from the target by default; `temperature` that of the probabilities: see
    `tempered`. The likelihood of the whole: each of the models has `member`.
    """

    __pydantic_config__ = {"extra": "forbid"}

    classes: int | None = None
    temperature: Temperature = "learned"
    type: Literal["bernoulli_per_class"] = "bernoulli_per_class"

    targets: ClassVar[Targets] = "class"
    noise_by_row: ClassVar[bool] = False
    is_conjugate: ClassVar[bool] = False
    has_target_units: ClassVar[bool] = False
    min_gain: ClassVar[float] = Bernoulli.min_gain
    member: ClassVar[Bernoulli] = Bernoulli()

    @property
    def latents(self) -> int:
        """K."""
        return self.classes or 2

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) are numbers of classes, OneClassError unless there are two at least."""
        check_classes(t, self.latents)

    def start(self, t: Array) -> tuple[float, float]:
        """There is no noise to learn."""
        return self.member.start(t)

    def noise(self, beta: ForRows) -> None:
        """There is none."""

    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """Each sigmoid integrated over the Gaussian of its latent, and normalised: mean and variance (N, K)."""
        alone = xp.maximum(sigmoid_integral(xp, mean, variance), TINY)
        return tempered(xp, alone / xp.sum(alone, axis=1, keepdims=True), self.temperature)

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> ClassPrediction:
        """The probabilities at `latent` (N, K), variances too."""
        return predicted(self, latent, noise_sd)
