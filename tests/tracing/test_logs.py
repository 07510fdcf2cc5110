"""The ids in the log: of the request, and of trace and span where it is traced."""

import json
import logging
import subprocess
import sys

from app.logs import add_ids
from app.tracing.opentelemetry_tracer import OpenTelemetryTracer
from app.tracing.spans import CURRENT, CURRENT_REQUEST, span_scope

PROGRAM = """
import logging, structlog
from app.logs import configure_logging
from app.tracing.spans import CURRENT, CURRENT_REQUEST, NoSpan
class Traced(NoSpan):
    trace_id, span_id = "a" * 32, "b" * 16
configure_logging("INFO")
logging.getLogger("app.outside").info("outside")
CURRENT_REQUEST.set("mine")
CURRENT.set(Traced())
logging.getLogger("app.inside").info("inside", extra={"job_id": "one"})
structlog.stdlib.get_logger("app.inside").info("inside", request_id="given")
"""


def test_records_of_both_kinds_of_loggers_have_the_ids() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=120, capture_output=True, text=True)
    outside, standard, structured = map(json.loads, ran.stderr.splitlines())
    assert not {"request_id", "trace_id", "span_id"} & outside.keys()
    ids = {"trace_id": "a" * 32, "span_id": "b" * 16}
    assert standard.items() >= {**ids, "request_id": "mine", "job_id": "one"}.items()
    assert structured.items() >= {**ids, "request_id": "given"}.items()


def test_the_ids_are_those_of_the_current_span(tracer: OpenTelemetryTracer) -> None:
    with span_scope():
        span = tracer.start("a name", "internal", {})
        CURRENT.set(span)
        token = CURRENT_REQUEST.set(None)
        event = add_ids(logging.getLogger(), "info", {"event": "one"})
        CURRENT_REQUEST.reset(token)
    assert event == {"event": "one", "trace_id": span.trace_id, "span_id": span.span_id}
    assert len(str(event["trace_id"])) == 32
