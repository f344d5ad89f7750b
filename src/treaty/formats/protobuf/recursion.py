"""Finds the Protobuf messages that contain themselves, directly or through others, where columns are cut off."""

from collections.abc import Iterator

from treaty.formats.protobuf.model import Message, ProtoSchema


def find_recursive_messages(schema: ProtoSchema) -> frozenset[str]:
    """Full names of the messages from which fields lead back to themselves, those of imported files included."""
    walk = _ComponentSearch(schema)
    for full, symbol in schema.symbols.items():
        if isinstance(symbol.node, Message) and full not in walk.seen:
            walk.run(full, symbol.node, schema)
    return frozenset(walk.found)


class _ComponentSearch:
    """Tarjan's strongly connected components (1972), without the interpreter's stack."""

    def __init__(self, schema: ProtoSchema) -> None:
        self.schema = schema
        self.seen: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.open: list[str] = []
        self.waiting: set[str] = set()
        self.found: set[str] = set()

    def run(self, full: str, node: Message, home: ProtoSchema) -> None:
        """Visit a message and all that it leads to."""
        stack = [(full, self._leads(full, node, home))]
        self._enter(full)
        while stack:
            current, ways = stack[-1]
            step = next(ways, None)
            if step is not None:
                target, inner, at = step
                if target not in self.seen:
                    self._enter(target)
                    stack.append((target, self._leads(target, inner, at)))
                elif target in self.waiting:
                    self.low[current] = min(self.low[current], self.seen[target])
                    if target == current:
                        self.found.add(current)
                continue
            stack.pop()
            if stack:
                self.low[stack[-1][0]] = min(self.low[stack[-1][0]], self.low[current])
            if self.low[current] == self.seen[current]:
                self._close(current)

    def _enter(self, full: str) -> None:
        self.seen[full] = self.low[full] = len(self.seen)
        self.open.append(full)
        self.waiting.add(full)

    def _close(self, full: str) -> None:
        """What lies above a message on the list of open ones belongs together with it."""
        together = [self.open.pop()]
        while together[-1] != full:
            together.append(self.open.pop())
        self.waiting.difference_update(together)
        if len(together) > 1:
            self.found.update(together)

    def _leads(self, full: str, node: Message, home: ProtoSchema) -> Iterator[tuple[str, Message, ProtoSchema]]:
        for field in node.all_fields:
            symbol = home.resolve(full, field.type)
            if symbol is not None and isinstance(symbol.node, Message):
                yield symbol.full, symbol.node, self.schema.files.get(symbol.path, home)
