"""The client side: a `Registry` over HTTP, caches, and the serializers of programs that read and write records."""
