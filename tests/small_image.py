"""A small image's code for tests, made by hand: a constant and one wavelet."""

import numpy as np

from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.core.dictionaries import GaborFunctions
from relevance_bayes.records.values import InputColumn
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.images.code import ImageCode
from relevance_bayes.tasks.images.report import ImagePredictor, ImageReport
from relevance_bayes.tasks.images.request import ImagePlan
from relevance_bayes.tasks.images.training import NewImageVersion
from relevance_bayes.tasks.listing import Learned
from tests.small_tables import DATASET_ID


def version_of_an_image(*, name: str = "spot") -> NewImageVersion:
    """Two lines of three pixels."""
    wavelet = GaborFunctions(np.array([[0.0, 1.0]]), np.array([2.0]), np.zeros((1, 2)), np.zeros(1))
    one = np.ones(1)
    code = ImageCode(
        2, 3, 0.25, wavelet, 0.5 * one, 0.1 * one, one, 0.01, 0.02, 10, ((1, 0.2), (2, 0.01)), Termination.CONVERGED
    )
    plan = ImagePlan(
        ignored=(),
        model=name,
        inputs=(InputColumn("row", "number"), InputColumn("column", "number")),
        target="intensity",
        height=2,
        width=3,
        peak=1.0,
        max_functions=2,
        psnr=None,
        noise_sd=None,
    )
    report = ImageReport(
        plan=plan,
        functions=2,
        candidates=10,
        rows=6,
        error=0.01,
        psnr=40.0,
        noise_sd=0.02,
        path=(),
        termination="converged",
        dataset_id=DATASET_ID,
        dataset_digest="ab" * 32,
        seconds=0.1,
        software_version="0.1.0",
    )
    return Learned(report, (), ImagePredictor(InputEncoding.plain(["row", "column"]), code))
