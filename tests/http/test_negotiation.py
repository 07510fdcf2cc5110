"""The response's media type, by the Accept header."""

import pytest
from starlette.exceptions import HTTPException

from app.http.negotiation import accepts, image_media_type


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "image/png"),
        ("", "image/png"),
        ("*/*", "image/png"),
        ("image/*", "image/png"),
        ("application/x-npy", "application/x-npy"),
        ("application/*", "application/x-npy"),
        ("image/png;q=0, */*", "application/x-npy"),
        ("application/x-npy, image/png", "image/png"),
    ],
)
def test_an_image_goes_out_as_png_where_that_will_do(accept: str | None, media_type: str) -> None:
    assert image_media_type(accept) == media_type


def test_an_image_goes_out_as_nothing_else() -> None:
    with pytest.raises(HTTPException) as refused:
        image_media_type("application/json")
    assert refused.value.status_code == 406


def test_the_narrowest_offer_counts() -> None:
    assert not accepts("application/json;q=0, application/*", "application/json")
    assert accepts("application/*;q=0, application/json", "application/json")
