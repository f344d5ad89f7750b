"""Handlers of the metastore's operations: sources, types, and what depends on them."""
