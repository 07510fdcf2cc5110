"""Structured logging of a process."""

import logging
import sys

import orjson
import structlog


def configure_logging(level: str) -> None:
    """Write each record of this process, of structlog and the standard library, as one JSON line to standard error."""
    given: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    render = structlog.processors.JSONRenderer(_one_line)
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *given],
        )
    )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for chatty in ("alembic", "dbos"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # Not through the standard library's loggers, which would cost as much for each request as a prediction.
    structlog.configure(
        processors=[*given, render],
        logger_factory=_Lines,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLogger().level),
        cache_logger_on_first_use=True,
    )


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
