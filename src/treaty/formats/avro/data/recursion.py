"""Finds the records of an Avro schema that contain themselves, where columns are cut off."""

from collections.abc import Iterator, Mapping

from treaty.formats.avro.model import (
    AvroArray,
    AvroMap,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    NamedType,
)


def find_recursive_records(schema: AvroSchema) -> frozenset[str]:
    """Full names of all records that a value of themselves may be inside, in linear time.

    These are the strongly connected components of the uses of names (Tarjan 1972), kept off Python's stack.
    """
    return frozenset(_Search(schema.names).run()) if schema.names else frozenset()


class _Search:
    __slots__ = ("_found", "_low", "_names", "_open", "_order")

    def __init__(self, names: Mapping[str, NamedType]) -> None:
        self._names = names
        self._order: dict[str, int] = {}
        self._low: dict[str, int] = {}
        self._open: dict[str, None] = {}  # in the order of being met; no component of theirs is finished
        self._found: list[str] = []

    def run(self) -> list[str]:
        """Look from every name that no other one led to."""
        for full in self._names:
            if full not in self._order:
                self._search_from(full)
        return self._found

    def _search_from(self, first: str) -> None:
        way = [self._enter(first)]
        while way:
            full, inside = way[-1]
            for used in inside:
                if used not in self._order:
                    way.append(self._enter(used))
                    break
                if used in self._open:
                    self._low[full] = min(self._low[full], self._order[used])
                    if used == full:
                        self._found.append(full)
            else:
                way.pop()
                if way:
                    above = way[-1][0]
                    self._low[above] = min(self._low[above], self._low[full])
                if self._low[full] == self._order[full]:
                    self._close(full)

    def _enter(self, full: str) -> tuple[str, Iterator[str]]:
        self._low[full] = self._order[full] = len(self._order)
        self._open[full] = None
        return full, list_used_names(self._names[full])

    def _close(self, full: str) -> None:
        """End the component that `full` began; one of several records is a circle."""
        component = []
        while full in self._open:
            last, _ = self._open.popitem()
            component.append(last)
        if len(component) > 1:
            self._found += component


def list_used_names(node: NamedType) -> Iterator[str]:
    """Full names of the types in the fields of a record, those inside of unions, arrays and maps too."""
    waiting: list[AvroType] = [field.type for field in reversed(node.fields)] if isinstance(node, AvroRecord) else []
    while waiting:
        match waiting.pop():
            case AvroArray(items):
                waiting.append(items)
            case AvroMap(values):
                waiting.append(values)
            case AvroUnion(branches):
                waiting += reversed(branches)
            case AvroReference(full) | AvroRecord(full):
                yield full
            case _:
                pass
