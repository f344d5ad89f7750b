"""Faults of one file, collected while it is judged."""

from collections.abc import Mapping

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.model import NOWHERE, SourceLocation


class Faults:
    """A list of faults that stops a judgement when it has become long enough."""

    __slots__ = ("_expected", "found")

    def __init__(self, expected: Mapping[str, str]) -> None:
        """Start without faults; `expected` says by rule what would have been right."""
        self._expected = expected
        self.found: list[Diagnostic] = []

    def add(self, rule: str, path: str, message: str, place: SourceLocation = NOWHERE, expected: str = "") -> None:
        """Add a fault of the definition `path` (its full name); raises `InvalidSchemaError` when there are enough."""
        line, column = (place.line, place.column) if place.line else (0, 0)
        self.found.append(Diagnostic(rule, path, message, expected or self._expected[rule], line, column))
        if len(self.found) >= FAULTS:
            self.stop()

    def stop(self) -> None:
        """Raise `InvalidSchemaError` if there are faults."""
        if self.found:
            raise InvalidSchemaError(tuple(self.found))
