"""Log lines of the program are set up: to stderr, as text or as JSON."""

import json
import logging
import sys

from treaty.api import access_log
from treaty.api.request_scope import request_id

TEXT = "%(asctime)s %(levelname)-7s %(name)s [%(process)d] %(message)s%(request)s"


class TextFormatter(logging.Formatter):
    """Formats a record as one line of text; inside a request the line ends with the request id."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        current_request = request_id()
        record.request = f" (request {current_request})" if current_request else ""
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object: time, level, logger, process, message, and, if there are any, the request id,
    the members of an access line and the traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        members: dict[str, object] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        if current_request := request_id():
            members["request"] = current_request
        members |= getattr(record, "members", {})
        if record.exc_info:
            members["traceback"] = self.formatException(record.exc_info)
        return json.dumps(members, ensure_ascii=False)


def set_up_logging(*, as_json: bool, lines: bool) -> None:
    """Send log records to stderr; with `lines` also one for each request."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter(TEXT))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    access_log.log.setLevel(logging.INFO if lines else logging.CRITICAL)
