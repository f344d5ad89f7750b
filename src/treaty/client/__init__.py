"""The client: a `Registry` over HTTP, caches, serializers and deserializers."""
