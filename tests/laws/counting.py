"""A view that counts the work of a decision: rows read, and keys taken from indexes, orders and tables."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.laws.toy import Bench
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.refusals import Refusal
from treaty.core.requests import Request
from treaty.core.rows import Key, Value
from treaty.core.view import View


class Counting:
    """Shows what another view shows; `work` is how many rows and keys were taken."""

    def __init__(self, base: View) -> None:
        self.base = base
        self.work = 0

    @property
    def sequence(self) -> int:
        return self.base.sequence

    def _taken(self, keys: Iterable[Key]) -> Iterator[Key]:
        for key in keys:
            self.work += 1
            yield key

    def get(self, table: str, key: Key) -> Value | None:
        self.work += 1
        return self.base.get(table, key)

    def find(self, index: str, entry: Key, head: Key = ()) -> Iterator[Key]:
        return self._taken(self.base.find(index, entry, head) if head else self.base.find(index, entry))

    def count(self, table: str, entry: Key) -> int:
        self.work += 1
        return self.base.count(table, entry)

    def keys(self, table: str) -> Iterable[Key]:
        return self._taken(self.base.keys(table))

    def walk(self, order: str, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Key]:
        return self._taken(self.base.walk(order, low, high, reverse=reverse))


def work_of(bench: Bench, request: Request[Any], over: Callable[[View], View] = lambda view: view) -> int:
    """The work of one decision on what the bench holds: of the law itself, or of a view `over` what is counted."""
    counting = Counting(bench.tables)
    verdict = decide(over(counting), Command(request, "counted", 1_000 + bench.tables.sequence), bench.engine)
    assert isinstance(verdict, Decision | Refusal)
    return counting.work
