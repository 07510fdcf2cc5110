"""The defaults of classification: the likelihood, and the processes among which folds select."""

from dataclasses import replace

from relevance_bayes.core.algorithms import Greedy
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels import CityBlock, Matern32
from relevance_bayes.core.likelihoods import ClassLikelihood
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.scales import EvidencePerInputWidth, EvidenceWidth
from relevance_bayes.core.spec import Spec
from relevance_bayes.plans.requests import AutomaticPrior, KernelChoice, SupervisedRequest

SHRINKAGE = 1.0
"""The precision of the hyperprior that shrinks the log widths of several inputs to a common one.

Free widths overfit few rows of many inputs: log loss of one table .61, with one width .38, with such ones .35; .39
where the precision is 4, .48 where it is 1/4.
"""


def class_alternatives(request: SupervisedRequest, spec: Spec, *, inputs: int) -> tuple[Spec, ...]:
    """Return the processes among which folds select where the choices between them are left open; else none.

    A Gaussian kernel with one width; with a width for each input; and a city-block kernel with the same, which has
    corners and steps along the axes, as trees do. A requested kernel leaves those with it, `quick` the first.
    """
    requested = KernelChoice() if request.basis is None else request.basis
    if not isinstance(request.prior, AutomaticPrior | None) or not isinstance(request.algorithm, Greedy | None):
        return ()
    if not isinstance(spec.prior, GaussianProcess) or not isinstance(spec.likelihood, ClassLikelihood):
        return ()
    if not isinstance(requested, KernelChoice) or requested.width is not None or requested.additive != "none":
        return ()
    each, warp = EvidencePerInputWidth(SHRINKAGE), requested.warp or "none"
    kernels = [KernelBasis(requested.kernel, EvidenceWidth(), warp)]
    if request.effort != "quick":
        kernels += [KernelBasis(requested.kernel, each, warp)] if inputs > 1 else []
        kernels += [KernelBasis(CityBlock(), each)] if request.basis is None else []
    if request.effort == "thorough":
        kernels += [KernelBasis(Matern32(), each)] if request.basis is None and inputs > 1 else []
    return tuple(replace(spec, basis=(kernel, Bias())) for kernel in kernels)
