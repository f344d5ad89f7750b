"""`HttpResponse`: an HTTP answer as a value; and headers of every dialect."""

from collections.abc import Callable

from treaty.light_dataclass import dataclass

COMMAND = "Treaty-Command"
"""Id of a command; sent again with the same id it is the same command."""
RETRY = "Treaty-Retry"
"""``true`` with a command that was sent before and may still be pending: its outcome is stored even where it changes
nothing.
"""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An HTTP answer: status, headers (names in any case are looked up with `header`), body."""

    status: int
    header: Callable[[str], str | None]
    body: bytes
