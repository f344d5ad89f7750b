"""Orders of a segment: every entry once, ascending, in blocks of their own; ``heads`` has the first one of each."""

from collections.abc import Iterable

from treaty.core.state.codec import dumps
from treaty.core.state.state_tables import AnyIndex, AnyTable
from treaty.core.state.table import Key, Table
from treaty.node.segment.blocks import BlockWriter
from treaty.node.segment.segment import Segment

Columns = dict[str, tuple[bytes | bytearray | memoryview, ...]]


class _Order:
    """An order on its way into columns."""

    def __init__(self, name: str) -> None:
        self.name, self.writer = name, BlockWriter()
        self.heads: list[bytes] = []

    def add(self, entries: Iterable[Key]) -> None:
        for entry in entries:
            line = dumps(entry).encode("utf-8", "surrogatepass")
            self.writer.add(line)
            if len(self.writer.firsts) != len(self.heads):
                self.heads.append(line)

    def copy(self, head: Key, block: memoryview, checksum: int, count: int) -> None:
        self.heads.append(dumps(head).encode("utf-8", "surrogatepass"))
        self.writer.copy(block, checksum, count)

    def close(self, columns: Columns) -> None:
        self.writer.close()
        columns[f"data:order:{self.name}"] = (self.writer.data,)
        columns[f"ends:order:{self.name}"] = (self.writer.ends.tobytes(),)
        columns[f"firsts:order:{self.name}"] = (self.writer.firsts.tobytes(),)
        columns[f"sums:order:{self.name}"] = (self.writer.sums.tobytes(),)
        columns[f"heads:{self.name}"] = (b"\n".join(self.heads),)


def write_order(columns: Columns, of: AnyTable | AnyIndex, entries: Iterable[Key]) -> None:
    """Write an order from its entries."""
    order = _Order(of.name)
    order.add(sorted(entries))
    order.close(columns)


def merge_order(
    columns: Columns, base: Segment, of: AnyTable | AnyIndex, dead: frozenset[int], added: Iterable[Key]
) -> None:
    """Rewrite an order of an older segment: blocks in which nothing changed are copied as they are."""
    name = of.name
    order, heads = _Order(name), base.heads(name)
    changes: dict[int, tuple[set[Key], set[Key]]] = {}
    came = set(added)
    for place, sets in ((0, came), (1, _dead_entries(base, of, dead) - came)):
        for entry in sets:
            block = max(0, heads.count_up_to(entry) - 1)
            changes.setdefault(block, (set(), set()))[place].add(entry)
    reader = base.reader(f"order:{name}")
    firsts = [*reader.firsts, 0]
    for number, head in enumerate(heads):
        block_changes = changes.pop(number, None)
        if block_changes is None:
            last = number + 1 == len(heads)
            count = len(base.entries(name, number)) if last else firsts[number + 1] - firsts[number]
            order.copy(head, base.block(f"order:{name}", number), reader.sums[number], count)
        else:
            order.add(sorted((set(base.entries(name, number)) - block_changes[1]) | block_changes[0]))
    for fresh, _ in changes.values():  # there was no block at all
        order.add(sorted(fresh))
    order.close(columns)


def _dead_entries(base: Segment, of: AnyTable | AnyIndex, dead: frozenset[int]) -> set[Key]:
    """Entries that no row of the older segment claims any more, though it has them."""
    if isinstance(of, Table):
        return {base.key(of.name, number) for number in dead - base.dead(of.name)}
    gone: set[Key] = set()
    for number in dead - base.dead(of.table):
        row = base.row(of.table, number)
        gone |= set(of.entries(row.key, row.value)) if row.value is not None else set()
    if of.key_of is not None:
        return gone
    return {entry for entry in gone if not any(number not in dead for number in base.claimants(of, entry))}
