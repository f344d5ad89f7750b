"""Kafka: reading and writing records of topics, and the topic of a registry as a snapshot."""
