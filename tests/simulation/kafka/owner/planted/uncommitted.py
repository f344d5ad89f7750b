"""Planted: readers see what is not committed (yet)."""

from tests.simulation.kafka.owner.partition import Partition

LAWS = {"log", "1", "3", "root"}
PLACE, NAME = Partition, "stable"
planted = property(lambda self: self.end)
