"""The library needs numpy, scipy and pydantic alone: importing it imports no framework."""

import json
import subprocess
import sys

from app.exports.formats import RENDERINGS
from tests.exports.trained import trained

FOREIGN = (
    "alembic", "dbos", "fastapi", "grpc", "hpack", "httpx", "hyperframe", "msgspec", "onnx", "orjson", "psycopg",
    "pyarrow", "pydantic_settings", "sqlalchemy", "starlette", "structlog", "typer",
    "uvicorn",
)  # fmt: skip

PROGRAM = f"""
import sys
import relevance_bayes.documents.schema, relevance_bayes.documents.schema, relevance_bayes.documents.schema
import relevance_bayes.tasks.union, relevance_bayes.tables.encoding, relevance_bayes.records.json
import relevance_bayes.tasks.supervised.training, relevance_bayes.tasks.components.training
import relevance_bayes.tasks.images.training, relevance_bayes.tasks.approximation.training
print(*sorted(set(sys.modules) & {set(FOREIGN)!r}))
print("app" in sys.modules)
"""


def test_documents_tables_and_tasks_import_no_framework() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "\nFalse\n"


def test_the_mathematics_imports_no_pydantic() -> None:
    program = "import sys, relevance_bayes.core.selection; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_records_import_no_arrays() -> None:
    program = "import sys, relevance_bayes.records.json; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


READS = """
import json, sys
from relevance_bayes.documents.schema import version_of
from relevance_bayes.documents.schema import DOCUMENT
from relevance_bayes.documents.schema import document_of
from relevance_bayes.records.json import encode, validate
import numpy as np

made = version_of(validate(DOCUMENT, json.load(sys.stdin)))
assert "app" not in sys.modules
print(json.dumps(encode(document_of(made)), default=np.ndarray.tolist))
"""


def test_an_exported_document_is_read_and_written_by_the_library_alone() -> None:
    exported = RENDERINGS["json"].render(trained("bent, additive, free"))
    done = subprocess.run([sys.executable, "-c", READS], input=exported, capture_output=True, check=True)
    assert json.loads(done.stdout) == json.loads(exported)
