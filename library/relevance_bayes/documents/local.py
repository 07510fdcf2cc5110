"""Nearest-neighbour processes from their documents."""

import numpy as np

from relevance_bayes.core.basis import evaluate
from relevance_bayes.core.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.local.choice import KERNELS, LocalKernel
from relevance_bayes.core.local.prediction import LocalProcess
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import Model
from relevance_bayes.core.process import Rows
from relevance_bayes.core.types import Array
from relevance_bayes.documents.functions import functions_of
from relevance_bayes.documents.learned_schema import LocalPart
from relevance_bayes.documents.sizes import matrix, vector, wrong

WHERE = "/model"


def local_model_of(part: LocalPart, inputs: int, trend: Model | None) -> LocalModel:
    """Return the process of rows with so many inputs; raises InvalidRequestError."""
    if len(part.widths) != inputs:
        raise wrong(f"{WHERE}/widths", f"Expected a width for each of {inputs} inputs; got {len(part.widths)}.")
    functions = tuple(
        functions_of(one, inputs, f"{WHERE}/functions/{place}") for place, one in enumerate(part.functions)
    )
    input_map = InputMap(
        np.asarray(part.widths, np.float64),
        None if part.skew is None else vector(part.skew, inputs, f"{WHERE}/skew"),
        None if part.tail is None else vector(part.tail, inputs, f"{WHERE}/tail"),
    )
    alpha = vector(part.alpha, sum(one.size for one in functions), f"{WHERE}/alpha")
    places, targets = _rows(part, inputs)
    process = LocalProcess(
        _kernel(part.kernel),
        Hyperparameters(part.noise_sd**-2, part.signal_variance, alpha, input_map),
        Rows(places, targets, evaluate(functions, places)),
        functions,
        part.neighbours,
        part.centre,
    )
    return LocalModel(process, part.likelihood, trend)


def _kernel(kernel: Kernel) -> LocalKernel:
    if not isinstance(kernel, LocalKernel):
        expected = ", ".join(one.type for one in KERNELS)
        raise wrong(f"{WHERE}/kernel", f"Expected one of {expected}; got {kernel.type}.")
    return kernel


def _rows(part: LocalPart, inputs: int) -> tuple[Array, Array]:
    """Return X (N, d) and t (N,), from all blocks."""
    if not sum(len(block.targets) for block in part.rows):
        raise wrong(f"{WHERE}/rows", "Expected at least one row to predict from.")
    places, targets = list[Array](), list[Array]()
    for number, block in enumerate(part.rows):
        where, size = f"{WHERE}/rows/{number}", len(block.targets)
        places.append(matrix(block.inputs, (size, inputs), f"{where}/inputs"))
        targets.append(vector(block.targets, size, f"{where}/targets"))
    return np.concatenate(places), np.concatenate(targets)
