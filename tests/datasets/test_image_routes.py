"""Images of datasets over HTTP."""

import io

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from relevance_bayes.core.types import Array
from tests.applications import DATASET
from tests.problems import assert_problem


def uploaded(client: TestClient, pixels: Array, *, as_png: bool) -> str:
    """Return the path of the image of a new dataset."""
    sink = io.BytesIO()
    if as_png:
        Image.fromarray(np.round(255.0 * pixels).astype(np.uint8)).save(sink, "PNG")
    else:
        np.save(sink, pixels)
    kind = "image/png" if as_png else "application/x-npy"
    response = client.post("/v1/datasets?name=spot", content=sink.getvalue(), headers={"Content-Type": kind})
    assert response.status_code == 201, response.text
    return f"/v1/datasets/{response.json()['id']}/image"


def shades(content: bytes) -> list[list[int]]:
    """Return the 8 bits of each pixel of a PNG."""
    with Image.open(io.BytesIO(content)) as image:
        found: list[list[int]] = np.asarray(image).tolist()
    return found


def test_a_png_is_returned_as_it_was_uploaded_and_as_numbers(client: TestClient) -> None:
    path = uploaded(client, np.array([[0.0, 0.2, 0.4], [0.6, 0.8, 1.0]]), as_png=True)
    drawn = client.get(path)
    assert (drawn.status_code, drawn.headers["Content-Type"]) == (200, "image/png")
    assert shades(drawn.content) == [[0, 51, 102], [153, 204, 255]]
    exact = client.get(path, headers={"Accept": "application/x-npy"})
    assert exact.headers["Content-Type"] == "application/x-npy"
    np.testing.assert_allclose(np.load(io.BytesIO(exact.content)), [[0.0, 0.2, 0.4], [0.6, 0.8, 1.0]], rtol=1e-15)


def test_an_array_is_drawn_over_its_own_range_and_returned_exactly(client: TestClient) -> None:
    pixels = np.array([[-3.0, 7.0], [2.0, -3.0]])
    path = uploaded(client, pixels, as_png=False)
    assert shades(client.get(path).content) == [[0, 255], [128, 0]]
    np.testing.assert_array_equal(
        np.load(io.BytesIO(client.get(path, headers={"Accept": "application/x-npy"}).content)), pixels
    )


@pytest.mark.parametrize(
    ("pixels", "expected"),
    [([[-1.7e308, 0.0, 1.7e308]], [[0, 128, 255]]), ([[5.0, 5.0]], [[0, 0]])],
    ids=["the greatest", "constant"],
)
def test_any_intensities_can_be_drawn(client: TestClient, pixels: list[list[float]], expected: list[list[int]]) -> None:
    path = uploaded(client, np.array(pixels), as_png=False)
    assert shades(client.get(path).content) == expected


def test_an_image_has_an_entity_tag_for_each_media_type(client: TestClient) -> None:
    path = uploaded(client, np.array([[0.0, 1.0]]), as_png=True)
    first, other = (client.get(path, headers={"Accept": kind}) for kind in ("image/png", "application/x-npy"))
    assert first.headers["ETag"] != other.headers["ETag"]
    assert "Accept" in first.headers["Vary"].split(", ")
    assert first.headers["Cache-Control"] == "private, max-age=86400, immutable"
    again = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_what_is_no_image_is_a_problem(client: TestClient) -> None:
    table, missing = f"/v1/datasets/{DATASET.id}/image", "/v1/datasets/01900000-0000-7000-8000-000000000009/image"
    assert_problem(client.get(table), "not-found", f"Dataset {DATASET.id} is a table: it has no image.")
    assert_problem(client.get(missing), "not-found", "There is no dataset 01900000-0000-7000-8000-000000000009.")
    detail = "Expected image/png or application/x-npy in the Accept header, got neither."
    assert_problem(client.get(table, headers={"Accept": "image/jpeg"}), "not-acceptable", detail)
