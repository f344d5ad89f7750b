"""The search: every state of a small world, the nearest ones first."""

from tests.simulation.kafka.small.asking import Asking, choices
from tests.simulation.kafka.small.law import RIGHT, BrokenError, Law, Size
from tests.simulation.kafka.small.world import World, canonical, steps


class Search:
    """A search over all states of one size under one law; the first state that breaks it is one of the nearest."""

    def __init__(self, size: Size, law: Law = RIGHT, *, thorough: int = 0) -> None:
        self.size = size
        self.law = law
        self.asking = Asking(law, size.chains, thorough)
        self.states = 0
        """Lengths of appends count: two states that differ in nothing else are two."""

    def run(self) -> int:
        """Visit every state; return how many there are. Raises `BrokenError` with the first bad one."""
        seen = {World()}
        near = [World()]
        while near:
            far = []
            for world in near:
                self.states += len(choices(world.appends, self.size.chains))
                try:
                    self.asking.ask(world)
                except BrokenError as error:
                    raise BrokenError(f"{world}: {error}") from None
                for after in steps(world, self.size, self.law):
                    known = canonical(after, self.size) if self.law is RIGHT else after
                    if known not in seen:
                        seen.add(known)
                        far.append(known)
            near = far
        return self.states
