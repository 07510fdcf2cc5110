"""The format of a file of predictions."""

from typing import Annotated

from pydantic import GetPydanticSchema
from pydantic_core.core_schema import literal_schema

from app.formats import BATCH_FORMATS

FileFormat = Annotated[
    str, GetPydanticSchema(lambda _source, _handler: literal_schema([one.name for one in BATCH_FORMATS]))
]
"""The name of a format of batch predictions."""
