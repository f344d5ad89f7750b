"""Serializers in the shapes that Kafka clients want, without importing any of those clients."""
