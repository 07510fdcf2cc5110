"""Codes of images: what a request becomes, and all that can be wrong with it."""

from dataclasses import replace

import numpy as np
import pytest

from app.datasets.records import Dataset
from relevance_bayes.core.types import Array
from relevance_bayes.records.datasets import Image
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tasks.images.request import MAX_PIXELS, ImageRequest
from relevance_bayes.tasks.union import plan
from tests.small_tables import dataset_of


def of_pixels(pixels: Array) -> Dataset:
    """The image as a dataset."""
    row, column = np.indices(pixels.shape, np.float64)
    cells: dict[str, Array] = {"row": np.array(row), "column": np.array(column), "intensity": pixels}
    block: Block = {name: NumberArray(values.ravel()) for name, values in cells.items()}
    return replace(dataset_of(block), image=Image(*pixels.shape))


IMAGE = of_pixels(np.linspace(0.0, 1.0, 80).reshape(10, 8))
REQUEST = ImageRequest(IMAGE.id)


def fault(request: ImageRequest, dataset: Dataset = IMAGE) -> tuple[str | None, str]:
    with pytest.raises(InvalidRequestError) as refused:
        plan(request, dataset)
    [found] = refused.value.faults
    return found.pointer, found.detail


def test_the_peak_is_one_where_intensities_are_shares_and_else_their_range() -> None:
    made = plan(replace(REQUEST, psnr=20.0), IMAGE)
    assert (made.height, made.width, made.peak, made.target) == (10, 8, 1.0, "intensity")
    assert [column.name for column in made.inputs] == ["row", "column"]
    assert made.error == pytest.approx(0.1)
    wider = plan(replace(REQUEST, psnr=40.0), of_pixels(np.linspace(-50.0, 150.0, 80).reshape(10, 8)))
    assert wider.peak == 200.0
    assert wider.error == pytest.approx(2.0)
    assert plan(REQUEST, IMAGE).error is None


@pytest.mark.parametrize(
    ("request_", "pointer", "words"),
    [
        (replace(REQUEST, max_functions=0), "/functions", "got 0"),
        (replace(REQUEST, max_functions=81), "/functions", "one a pixel"),
        (replace(REQUEST, psnr=0.0), "/psnr", "above 0"),
        (replace(REQUEST, psnr=float("nan")), "/psnr", "at most 100 dB"),
        (replace(REQUEST, noise_sd=-1.0), "/noise_sd", "of the image's, got -1"),
        (replace(REQUEST, noise_sd=float("inf")), "/noise_sd", "got inf"),
        (replace(REQUEST, noise_sd=1e-300), "/noise_sd", "got 1e-300"),
        (replace(REQUEST, noise_sd=1e300), "/noise_sd", "got 1e+300"),
        (replace(REQUEST, model="An image"), "/model", "lower-case"),
    ],
)
def test_what_is_wrong_is_reported_where_it_is(request_: ImageRequest, pointer: str, words: str) -> None:
    found, detail = fault(request_)
    assert found == pointer
    assert words in detail


def test_what_is_no_image_or_not_to_be_distinguished_is_refused() -> None:
    assert "got a table" in fault(REQUEST, replace(IMAGE, image=None))[1]
    assert "another unit" in fault(REQUEST, of_pixels(1e100 * np.eye(9)))[1]
    assert "another unit" in fault(REQUEST, of_pixels(1e-100 * np.eye(9)))[1]
    assert "several intensities" in fault(REQUEST, of_pixels(np.full((9, 9), 0.5)))[1]
    assert "at least 8 x 8 pixels, got 7 x 30" in fault(REQUEST, of_pixels(np.eye(7, 30)))[1]
    assert f"at most {MAX_PIXELS:,} pixels" in fault(REQUEST, replace(IMAGE, image=Image(2000, 2000)))[1]
