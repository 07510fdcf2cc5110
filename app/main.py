"""The API as an ASGI server starts it: `uvicorn --factory app.main:create_app`."""

from fastapi import FastAPI

from app.api.application import make_application
from app.api.dependencies import Limits
from app.bootstrap import Parts, build
from app.settings import Settings


class ExposedWithoutKey(RuntimeError):
    """The settings would open the API to the network with nobody asked who they are."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"Refusing to listen on {host} without an API key: set RELEVANCE_API_KEY (or RELEVANCE_API_KEY_FILE), "
            "or listen on 127.0.0.1, or set RELEVANCE_INSECURE=1 where something in front asks for credentials."
        )


def create_app(settings: Settings | None = None, parts: Parts | None = None) -> FastAPI:
    """The application; its parts are built from the settings unless given. Raises ExposedWithoutKey."""
    settings = settings or Settings()
    if settings.exposed_without_key:
        raise ExposedWithoutKey(settings.host)
    limits = Limits(
        max_upload_bytes=settings.max_upload_bytes,
        max_body_bytes=settings.max_body_bytes,
        max_rows=settings.max_rows,
        max_columns=settings.max_columns,
        max_prediction_rows=settings.max_prediction_rows,
        spool_directory=settings.spool_directory,
    )
    key = settings.api_key.get_secret_value() if settings.api_key else None
    return make_application(parts or build(settings), limits, api_key=key)
