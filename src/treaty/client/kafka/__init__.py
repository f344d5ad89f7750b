"""Kafka topics: records out of them and into them, and a registry's own topic as a snapshot."""
