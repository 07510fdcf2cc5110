"""An image is decoded from all of its functions, or from those with the largest weights."""

from dataclasses import replace

import numpy as np

from relevance_bayes.core.dictionaries import GaborFunctions
from relevance_bayes.tasks.images.report import ImageModel
from tests.small_image import version_of_an_image


def test_an_image_of_fewer_functions_has_the_constant_and_the_largest_weights() -> None:
    predictor = version_of_an_image().predictor
    centres = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 2.0]])
    three = GaborFunctions(centres, np.full(3, 2.0), np.zeros((3, 2)), np.zeros(3))
    weights = np.array([0.5, -2.0, 1.0])
    code = replace(predictor.code, wavelets=three, weights=weights, sds=np.ones(3), alpha=np.ones(3))
    model = ImageModel(replace(predictor, code=code), peak=1.0)
    pixels = np.array([[row, column] for row in range(2) for column in range(3)], float)
    each = three(pixels, np.arange(3))
    for functions, kept in ((1, []), (2, [1]), (3, [1, 2]), (4, [0, 1, 2]), (9, [0, 1, 2])):
        expected = code.constant + each[:, kept] @ weights[kept]
        np.testing.assert_allclose(model.image(functions).ravel(), expected, atol=1e-12)
    np.testing.assert_array_equal(model.image(), model.image(4))
