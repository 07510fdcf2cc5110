"""Images and signals as codes of few functions, and back, on both databases."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from relevance_bayes.client import ClientError
from relevance_bayes.client.encodings import EncodeOptions, decode, encode
from relevance_bayes.client.responses import ImageVersion, Json, SupervisedVersion
from relevance_bayes.core.types import Array
from tests.end_to_end.deployment import Api


def blobs() -> Array:
    """A bright blob and a striped one on grey, 24 x 32, between 0 and 1."""
    row, column = np.indices((24, 32), np.float64)
    bright = np.exp(-((row - 8.0) ** 2 + (column - 8.0) ** 2) / 20.0)
    striped = np.exp(-((row - 14.0) ** 2 + (column - 22.0) ** 2) / 30.0) * np.cos(column)
    return np.asarray(0.4 + 0.4 * bright + 0.2 * striped)


def test_an_image_goes_in_as_png_and_comes_out_by_few_functions(api: Api, tmp_path: Path) -> None:
    file = tmp_path / "blobs.png"
    Image.fromarray(np.round(255.0 * blobs()).astype(np.uint8)).save(file)
    version = encode(api.calls, file, model="blobs", options=EncodeOptions(psnr=35.0))
    assert isinstance(version, ImageVersion)
    assert (version.task, version.height, version.width, version.rows, version.peak) == ("image", 24, 32, 768, 1.0)
    assert version.psnr is not None
    assert version.psnr >= 35.0
    assert version.functions < 60
    assert version.path[-1].functions == version.functions
    assert version.path[-1].error == pytest.approx(version.error)
    made = decode(api.calls, "blobs")
    original = np.round(255.0 * blobs()) / 255.0
    stored = np.load(io.BytesIO(api.calls.dataset_image(version.dataset.id)), allow_pickle=False)
    np.testing.assert_array_equal(stored, original)
    assert np.sqrt(np.mean((made - original) ** 2)) == pytest.approx(version.error, rel=1e-6)
    with Image.open(io.BytesIO(api.calls.image("blobs", 1, media_type="image/png"))) as shown:
        np.testing.assert_allclose(np.asarray(shown, np.float64) / 255.0, np.clip(made, 0.0, 1.0), atol=0.51 / 255.0)
    # At places, also between pixels, it is the sum of the functions that the version lists.
    places: dict[str, Json] = {"row": [0.0, 8.0, 14.5], "column": [0.0, 8.0, 22.25]}
    responses = api.calls.predict("blobs", {"columns": places}).predictions
    assert responses[1].value == pytest.approx(made[8, 8], abs=1e-9)
    vectors = list(api.calls.relevance_vectors("blobs", 1))
    assert len(vectors) == version.functions
    assert {vector.kind for vector in vectors} == {"bias", "wavelet"}
    for vector in vectors:
        assert vector.weight_sd > 0.0
        assert vector.gamma == pytest.approx(1.0 - vector.alpha * vector.weight_sd**2)
        assert 0.0 <= vector.gamma <= 1.0


def test_an_array_has_a_peak_of_its_own_and_as_many_functions_as_are_requested(api: Api) -> None:
    image = 100.0 + 50.0 * blobs()
    version = encode(api.calls, image, model="array", options=EncodeOptions(max_functions=5))
    assert isinstance(version, ImageVersion)
    assert version.functions == 5
    assert version.peak == pytest.approx(np.ptp(image))
    assert np.sqrt(np.mean((decode(api.calls, "array") - image) ** 2)) == pytest.approx(version.error, rel=1e-6)


def test_noise_is_left_out_where_nothing_is_requested(api: Api) -> None:
    truth = blobs()
    noisy = truth + 0.05 * np.random.default_rng(5).normal(size=truth.shape)
    version = encode(api.calls, noisy, model="noisy")
    assert isinstance(version, ImageVersion)
    assert version.noise_sd == pytest.approx(0.05, rel=0.25)
    assert np.sqrt(np.mean((decode(api.calls, "noisy") - truth) ** 2)) < 0.025


def test_a_signal_is_represented_by_functions_that_jump_or_ring(api: Api) -> None:
    truth = np.repeat([0.0, 2.0, -1.0, 0.5], 32)
    signal = truth + 0.1 * np.random.default_rng(2).normal(size=128)
    version = encode(api.calls, signal, model="levels", options=EncodeOptions(noise_sd=0.1))
    assert isinstance(version, SupervisedVersion)
    assert version.functions <= 8
    assert np.sqrt(np.mean((decode(api.calls, "levels") - truth) ** 2)) < 0.05


def test_what_is_no_image_is_refused_where_it_is(api: Api) -> None:
    table = api.calls.create_dataset({"x": [0.0, 1.0]}, name="a-table")
    with pytest.raises(ClientError) as refused:
        api.calls.trainings.submit({"task": "image", "dataset_id": table.id})
    assert (refused.value.problem.status, refused.value.problem.errors[0].pointer) == (422, "/dataset_id")
    with pytest.raises(ClientError) as grey:
        encode(api.calls, np.ones((9, 9)), model="grey")
    assert "several intensities" in grey.value.problem.detail
    with pytest.raises(ClientError) as small:
        encode(api.calls, np.eye(7), model="small")
    assert "at least 8 x 8" in small.value.problem.detail
    with pytest.raises(ClientError) as cubic:
        encode(api.calls, np.ones((3, 3, 3)), model="cubic")
    assert cubic.value.problem.status == 422
    api.train(
        dataset_id=api.calls.create_dataset({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 0.5]}, name="line").id, target="y"
    )
    with pytest.raises(ClientError) as none:
        api.calls.image("line", 1)
    assert none.value.problem.status == 404
    with pytest.raises(ClientError):
        decode(api.calls, "line")
