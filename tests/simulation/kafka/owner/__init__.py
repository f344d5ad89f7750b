"""The model of `writers=owner`: a compacted partition, transactions, a group, and the real `OwnerLog` on top of them."""

from tests.simulation.kafka.owner.store import make_store

__all__ = ["make_store"]
