"""What the steps of a plan so far would change: later steps are checked over it, since the registry does not have it yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from treaty.core.column_types import SqlType, expand_type, parse_column_type, print_column_type
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, DescribeType, SourceFound, TypeFound
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal, Unavailable
from treaty.core.registry import Exchange
from treaty.core.sources import Source, StoredType
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.project.comparison import row_of

A = TypeVar("A")


@dataclass(slots=True)
class PlannedRows:
    """Types and sources by key: those that are there, and those that steps would create or change."""

    types: Mapping[str, StoredType]
    planned_types: dict[str, StoredType] = field(default_factory=dict)
    planned_sources: dict[str, Source] = field(default_factory=dict)

    def add_source(self, request: CreateSource) -> None:
        """Note the source that a command would create or change."""
        self.planned_sources[key_of_name(request.definition.name)] = row_of(request)

    def expand(self, kind: SqlType) -> SqlType:
        """Return a type with the names of planned types and of those that are there written out."""
        return expand_type(kind, self._find_definition)

    def _find_definition(self, key: str) -> SqlType | None:
        row = self.planned_types.get(key) or self.types.get(key)
        return None if row is None else parse_column_type(row.definition)

    def answer(self, exchange: Exchange[A]) -> Exchange[A]:
        """Run an exchange to which planned types and sources are there already."""
        try:
            request: Request[Any] = next(exchange)
            while True:
                planned = self._find_planned(request)
                if planned is not None:
                    request = exchange.send(planned)
                    continue
                try:
                    answer = yield request
                except (Refusal, Unavailable) as refused:
                    request = exchange.throw(refused)
                else:
                    request = exchange.send(answer)
        except StopIteration as end:
            value: A = end.value
            return value

    def _find_planned(self, request: Request[Any]) -> Any:
        """Return the answer about a planned type or source; None for any other request."""
        if isinstance(request, DescribeSource):
            source = self.planned_sources.get(key_of_name(request.name))
            return None if source is None else SourceFound(source)
        if not isinstance(request, DescribeType):
            return None
        row = self.planned_types.get(key_of_name(request.name))
        return (
            None if row is None else TypeFound(row, print_column_type(self.expand(parse_column_type(row.definition))))
        )
