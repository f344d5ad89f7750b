"""A view that counts the work of a decision: rows read, and keys taken from indexes, orders and tables."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.laws.toy import Bench
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal
from treaty.core.state.state_tables import AnyIndex, AnyTable
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.view import View


class Counting:
    """Shows what another view shows; `work` is how many rows and keys were taken."""

    def __init__(self, base: View) -> None:
        self.base = base
        self.work = 0

    @property
    def sequence(self) -> int:
        return self.base.sequence

    @property
    def roots(self) -> Any:
        return getattr(self.base, "roots", {})

    def _taken(self, keys: Iterable[K]) -> Iterator[K]:
        for key in keys:
            self.work += 1
            yield key

    def get(self, table: Table[K, V], key: K) -> V | None:
        self.work += 1
        return self.base.get(table, key)

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[K]:
        return self._taken(self.base.find(index, entry, head) if head else self.base.find(index, entry))

    def count(self, table: Table[K, V], group: Key) -> int:
        self.work += 1
        return self.base.count(table, group)

    def keys(self, table: Table[K, V]) -> Iterable[K]:
        return self._taken(self.base.keys(table))

    def walk(self, order: AnyTable | AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        return self._taken(self.base.walk(order, low, high, reverse=reverse))


def work_of(bench: Bench, request: Request[Any], over: Callable[[View], View] = lambda view: view) -> int:
    """The work of one decision on what the bench holds: of the law itself, or of a view `over` what is counted."""
    counting = Counting(bench.tables)
    verdict = decide(over(counting), Command(request, "counted", 1_000 + bench.tables.sequence), bench.engine)
    assert isinstance(verdict, Decision | Refusal)
    return counting.work
