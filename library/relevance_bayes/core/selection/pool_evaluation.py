"""The evaluation of a pool's members and the alternatives to it by folds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.folds import Split
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.pooling.densities import Densities
from relevance_bayes.core.prediction import Measured
from relevance_bayes.core.selection.scoring import Compared, Validation, standard_error
from relevance_bayes.core.selection.varying_noise import noise_varies
from relevance_bayes.core.spec import Spec, is_heteroscedastic
from relevance_bayes.core.types import Array, Indices

PARTS = 5
"""Parts that the rows of a single fold are divided into, for weights from the other parts."""

MIN_STANDARD_ERRORS = 2.0
"""Standard errors of the paired differences by which the fold score of an alternative must be above the pool's, or that
of another one above its."""

MAX_RMSE_RATIO = 1.1
"""The root mean square error of the folds over the pool's up to which an alternative is taken. Under Gaussian noise of
log t, the mean exp(m + v/2) of an outlying row may be any multiple of its target at little loss of log density; such
rows are few, so that no test of paired differences detects them."""


@dataclass(frozen=True, eq=False)
class PoolEvaluation:
    """Predictions of n held-out rows of some folds.

    `splits` are (others, fold) pairs of rows, `rows` (n,) the folds one after the other, `t` (n,) their targets.
    `means` and `variances` (n, K) are of all members, NaN where a fit failed; `compared_models` (J, 6, n) are -log
    density, absolute error, coverage by the 95 % interval, and the outputs of `Measured`. `has_heteroscedastic`: models
    of noise that varies were evaluated.
    """

    splits: tuple[Split, ...]
    rows: Indices
    t: Array
    means: Array
    variances: Array
    compared_models: Array
    has_heteroscedastic: bool = False

    def noise_varies(self, X: Array) -> bool:
        """True where the residuals of the pool of all members have noise that varies with the inputs X (N, d)."""
        members = self.complete
        if not len(members):
            return False
        densities = self.densities.taken(members)
        mean, variance = densities.product(densities.best_weights(self.t))
        return noise_varies(X[self.rows], mean, (self.t - mean) / np.sqrt(variance))

    @property
    def heaviest(self) -> int:
        """The index of the member of the greatest weight."""
        members = self.complete
        return int(members[self.densities.taken(members).best_weights(self.t).argmax()])

    @property
    def complete(self) -> Indices:
        """The indices (L,) of the members that were fitted in each fold; none where no row was measured."""
        if not len(self.t):
            return np.zeros(0, np.intp)
        return np.flatnonzero(np.isfinite(self.means).all(axis=0) & np.isfinite(self.variances).all(axis=0))

    def only(self, members: Indices) -> "PoolEvaluation":
        """The evaluation of the members of these indices (L,)."""
        return replace(self, means=self.means[:, members], variances=self.variances[:, members])

    @property
    def densities(self) -> Densities:
        """The predictive densities of the members."""
        return Densities(self.means, self.variances)

    @property
    def measured(self) -> Measured:
        """Of the pool of all members, each part of the rows with weights from the other parts: the folds, or PARTS of
        one."""
        parts, stop = list[Measured](), 0
        sizes = [len(fold) for _, fold in self.splits]
        places = [np.arange(stop, stop := stop + size) for size in sizes]
        for here in places if len(places) > 1 else np.array_split(places[0], min(PARTS, len(self.t))):
            others = np.setdiff1d(np.arange(len(self.t)), here)
            weights = self.densities.rows(others).best_weights(self.t[others])
            mean, variance = self.densities.rows(here).product(weights)
            none = np.zeros(len(here))
            parts.append(Measured.of(RealPrediction(mean, variance, none, none), self.t[here]))
        return Measured.joined(parts)

    def alternative_validation(self, place: int) -> Validation:
        """The rows with the figures of an alternative."""
        return Validation.of(self._compared_model(place), self.rows)

    def _compared_model(self, place: int) -> Measured:
        nll, mae, inside, *outputs = self.compared_models[place]
        return Measured(self.t, {"mae": mae, "nll": nll, "coverage_95": inside}, np.array(outputs))

    @property
    def best_alternative(self) -> int | None:
        """The alternative whose score is clearly above the pool's at no more than MAX_RMSE_RATIO times its error, the
        best of several; None without."""
        computable = [
            place for place, found in enumerate(self.compared_models) if len(self.t) and np.isfinite(found).all()
        ]
        members = self.complete
        if not len(members):
            return min(computable, key=lambda place: float(self.compared_models[place, 0].mean()), default=None)
        if not computable:
            return None
        pool = self.only(members).measured
        max_rmse = MAX_RMSE_RATIO * pool.scores()["rmse"]
        precise = [place for place in computable if self._compared_model(place).scores()["rmse"] <= max_rmse]
        gains = {place: pool.each["nll"] - self.compared_models[place, 0] for place in precise}
        clear = [place for place, gain in gains.items() if gain.mean() > MIN_STANDARD_ERRORS * standard_error(gain)]
        return max(clear, key=lambda place: float(gains[place].mean()), default=None)

    @property
    def first_or_clearly_better(self) -> int:
        """The last of the compared models whose log density is clearly above that of those taken before, of which the
        first is one."""
        taken = 0
        for place, (nll, *_) in enumerate(self.compared_models):
            gain = self.compared_models[taken, 0] - nll
            if np.isfinite(nll).all() and not gain.mean() <= MIN_STANDARD_ERRORS * standard_error(gain):
                taken = place
        return taken

    def compared(
        self, specs: Sequence[Spec], compared_models: Sequence[Spec], taken: int | None = None
    ) -> tuple[Compared, ...]:
        """All evaluated models, except the alternative that was taken."""
        if not len(self.t):
            return ()
        of_members = self.densities.of_members(self.t).mean(axis=0)
        of_compared = -self.compared_models[:, 0].mean(axis=1)
        scores = [*zip(specs, of_members, strict=True), *zip(compared_models, of_compared, strict=True)]
        left_out = None if taken is None else len(specs) + taken
        return tuple(
            _compared(spec, float(score), has_heteroscedastic=self.has_heteroscedastic)
            for place, (spec, score) in enumerate(scores)
            if place != left_out
        )


def _compared(spec: Spec, score: float, *, has_heteroscedastic: bool) -> Compared:
    if np.isfinite(score):
        return Compared(spec, score)
    if is_heteroscedastic(spec.likelihood) and not has_heteroscedastic:
        return Compared(spec, None, "no noise that depends on the inputs shows in the residuals of the folds")
    return Compared(spec, None, "could not be fitted to each fold", computable=False)
