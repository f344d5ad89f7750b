"""Planted: readers see what is not committed (yet)."""

from tests.simulation.kafka.owner.partition import Partition

LAWS = {"log", "1", "3", "6", "root"}
"""6: a reader that goes past an open transaction never gets its rows, also an owner those of its own commit, and then writes nothing
until all is read again.
"""
PLACE, NAME = Partition, "stable"
planted = property(lambda self: self.end)
