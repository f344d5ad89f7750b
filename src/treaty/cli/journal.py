"""Where the program's log lines go: to stderr, as text for people or as JSON for machines."""

import json
import logging
import sys

TEXT = "%(asctime)s %(levelname)-7s %(name)s [%(process)d] %(message)s"


class JsonLines(logging.Formatter):
    """One JSON object for each record: time, level, logger, process, message, and the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Print a record."""
        members: dict[str, object] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            members["traceback"] = self.formatException(record.exc_info)
        return json.dumps(members, ensure_ascii=False)


def set_up(*, as_json: bool, access: bool) -> None:
    """Send log records to stderr; those of single requests only where `access` asks for them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else logging.Formatter(TEXT))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.access").setLevel(logging.INFO if access else logging.CRITICAL)
