"""The evidence of a fixed basis while its widths move, and its gradient in the widths."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.evidence import Evidence, evidence
from relevance_bayes.core.factors import without_candidates
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.scales import InputMap
from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class FixedBasis:
    """The `kernels` whose widths move, on their rows, beside columns F (N, F) that stay as they are.

    Columns stand as P = [E F], (N, R); `problem` has likelihood and targets, its candidates are not used.
    """

    problem: Problem
    kernels: KernelFunctions
    F: Array

    def evidence(self, widths: Array, alpha: Array, beta: float, start: Array) -> tuple[Evidence, Array]:
        """L at widths (k,), alpha (R,) and beta, the mode looked for from `start` (R,), and dL/dlog widths (k,).

        D = dL/dE goes through the kernel to the places of rows and centres, which move with the widths alike: for the
        Gaussian kernel -sum_nm D_nm E_nm (x_nk - z_mk)^2 in 1/width_k^2 [TIPPING2001, appendix C].
        """
        kernel, X, centres = self.kernels.kernel, self.problem.X, self.kernels.centres
        input_map = InputMap(widths)
        U, Z = input_map(X), input_map(centres)
        factors = without_candidates(self.problem, np.hstack([kernel(U, Z), self.F]), start)
        found = evidence(factors, alpha, beta, start)
        D = factors.pull(found.posterior, beta)[:, : len(Z)]
        dU, dZ = kernel.pull(U, Z, D)
        return found, input_map.pull(X, dU).log_widths + input_map.pull(centres, dZ).log_widths
