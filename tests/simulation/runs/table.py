"""The disciplines of the log that a run can have, by name: `rows` (SQL), `appends` (memory), and Kafka's."""

from collections.abc import Callable
from importlib import import_module

from tests.simulation.disk import Disk
from tests.simulation.model import LogModel
from tests.simulation.runs.store import Door, Ground, Make, Store
from treaty.core.state.commit import Append, Position
from treaty.log.log import Log

NAMES = ("rows", "appends", "any", "owner")


class Sql:
    """A store of rows, or of appends, with a lock."""

    patience = 1.0
    brevity = 1

    def __init__(self, ground: Ground, *, rows: bool) -> None:
        self.disk = Disk(ground.remembered, ground.jobs)
        self._ground = ground
        self._rows = rows

    @property
    def landed(self) -> Callable[[Append], None]:
        return self.disk.landed

    @landed.setter
    def landed(self, told: Callable[[Append], None]) -> None:
        self.disk.landed = told

    @property
    def tip(self) -> Position:
        return self.disk.tip

    def open(self, door: Door) -> Log:
        return LogModel(self.disk, self._ground.weather, door.chance, rows=self._rows, step=door.step, sends=door.sends)

    def died(self, name: str) -> None:
        """What it had sent goes on; SQL needs no more."""

    async def intrude(self, make: Callable[[Position], Append]) -> bool:
        async with self.disk.lock:
            self.disk.take(make(self.disk.tip))
        return True

    def calm(self) -> None:
        """The weather has been told."""


def maker(name: str) -> Make:
    """How the store of a discipline is made; Kafka's are `make_store` in modules of their names."""
    if name in {"rows", "appends"}:
        return lambda ground: Sql(ground, rows=name == "rows")
    make: Callable[[Ground], Store] = import_module(f"tests.simulation.kafka.{name}").make_store
    return make
