"""Structured logging of a process."""

import logging
import sys

import orjson
import structlog


def configure_logging(level: str) -> None:
    """One JSON line on standard error for each record of this process, from structlog and from the standard library."""
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
    # Not through the standard library's loggers: a line of each request would cost as much as a prediction.
    structlog.configure(
        processors=[*given, render],
        logger_factory=_Lines,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLogger().level),
        cache_logger_on_first_use=True,
    )


class _Lines:
    """Writes lines to standard error, as the standard library's handler does; structlog calls it by their levels."""

    def __init__(self, name: str) -> None:
        self.name = name

    def line(self, text: str) -> None:
        """One write, which no other thread's line comes into."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    debug = info = warning = error = exception = critical = line


def _one_line(event: object, **_: object) -> str:
    return orjson.dumps(event, default=str).decode()
