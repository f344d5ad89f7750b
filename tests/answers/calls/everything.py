"""The recorded calls by name."""

from collections.abc import Callable, Iterator, Mapping

from tests.answers.calls import access, bodies, state, types, words
from tests.answers.texts import shorten
from tests.answers.worlds import FOLDER

CALLS: Mapping[str, Callable[[], Iterator[str]]] = {
    **words.CALLS,
    **access.CALLS,
    **types.CALLS,
    **state.CALLS,
    **bodies.CALLS,
}
"""By name of the record."""
PLACE = FOLDER / "calls"


def record_calls(name: str) -> str:
    """The text of all lines of a record."""
    return shorten("\n".join(CALLS[name]()) + "\n")
