"""Structured logging of a process."""

import logging
import sys

import orjson
import structlog

from app.tracing.spans import CURRENT, CURRENT_REQUEST, NO_SPAN


def configure_logging(level: str) -> None:
    """Write each record of this process, of structlog and the standard library, as one JSON line to standard error.

    Records within a request have its id, those within a span the ids of trace and span.
    """
    given: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_ids,
        structlog.processors.format_exc_info,
    ]
    render = structlog.processors.JSONRenderer(_one_line)
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), without_colours, *given],
        )
    )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for chatty in ("alembic", "dbos", "hpack"):  # the last one writes header fields, keys among them
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # Not through the standard library's loggers, which would cost as much for each request as a prediction.
    structlog.configure(
        processors=[*given, render],
        logger_factory=_Lines,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLogger().level),
        cache_logger_on_first_use=True,
    )


def add_ids(_logger: object, _method: str, event: structlog.types.EventDict) -> structlog.types.EventDict:
    """Add the ids of the current request, and of the current trace and span."""
    if (request_id := CURRENT_REQUEST.get()) is not None:
        event.setdefault("request_id", request_id)
    if (span := CURRENT.get()) is not NO_SPAN:
        event["trace_id"], event["span_id"] = span.trace_id, span.span_id
    return event


def without_colours(_logger: object, _method: str, event: structlog.types.EventDict) -> structlog.types.EventDict:
    """Remove the copy of the message that uvicorn adds for terminals, with their escape sequences."""
    event.pop("color_message", None)
    return event


class _Lines:
    """Writes lines to standard error, like the standard library's handler; structlog calls a method a level."""

    def __init__(self, name: str) -> None:
        self.name = name

    def line(self, text: str) -> None:
        """Write a line at once, so that lines of threads do not mix."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    debug = info = warning = error = exception = critical = line


def _one_line(event: object, **_: object) -> str:
    return orjson.dumps(event, default=str).decode()
