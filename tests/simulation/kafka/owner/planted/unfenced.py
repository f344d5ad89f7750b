"""Planted: every node has a transactional id of its own, so that a new owner ends nothing of the old one's work."""

from tests.simulation.kafka.owner.coordinator import Coordinator
from tests.simulation.kafka.owner.store import OwnerStore

LAWS = {"log", "5", "root"}
PLACE, NAME = OwnerStore, "coordinator_of"


def planted(self: OwnerStore, seat: str) -> Coordinator:
    producer = 1 + int(seat.rpartition("#")[2]) * 100 + int(seat.partition("#")[0][-1])
    return Coordinator(self.partition, self.chance, self.ground.weather.latency, producer)
