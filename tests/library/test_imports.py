"""The library stands on numpy and scipy alone: what other programs import brings no framework with it."""

import subprocess
import sys

FOREIGN = (
    "alembic", "dbos", "fastapi", "grpc", "httpx", "msgspec", "onnx", "orjson", "psycopg", "pyarrow", "pydantic",
    "pydantic_core", "pydantic_settings", "sqlalchemy", "starlette", "structlog", "typer", "uvicorn",
)  # fmt: skip

PROGRAM = f"""
import sys
import relevance_bayes.documents.reading, relevance_bayes.documents.writing, relevance_bayes.documents.arrays
import relevance_bayes.plans, relevance_bayes.tables.encoding, relevance_bayes.types.records
print(*sorted(set(sys.modules) & {set(FOREIGN)!r}))
print("app" in sys.modules)
"""


def test_documents_plans_and_tables_import_no_framework() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "\nFalse\n"


def test_records_import_no_arrays() -> None:
    program = "import sys, relevance_bayes.types.records; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
