"""Predictions of classes in generated files: the likelihood's probabilities, traced."""

from app.exports.python_file.formulas import called
from app.exports.python_file.writing import Program
from relevance_bayes.core.likelihoods.base import PredictsClasses
from relevance_bayes.core.tracing import TRACING, Traced


def class_members(program: Program, likelihood: PredictsClasses, mean: str, variance: str) -> str:
    """Return the expression of probabilities and latents: `mean` and `variance` are of (N,) or (N, K) latents."""
    m, v, n = (Traced("parameter") for _ in range(3))
    parameters = {
        m: ("m", f"columns_of({mean})"),
        v: ("v", f"columns_of({variance})"),
        n: ("n", "columns_of(noise_sd**2)"),
    }
    formula = likelihood.probabilities(TRACING, m, v, n)
    probabilities = called(program, "probabilities", "Return class probabilities, (N, K).", [formula], parameters)
    members = {"probabilities": probabilities, "latent_mean": mean, "latent_variance": variance}
    return "{\n" + "".join(f'        "{name}": {value},\n' for name, value in members.items()) + "    }"
